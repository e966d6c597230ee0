"""Reads pages out of the whole network, in the order of their keys: what an export and people who analyse the web take.

Each slot is listed by its ready owners and read from any of them, with proofs; one part at a time is in memory. A
reading can be taken up again at any key. What could not be read is named, and what is not shown is counted.
"""

from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from itertools import groupby, islice

from msgspec.structs import replace

from dht import Clock, DocumentId, Key, Overlay, RemoteError, SiteShards, Slot, shards, site_of
from node.archive.capture import Capture, capture_of
from node.archive.scope import ArchiveScope, Wish, following, scope_of
from node.crawling.store_change_feed import is_hidden, shown_page
from store import Kind, Record, Replicator, decode_document

BATCH = 8  # pages read at once: their contents are in memory together
_PAGE = (Kind.DOCUMENT, Kind.STANDING)
Names = Mapping[DocumentId, Key]
Learn = Callable[[Iterable[str]], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class UnreadPart:
    """A part of a slot that could not be read, or `count` pages of it that nobody gave."""

    slot: Slot
    reason: str
    count: int = 0


@dataclass(slots=True)
class ArchivePart:
    """Pages that were read, with what was left out (`noarchive`, `gone`, `hidden`, `withheld`) and what is unread.

    `next`: the key to go on with, None at the end."""

    captures: list[Capture] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    unread: list[UnreadPart] = field(default_factory=list)
    next: Key | None = None


@dataclass(frozen=True, slots=True)
class ReadBounds:
    """How much is read at once: pages, bytes of contents and texts, seconds; at least one part is."""

    pages: int
    content_bytes: int
    seconds: float


class NetworkReader:
    """Reads pages wherever they lie."""

    def __init__(
        self, overlay: Overlay, replicator: Replicator, places: SiteShards, learn: Learn, clock: Clock
    ) -> None:
        """`learn` reads the host records of sites, where they were not read lately."""
        self._overlay, self._replicator, self._places, self._learn = overlay, replicator, places, learn
        self._clock = clock

    async def read(self, wish: Wish, start: Key, bounds: ReadBounds, *, content: bool) -> ArchivePart:
        """Read what is wished for from a key on, within bounds."""
        read, ends_at, size = ArchivePart(), self._clock().steady + bounds.seconds, 0
        batch = min(BATCH, bounds.pages)
        async with aclosing(self.parts(wish, start, batch, content=content)) as parts:
            async for part in parts:
                read.captures += part.captures
                read.left_out += part.left_out
                read.unread += part.unread
                read.next = part.next
                size += sum(len(capture.content) + len(capture.text) for capture in part.captures)
                is_full = len(read.captures) + batch > bounds.pages or size >= bounds.content_bytes
                if read.next is None or is_full or self._clock().steady >= ends_at:
                    break
        return read

    async def parts(self, wish: Wish, start: Key, batch: int, *, content: bool) -> AsyncGenerator[ArchivePart, None]:
        """Yield what is wished for, from a key on, up to so many pages at once; the last part alone has no `next`."""
        await self._learn({site_of(url) for url in (*wish.urls, wish.url) if url})
        bits = self._overlay.view.strategy.slot_bits
        scope = scope_of(wish, bits, self._places.keys_of, self._shards)
        pieces = list(scope.pieces(start, bits))
        for number, (slot, first, last) in enumerate(pieces):
            after = pieces[number + 1][1] if number + 1 < len(pieces) else None
            async with aclosing(self._slot_parts(scope, slot, first, last, batch, content)) as parts:
                async for part in parts:
                    part.next = part.next or after
                    yield part

    async def _slot_parts(
        self, scope: ArchiveScope, slot: Slot, first: Key, last: Key, batch: int, content: bool
    ) -> AsyncGenerator[ArchivePart, None]:
        at: Key | None = first
        while at is not None:
            try:
                listed = await self._replicator.list_range(at, last)
            except RemoteError as error:
                yield ArchivePart(unread=[UnreadPart(slot, str(error))])
                return
            keys = {DocumentId(e.id): e.key for e in listed.entries if e.kind in _PAGE}
            kinds = {(e.kind, DocumentId(e.id)) for e in listed.entries if e.kind in _PAGE}
            batches = list(_batches(keys, batch))
            for number, names in enumerate(batches):
                part = await self._read(scope, slot, names, kinds, content)
                is_last = number + 1 == len(batches)
                part.next = listed.next if is_last else following(max(names.values()))
                yield part
            if not batches:
                yield ArchivePart(next=listed.next)
            at = listed.next

    async def _read(
        self, scope: ArchiveScope, slot: Slot, names: Names, kinds: set[tuple[Kind, DocumentId]], content: bool
    ) -> ArchivePart:
        """Read the pages of some names; those of a sparse scope with their contents only where they are wanted."""
        part = ArchivePart()
        records = await self._records(names, kinds, slot, part, content and not scope.is_sparse)
        kept = {id: key for id, key in names.items() if self._is_wanted(scope, shown_page(records, id), part)}
        if content and scope.is_sparse and kept:
            records = await self._records(kept, kinds, slot, part, True)
        for id in kept:
            if (record := shown_page(records, id)) is None:
                continue
            if is_hidden(records.get((Kind.VISIT, id))):
                part.left_out["hidden"] += 1
                continue
            document = decode_document(record.body)
            reason = "gone" if document.gone else "noarchive" if document.noarchive else ""
            if reason:
                part.left_out[reason] += 1
            else:
                read = record if record.content is not None else replace(record, content=b"")
                part.captures.append(capture_of(read, document))
        return part

    async def _records(
        self, names: Names, kinds: set[tuple[Kind, DocumentId]], slot: Slot, part: ArchivePart, content: bool
    ) -> Mapping[tuple[Kind, DocumentId], Record]:
        """Read all versions of pages, and their visits, which may hide them; count what nobody gave."""
        wanted = [(kind, id, key) for id, key in names.items() for kind in _PAGE if (kind, id) in kinds]
        wanted += [(Kind.VISIT, id, key) for id, key in names.items()]
        records, unsure = await self._replicator.read_sure(wanted, content=content)
        missing = [id for id in names if shown_page(records, id) is None]
        unread = [id for id in missing if any((kind, id) in unsure for kind in _PAGE)]
        if unread:
            reason = f"{len(unread)} pages were named, and nobody gave them"
            part.unread.append(UnreadPart(slot, reason, len(unread)))
        part.left_out["withheld"] += len(missing) - len(unread)
        return records

    @staticmethod
    def _is_wanted(scope: ArchiveScope, record: Record | None, part: ArchivePart) -> bool:
        return record is not None and scope.accepts(decode_document(record.body).url)

    def _shards(self, site: str) -> Sequence[bytes]:
        """The first bytes of a site's keys: of all shards that it may have, where that is not one."""
        is_spread = self._places.by_rules or self._places.hosts.depths(site) != (0,)
        return shards(site) if is_spread else shards(site)[:1]


def _batches(keys: Names, count: int) -> Iterable[Names]:
    """Divide names, in the order of their keys, so that those of one key stay together."""
    places = groupby(sorted(keys.items(), key=lambda name: name[1]), key=lambda name: name[1])
    whole = (list(names) for _, names in places)
    while batch := list(islice(whole, count)):
        yield dict(name for names in batch for name in names)
