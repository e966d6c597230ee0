"""Says what a record is written under: the grant of the slot in which its author made it, and who signs it when.

A page belongs to the node that held the lease of its slot when the page was fetched. If its site was spread meanwhile,
or moves later, the page is signed for the old place and lies at the new one. An import keeps the proof of its importer,
too, wherever it moves.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from dht import Key, Overlay, SignedGrant, SiteShards, placement_key, slot_of
from store.errors import NotGranted, NotImporter
from store.record.package import Signer, sign_package, url_in
from store.record.record import Draft, Kind, Record
from store.writing.import_right import is_import
from store.writing.write_right import WriteRight, needs_grant


class GrantedDraft(NamedTuple):
    """A draft with the grant that it is written under, None where it needs none, and the record where it is signed
    already."""

    draft: Draft
    grant: SignedGrant | None = None
    record: Record | None = None


class DraftProofs:
    """Finds for one node what proves the records that it writes and moves."""

    def __init__(self, overlay: Overlay, right: WriteRight, signer: Signer, places: SiteShards) -> None:
        self._overlay, self._right, self._signer, self._places = overlay, right, signer, places

    def granted(self, drafts: Sequence[Draft]) -> list[GrantedDraft]:
        """Return drafts, in order, with the grants that they are written under, whose epochs they have: of their slots,
        or of those in which their URLs lay before. Raises NotGranted, and NotImporter."""
        return list(map(self._granted, drafts))

    def _granted(self, draft: Draft) -> GrantedDraft:
        if is_import(draft):
            self.check_import_right()
        if not needs_grant(draft.kind, draft.epoch):
            return GrantedDraft(draft)
        if (grant := self._right.written_under(draft)) is not None:
            return _under(draft, grant)
        for key in self._former_keys(draft):
            if (grant := self._right.written_under(replace(draft, key=key))) is not None:
                found = _under(draft, grant)
                (signed,) = sign_package([replace(found.draft, key=key)], self._signer)
                return found._replace(record=_at(signed, draft.key))
        raise NotGranted(slot_of(draft.key, self._overlay.view.strategy.slot_bits))

    def check_import_right(self) -> None:
        """Raise NotImporter where nobody would take an import of this node's."""
        if flaw := self._right.import_flaw(self._signer.public_key):
            raise NotImporter(self._signer.public_key, flaw)

    def sign(self, drafts: Sequence[Draft]) -> list[Record]:
        """Return drafts as records of this node's, under one signature."""
        return sign_package(drafts, self._signer)

    async def keep_grants(self, grants: Iterable[SignedGrant | None]) -> None:
        """Keep what proves records before these are written. Raises MachineRefuses or StoreCorrupt."""
        await self._right.keep_grants(grants)

    def moved(self, record: Record, key: Key) -> GrantedDraft:
        """Return a record at another place of its site: it keeps its author's proof where it needs a grant, and is
        signed anew elsewhere."""
        epoch, at_ms, _ = record.version
        draft = Draft(record.kind, record.id, key, epoch, at_ms, record.expires_day, record.body, record.content or b"")
        if is_import(record):
            return GrantedDraft(draft, record=_at(record, key))
        if not needs_grant(record.kind, epoch):
            return GrantedDraft(draft)
        return GrantedDraft(draft, next(iter(self._right.named_by([record])), None), _at(record, key))

    def rekeyed(self, record: Record, key: Key) -> Record:
        """Return what `moved` does as a record."""
        moved = self.moved(record, key)
        return moved.record or sign_package([moved.draft], self._signer)[0]

    def _former_keys(self, draft: Draft) -> Iterator[Key]:
        """Where a record of this URL lay before, the place of one that was never spread last; a host's never moves."""
        if draft.kind == Kind.HOST:
            return
        url = url_in(draft.body)
        keys = (*self._places.keys_of(url), placement_key(url))
        yield from (key for key in dict.fromkeys(keys) if key != draft.key)


def _under(draft: Draft, grant: SignedGrant) -> GrantedDraft:
    return GrantedDraft(replace(draft, epoch=grant.grant.epoch), grant)


def _at(record: Record, key: Key) -> Record:
    """A record with its author's proof at another place of its site."""
    signed_key = record.signed_key if record.signed_key != key else b""
    return replace(record, key=key, proof=replace(record.proof, key=signed_key))
