"""Says what a record is written under: the grant of the slot in which its author made it, and who signs it when.

Where leases must be proved, a page belongs to whoever held the lease of its slot when it was fetched. If its site was
spread meanwhile, or moves later, it is signed for the old place and lies at the new one. An import, too, stays with
the proof of who imported it, wherever it moves.
"""

from collections.abc import Iterator
from typing import NamedTuple

from msgspec.structs import replace

from dht import Key, Overlay, SignedGrant, SiteShards, placement_key, slot_of
from store.errors import NotGranted, NotImporter
from store.record.anchor import decode_anchor
from store.record.package import Signer, sign_package, url_in
from store.record.record import Draft, Kind, Record
from store.replication.import_right import is_import
from store.replication.write_right import WriteRight, needs_grant


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

    def granted(self, draft: Draft) -> GrantedDraft:
        """Return a draft with the grant that it is written under, whose epoch it has: of its slot, or of that in which
        its URL lay before. Raises NotGranted, and NotImporter."""
        if is_import(draft):
            self.check_import_right()
        if draft.kind == Kind.ANCHOR:
            return self._anchor(draft)
        if not needs_grant(draft.kind, draft.epoch, self._overlay.view.strategy.grants_from):
            return GrantedDraft(draft)
        if (grant := self._right.written_under(draft)) is not None:
            return GrantedDraft(replace(draft, epoch=grant.grant.epoch), grant)
        for key in self._former_keys(draft):
            before = replace(draft, key=key)
            if (grant := self._right.written_under(before)) is not None:
                epoch = grant.grant.epoch
                return GrantedDraft(replace(draft, epoch=epoch), grant, self._signed_for(draft, key, epoch))
        raise NotGranted(slot_of(draft.key, self._overlay.view.strategy.slot_bits))

    def _anchor(self, draft: Draft) -> GrantedDraft:
        """An anchor, signed for a place of the page that links; where leases must be proved, of that whose lease this
        node holds. Raises NotGranted."""
        source = decode_anchor(draft.body).source
        keys = dict.fromkeys((*self._places.keys_of(source), placement_key(source)))
        if not needs_grant(draft.kind, draft.epoch, self._overlay.view.strategy.grants_from):
            return GrantedDraft(draft, record=self._signed_for(draft, next(iter(keys)), draft.epoch))
        for key in keys:
            if (grant := self._right.written_under(replace(draft, key=key))) is not None:
                epoch = grant.grant.epoch
                return GrantedDraft(replace(draft, epoch=epoch), grant, self._signed_for(draft, key, epoch))
        raise NotGranted(slot_of(next(iter(keys)), self._overlay.view.strategy.slot_bits))

    def _signed_for(self, draft: Draft, key: Key, epoch: int) -> Record:
        """A draft as a record that is signed for one place and lies at its own."""
        (record,) = sign_package([replace(draft, key=key, epoch=epoch)], self._signer)
        return _at(record, draft.key)

    def check_import_right(self) -> None:
        """Raise NotImporter where nobody would take an import of this node's."""
        if flaw := self._right.import_flaw(self._signer.public_key):
            raise NotImporter(self._signer.public_key, flaw)

    def moved(self, record: Record, key: Key) -> GrantedDraft:
        """Return a record at another place of its site: it keeps its author's proof where the network wants one, and is
        signed anew elsewhere."""
        epoch, at_ms, _ = record.version
        draft = Draft(record.kind, record.id, key, epoch, at_ms, record.expires_day, record.body, record.content or b"")
        if is_import(record):
            return GrantedDraft(draft, record=_at(record, key))
        is_its_own = record.kind not in (Kind.FORMER, Kind.ANCHOR)  # such a one is nobody's to sign, or another's
        if is_its_own and not needs_grant(record.kind, epoch, self._overlay.view.strategy.grants_from):
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


def _at(record: Record, key: Key) -> Record:
    """A record with its author's proof at another place of its site."""
    signed_key = record.signed_key if record.signed_key != key else b""
    return replace(record, key=key, proof=replace(record.proof, key=signed_key))
