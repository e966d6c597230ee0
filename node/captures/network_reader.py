"""Reads pages out of the whole network, in the order of their keys: what an export and people who analyse the web take.

Each slot is listed by its ready owners and read from any of them, with proofs; one part at a time is in memory. A
reading can be taken up again at any key. A reading names the slots that could not be read, and counts the pages that
are not shown. Former versions are read where they are wished for; where the newest one must not be shown, none is.
"""

from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from msgspec.structs import replace

from crawl import Visit, change_rate, decode_visit
from dht import Clock, DocumentId, Key, Overlay, RemoteError, SiteShards, Slot, counted, document_id, shards, site_of
from node.captures.capture import DAY_S, Capture, Lifetime, UnreadPart, capture_of
from node.captures.imported_page import GONE
from node.captures.listed_page import ListedPage, batches, listed_pages, parts_of
from node.captures.scope import ArchiveScope, Wish, following, scope_of
from node.crawling.is_shown import is_withheld_page, visit_in
from store import Document, Kind, Record, RecordDenial, Replicator, decode_document, erases, page_in

USUAL_S = 7 * 86_400.0  # from one change to the next of a page that was seen once
BATCH = 8  # pages read at once: their contents are in memory together, and those of one page's versions
MAX_FORMER_BYTES = 32 << 20  # of former versions of one page, or of a few: an answer is whole within a client's bounds
Learn = Callable[[Iterable[str]], Awaitable[object]]


@dataclass(slots=True)
class ArchivePart:
    """Pages that were read, with what was left out (`noarchive`, `gone`, `hidden`, `withheld`) and what is unread.

    `next`: the key to go on with, None at the end."""

    captures: list[Capture] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    unread: list[UnreadPart] = field(default_factory=list)
    next: Key | None = None
    lifetimes: list[Lifetime] = field(default_factory=list)  # where they are wished for


@dataclass(frozen=True, slots=True)
class ReadBounds:
    """How much is read at once: pages, bytes of contents and texts, seconds; at least one part is."""

    pages: int
    content_bytes: int
    seconds: float


class NetworkReader:
    """Reads pages wherever they lie."""

    def __init__(
        self,
        overlay: Overlay,
        replicator: Replicator,
        places: SiteShards,
        learn: Learn,
        denial: RecordDenial,
        clock: Clock,
    ) -> None:
        """`learn` reads the host records of sites, where they were not read lately."""
        self._overlay, self._replicator, self._places, self._learn = overlay, replicator, places, learn
        self._denial, self._clock = denial, clock

    async def read(self, wish: Wish, start: Key, bounds: ReadBounds, *, content: bool) -> ArchivePart:
        """Read the pages that match a wish, in order of their keys, from the key `start` on and within bounds.
        `content`: read their bytes, too. The result's `next` is the key to continue with."""
        read, ends_at, size = ArchivePart(), self._clock().steady + bounds.seconds, 0
        batch = min(BATCH, bounds.pages)
        async with aclosing(self.parts(wish, start, batch, content=content)) as parts:
            async for part in parts:
                read.captures += part.captures
                read.left_out += part.left_out
                read.unread += part.unread
                read.lifetimes += part.lifetimes
                read.next = part.next
                size += sum(map(_size, part.captures))
                is_full = len(read.captures) + batch > bounds.pages or size >= bounds.content_bytes
                if read.next is None or is_full or self._clock().steady >= ends_at:
                    break
        return read

    async def parts(self, wish: Wish, start: Key, batch: int, *, content: bool) -> AsyncGenerator[ArchivePart, None]:
        """Yield what is wished for, from a key on, up to so many pages at once, or all versions of one; the last part
        alone has no `next`."""
        await self._learn({site_of(url) for url in (*wish.urls, wish.url) if url})
        bits = self._overlay.view.strategy.slot_bits
        scope = scope_of(wish, bits, self._places.keys_of, self._shards)
        pieces = list(scope.pieces(start, bits))
        for number, (slot, first, last) in enumerate(pieces):
            after = pieces[number + 1][1] if number + 1 < len(pieces) else None
            async with aclosing(self._slot_parts(scope, wish, slot, first, last, batch, content)) as parts:
                async for part in parts:
                    part.next = part.next or after
                    yield part

    async def _slot_parts(
        self, scope: ArchiveScope, wish: Wish, slot: Slot, first: Key, last: Key, batch: int, content: bool
    ) -> AsyncGenerator[ArchivePart, None]:
        at: Key | None = first
        while at is not None:
            try:
                listed = await self._replicator.list_range(at, last)
            except RemoteError as error:
                yield ArchivePart(unread=[UnreadPart(slot, str(error))])
                return
            parts = list(batches(listed_pages(listed.entries, wish), wish, batch))
            for number, pages in enumerate(parts):
                part = ArchivePart()
                await _PageReading(self._replicator, self._denial, scope, wish, slot, part, content).read(pages)
                part.next = listed.next if number + 1 == len(parts) else following(pages[-1].key)
                yield part
            if not parts:
                yield ArchivePart(next=listed.next)
            at = listed.next

    def _shards(self, site: str) -> Sequence[bytes]:
        """The first bytes of a site's keys: of all shards that it may have, where that is not one."""
        is_spread = self._places.by_rules or self._places.hosts.depths(site) != (0,)
        return shards(site) if is_spread else shards(site)[:1]


class _PageReading:
    """Reads some pages of one slot into a part."""

    def __init__(
        self,
        replicator: Replicator,
        denial: RecordDenial,
        scope: ArchiveScope,
        wish: Wish,
        slot: Slot,
        part: ArchivePart,
        content: bool,
    ) -> None:
        self._replicator, self._denial, self._scope, self._wish, self._slot = replicator, denial, scope, wish, slot
        self._part, self._content = part, content
        self._ungiven = 0

    async def read(self, pages: Sequence[ListedPage]) -> None:
        """Read the versions that are wished for. Of a page the one that is shown is looked at in any case: it says
        whether others may be."""
        is_bare = self._scope.is_sparse or self._wish.at is not None  # contents are read where they are wanted
        named = {page.id: page for page in pages if page.id is not None}
        records = await self._records(named, self._content and not is_bare)
        left = {id: page for id, page in named.items() if self._is_wanted(records.get((Kind.DOCUMENT, id)))}
        chosen = {id: page.chosen(self._wish) for id, page in left.items()}
        if self._content and is_bare:
            wanted = {id: page for id, page in left.items() if page.shown_at in chosen[id]}
            others = {name: record for name, record in records.items() if name[1] not in wanted}
            records = {**others, **(await self._records(wanted, True) if wanted else {})}
        read = list[tuple[Key, Capture]]()
        formers = list[tuple[DocumentId, Key]]()
        for id, page in left.items():
            older = [page.formers[at] for at in chosen[id] if at != page.shown_at]
            record = records.get((Kind.DOCUMENT, id))
            if record is None:
                self._part.left_out["withheld"] += len(older)
                continue
            document = decode_document(record.body)
            reason = self._why_left_out(record, document, records.get((Kind.VISIT, id)))
            if self._wish.lifetimes and reason != "hidden":
                self._part.lifetimes.append(lifetime_of(id, document, visit_in(records.get((Kind.VISIT, id)))))
            if page.shown_at in chosen[id]:
                if reason:
                    self._part.left_out[reason] += 1
                else:
                    made = self._capture(record)
                    read.append((page.key, replace(made, changes_at=_changes_at(made, records.get((Kind.VISIT, id))))))
            if older and (reason in ("hidden", "noarchive") or erases(document)):
                self._part.left_out[reason] += len(older)
            else:
                formers += [(former, page.key) for former in older]
        orphans = [(p.formers[at], p.key) for p in pages if p.id is None for at in p.chosen(self._wish)]
        read += await self._formers(formers)
        read += await self._unhidden(await self._formers(orphans))
        self._part.captures += [made for _, made in sorted(read, key=lambda each: (each[0], each[1].captured_at))]
        if self._ungiven:
            reason = f"{counted(self._ungiven, 'page')} named, but not sent by any node"
            self._part.unread.append(UnreadPart(self._slot, reason, self._ungiven))

    async def _formers(self, names: Sequence[tuple[DocumentId, Key]]) -> list[tuple[Key, Capture]]:
        """Read former versions, a few at a time, up to so many bytes."""
        found, size, count = list[tuple[Key, Capture]](), 0, 0
        for part in parts_of(names, BATCH):
            if size > MAX_FORMER_BYTES:
                break
            wanted = [(Kind.FORMER, id, key) for id, key in part]
            records, unsure = await self._replicator.read_sure(wanted, content=self._content)
            count += len(part)
            for id, key in part:
                record = records.get((Kind.FORMER, id))
                if record is None:
                    self._leave_out(is_unsure=(Kind.FORMER, id) in unsure)
                elif self._is_wanted(page := page_in(record)):
                    found.append((key, self._capture(page)))
                    size += len(record.body) + len(record.content or b"")
        if count < len(names):
            reason = f"{len(names) - count} versions of one page are beyond {MAX_FORMER_BYTES >> 20} MiB"
            self._part.unread.append(UnreadPart(self._slot, reason, len(names) - count))
        return found

    async def _unhidden(self, found: Sequence[tuple[Key, Capture]]) -> list[tuple[Key, Capture]]:
        """Those of former versions, of which none is shown any more, that are not hidden by their visits."""
        if not found:
            return []
        wanted = {made.url: (Kind.VISIT, document_id(made.url), key) for key, made in found}
        visits = await self._replicator.read_many(list(wanted.values()))
        of_url = {url: visit_in(visits.get(name[:2])) for url, name in wanted.items()}
        shown = [each for each in found if not is_withheld_page(None, of_url[each[1].url], self._denial)]
        self._part.left_out["hidden"] += len(found) - len(shown)
        return shown

    async def _records(
        self, pages: Mapping[DocumentId, ListedPage], content: bool
    ) -> Mapping[tuple[Kind, DocumentId], Record]:
        """Read what is shown of pages, and their visits, which may hide them; count what nobody gave."""
        wanted = [(kind, id, page.key) for kind in (Kind.DOCUMENT, Kind.VISIT) for id, page in pages.items()]
        records, unsure = await self._replicator.read_sure(wanted, content=content)
        for id in (id for id in pages if records.get((Kind.DOCUMENT, id)) is None):
            self._leave_out(is_unsure=(Kind.DOCUMENT, id) in unsure)
        return records

    def _leave_out(self, *, is_unsure: bool) -> None:
        """Count one that was named: nobody gave it, or whoever should have it says that it is not there."""
        self._ungiven += is_unsure
        self._part.left_out["withheld"] += not is_unsure

    def _capture(self, page: Record) -> Capture:
        read = page if page.content is not None else replace(page, content=b"")
        return capture_of(read, decode_document(page.body), links=self._wish.links)

    def _why_left_out(self, page: Record, document: Document, visit: Record | None) -> str:
        """Why a page is not in an archive, "" where it is."""
        if is_withheld_page(page, visit_in(visit), self._denial):
            return "hidden"
        return "gone" if document.gone else "noarchive" if document.noarchive else ""

    def _is_wanted(self, record: Record | None) -> bool:
        return record is not None and self._scope.accepts(decode_document(record.body).url)


def lifetime_of(id: DocumentId, document: Document, visit: Visit | None) -> Lifetime:
    """Return when a page was there. A page that redirects, or asks not to be found, has not gone."""
    first_day, seen_at = document.first_seen, 0.0 if document.gone else document.fetched_at
    if visit is not None:
        first_day, seen_at = visit.history.first_seen or first_day, float(visit.history.seen_at) or seen_at
    first_seen = (first_day - 0.5) * DAY_S if first_day else 0.0
    gone_at = document.fetched_at if document.gone and document.status in GONE else 0.0
    return Lifetime(int.from_bytes(id[:8]), first_seen, seen_at, gone_at)


def _changes_at(page: Capture, visit: Record | None) -> float:
    """Return when the next change of a page is expected, by its changes so far; 0.0 where no visit tells."""
    history = decode_visit(visit.body).history if visit is not None else None
    if history is None or not history.seen_at:
        return 0.0
    return max(page.captured_at, history.seen_at) + 1 / change_rate(history, USUAL_S)


def _size(read: Capture) -> int:
    """How much of an answer a page takes."""
    return len(read.content) + len(read.text) + sum(map(len, read.links))
