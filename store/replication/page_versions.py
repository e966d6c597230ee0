"""Takes what may be kept, and of a page two versions where the newer one may not replace the other yet.

A grant is strong where most of its slot's owners have signed it, the sleeping ones among them; else weak: then those
who sign may be stand-ins, one side of a cut, or two members that conspire. What is written under a weak grant is kept
and acknowledged as everything is, and shown where nothing else is. Where it would replace a version that is not known
to be weak, that one stands: it is kept beside, as a record of its own (`store/record/standing_page.py`), and shown,
until a strong holder has fetched the page again. As both are records, owners compare and repair both; so which one is
shown follows from what lies there, whoever signed what, and is the same at all owners that have the same.
"""

from collections.abc import Sequence

from dht import Clock, DocumentId, NodeId, Overlay, SignedGrant
from store.disk.record_store import RecordStore
from store.record.former_page import erasure_of
from store.record.package import Signer, sign_package, url_of
from store.record.package_part import PackagePart
from store.record.record import Draft, Kind, Record
from store.record.standing_page import standing_draft
from store.replication.write_right import Ruling, WriteRight

NEWER = "a newer version of the page is here, which most of the slot's owners endorse"
_LOOKED_AT = 128  # pages with two versions, at once
_AGAIN_S = 60.0  # before others are asked again about a page: they may have changed their minds


class PageVersions:
    """Keeps the records of one node as their grants say."""

    def __init__(self, overlay: Overlay, store: RecordStore, right: WriteRight, signer: Signer, clock: Clock) -> None:
        self._overlay, self._store, self._right, self._signer = overlay, store, right, signer
        self._clock = clock
        self._after = 0  # where `settle` goes on
        self._asked: dict[DocumentId, float] = {}  # when the owners of each page were asked last, steady

    async def judge(
        self,
        peer: NodeId,
        records: Sequence[Record],
        grants: Sequence[SignedGrant],
        *,
        asks: bool = False,
        counts: bool = False,
    ) -> list[Ruling]:
        """Judge records that a peer brings together with these grants, as `WriteRight.judge` does."""
        rulings = await self._right.judge(peer, records, grants, asks=asks, counts=counts)
        for n, record in enumerate(records):
            if record.kind == Kind.STANDING and not rulings[n].reason and self._is_outdated(record):
                rulings[n] = Ruling(NEWER, is_final=False)
        return rulings

    async def put(
        self, records: Sequence[Record], rulings: Sequence[Ruling], parts: Sequence[PackagePart] = ()
    ) -> None:
        """Keep records that were judged so, those of whole `parts` as they came; durable when this returns. Raises
        MachineRefuses or StoreCorrupt."""
        await self._right.keep(rulings)
        pairs = list(zip(records, rulings, strict=True))
        drafts = [draft for pair in pairs if (draft := self._to_stand(*pair)) is not None]
        standing = sign_package(drafts, self._signer) if drafts else []
        erasures = [erasure for pair in pairs if (erasure := self._to_erase(*pair)) is not None]
        await self._store.put([*standing, *records, *erasures], parts)
        for record, ruling in pairs if self._store.standing(0, 1) else ():
            grant = ruling.grant if record.kind == Kind.DOCUMENT else None
            if grant is not None and self._right.is_strong(grant, record.key):
                await self._replace(record)

    async def settle(self) -> None:
        """Let go of versions that stand for no reason, as all owners say who live: most endorse the newer one, or not
        this one."""
        now = self._clock().steady
        self._asked = {id: at for id, at in self._asked.items() if now < at + _AGAIN_S}
        names = self._store.standing(self._after, _LOOKED_AT)
        self._after = names[-1].sequence if len(names) == _LOOKED_AT else 0
        found = [self._versions(id) for _, id in names]
        held = [(standing, page) for standing, page in found if standing is not None and page is not None]
        due = [record for pair in held if pair[0].id not in self._asked for record in pair]
        unsaid = await self._right.ask_owners(due)
        answered = {record.id for record in due} - unsaid
        self._asked |= dict.fromkeys(answered, now)
        for standing, page in held:
            if self._right.is_strongly_written(page):
                erasure = erasure_of(page)
                await self._store.put([] if erasure is None else [erasure])
                await self._replace(page)
            elif standing.id in answered and not self._right.is_strongly_written(standing):
                await self._forget(standing)

    def _versions(self, id: DocumentId) -> tuple[Record | None, Record | None]:
        """What stands of a page here, and its newest version."""
        kinds = Kind.STANDING, Kind.DOCUMENT
        standing, page = (self._store.find(kind, id, content=False) for kind in kinds)
        return standing, page

    async def _forget(self, standing: Record) -> None:
        if self._store.find_version(Kind.STANDING, standing.id) == standing.version.short:
            await self._store.forget([standing])

    def _is_outdated(self, standing: Record) -> bool:
        page = self._store.find(Kind.DOCUMENT, standing.id, content=False)
        return page is not None and page.version > standing.version and self._right.is_strongly_written(page)

    def _to_stand(self, record: Record, ruling: Ruling) -> Draft | None:
        """What to keep beside the newer of two versions, this one and the one that lies here: the older one, where it
        is not the weak one of them."""
        if record.kind != Kind.DOCUMENT or ruling.grant is None:
            return None
        held, version = self._store.find_version(Kind.DOCUMENT, record.id), record.version.short
        if held is None or held == version or (held > version) != self._right.is_strong(ruling.grant, record.key):
            return None
        if (page := self._store.find(Kind.DOCUMENT, record.id)) is None:
            return None
        if held > version:
            return standing_draft(record, url_of(record)) if self._right.is_weakly_written(page) else None
        if self._store.find_version(Kind.STANDING, record.id) is not None:
            return None  # what it is newer than did not replace that one, either
        is_proved = 0 < self._overlay.view.strategy.grants_from <= held.epoch
        return standing_draft(page, url_of(page)) if is_proved and not self._right.is_weakly_written(page) else None

    def _to_erase(self, record: Record, ruling: Ruling) -> Record | None:
        """What drops the former versions of a page that asks for it, by a version that may replace any."""
        if (erasure := erasure_of(record)) is None:  # nearly always
            return None
        if ruling.grant is None:
            return None if self._overlay.view.strategy.grants_from else erasure
        return erasure if self._right.is_strong(ruling.grant, record.key) else None

    async def _replace(self, page: Record) -> None:
        """Forget what stood beside a page that may replace it, if that is what lies here now."""
        standing = self._store.find_version(Kind.STANDING, page.id)
        if standing is None or standing >= page.version.short:
            return
        is_newest = self._store.find_version(Kind.DOCUMENT, page.id) == page.version.short
        record = self._store.find(Kind.STANDING, page.id, content=False)
        if is_newest and record is not None:
            await self._forget(record)
