"""Keeps the links and redirects of some slots true to the store: reads what lies there, then follows the change log.

A redirect is a URL that led elsewhere when it was asked for last, and of which no document is shown; a page that is
left to its twin at another host is one, too.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from crawl import VisitState, domain_of
from dht import DocumentId, Key, Slot, document_id, placement_key, site_of, slot_of, slot_range, split_url
from index import page_number
from node.crawling.is_shown import shown_document
from node.crawling.store_change_feed import CHECK, visit_of
from node.ranking.host_links import HostLinks
from node.ranking.redirects import Redirects
from node.ranking.slot_links import SlotLinks
from store import CatalogReader, Document, Kind, Record, RecordStore

CHANGES = 256  # of the log, looked at in one step
DOCUMENTS = 16  # read at once: some 4 ms


class _Unread(NamedTuple):
    slot: Slot
    id: DocumentId
    key: Key


class LinkFollower:
    """Reads documents in small steps. `key_of`: where a URL's records lie."""

    def __init__(
        self,
        store: RecordStore,
        key_of: Callable[[str], Key],
        links: SlotLinks,
        hosts: HostLinks,
        redirects: Redirects,
    ) -> None:
        self._store, self._key_of = store, key_of
        self._links, self._hosts, self._redirects = links, hosts, redirects
        self._slot_bits = -1
        self._mark: object = None
        self._sequence = 0
        self._unlisted = set[Slot]()
        self._unread = deque[_Unread]()
        self._reading: dict[Slot, int] = {}  # slots whose documents are not all read, and how many are left
        self._read = set[Slot]()
        self._changed, self._visited = set[Slot](), set[Slot]()

    def want(self, slots: Iterable[Slot], slot_bits: int, mark: object) -> None:
        """Follow these slots and no others; all anew where `mark`, of the rules by which URLs have places, changed."""
        if (slot_bits, mark) != (self._slot_bits, self._mark):
            for slot in [*self._read, *self._reading]:
                self._forget(slot)
            self._unlisted.clear()
            self._slot_bits, self._mark = slot_bits, mark
        wanted = set(slots)
        known = self._read | self._reading.keys() | self._unlisted
        for slot in known - wanted:
            self._forget(slot)
        if not known:
            self._sequence = self._store.log.sequence
        self._unlisted |= wanted - known

    def is_read(self, slot: Slot) -> bool:
        """Tell whether all documents of a slot were read once."""
        return slot in self._read

    @property
    def left(self) -> int:
        """How many documents are still to be read, as far as they were counted; slots that were not count one."""
        return len(self._unread) + len(self._unlisted)

    def take_changed(self) -> set[Slot]:
        """Return the slots whose links changed since this was asked last."""
        found, self._changed = self._changed, set()
        return found

    def take_visited(self) -> set[Slot]:
        """Return the slots in which URLs were found or visited since this was asked last."""
        found, self._visited = self._visited, set()
        return found

    async def step(self) -> bool:
        """Read a few documents; return whether there may be more."""
        for slot in sorted(self._unlisted)[:1]:
            await self._list(slot)
        is_behind = self._follow()
        for _ in range(min(DOCUMENTS, len(self._unread))):
            self._read_one(self._unread.popleft())
        return is_behind or bool(self._unread or self._unlisted)

    async def known(self, slot: Slot) -> list[int]:
        """Return the numbers of all URLs in a slot that are known."""
        first, last = slot_range(slot, self._slot_bits)

        def numbers(reader: CatalogReader) -> list[int]:
            return [page_number(row.key, row.id) for row in reader.scan(Kind.VISIT, first, last)]

        return await self._store.read_ranges(numbers)

    async def _list(self, slot: Slot) -> None:
        first, last = slot_range(slot, self._slot_bits)

        def rows(reader: CatalogReader) -> list[_Unread]:
            found = {row.id: row.key for row in reader.scan(Kind.DOCUMENT, first, last)}
            found |= {row.id: row.key for row in reader.scan(Kind.VISIT, first, last) if row.version.epoch}
            return [_Unread(slot, *name) for name in found.items()]

        names = await self._store.read_ranges(rows)
        if slot not in self._unlisted:
            return
        self._unlisted.discard(slot)
        self._unread.extend(names)
        self._reading[slot] = len(names)
        self._end_if_read(slot)

    def _follow(self) -> bool:
        log, before = self._store.log, self._sequence
        if log.sequence == before:
            return False
        left = log.left(before)
        changes = log.changes(before, CHANGES)
        last = changes[-1].sequence if changes else 0
        self._sequence = last if len(changes) == CHANGES else max(log.sequence, last)
        # What lies elsewhere now is told by its new place alone; where it lay, all is read again.
        known = self._read | self._reading.keys()
        for slot in known if left is None else {slot_of(key, self._slot_bits) for key in left} & known:
            self._forget(slot)
            self._unlisted.add(slot)
        known = self._read | self._reading.keys()
        for change in changes:
            slot = slot_of(change.key, self._slot_bits)
            if change.kind == Kind.VISIT and slot in known:
                self._visited.add(slot)
                version = self._store.find_version(Kind.VISIT, change.id)
                if version is None or version.epoch:
                    self._keep(slot, change.id, change.key)
            elif change.kind == Kind.DOCUMENT and slot in known:
                self._keep(slot, change.id, change.key)
        return len(changes) == CHANGES

    def _read_one(self, name: _Unread) -> None:
        if name.slot in self._reading:
            self._keep(name.slot, name.id, name.key)
            self._reading[name.slot] -= 1
            self._end_if_read(name.slot)

    def _end_if_read(self, slot: Slot) -> None:
        if self._reading[slot] <= 0:
            del self._reading[slot]
            self._read.add(slot)
            self._changed.add(slot)

    def _keep(self, slot: Slot, id: DocumentId, key: Key) -> None:
        page = page_number(key, id)
        visit = self._store.find(Kind.VISIT, id, content=False, proven=False)
        document = self._document(id, visit)
        if document is None:
            has_changed = self._links.remove(slot, page)
            self._hosts.remove(slot, page)
        else:
            targets = list(self._targets(document))
            has_changed = self._links.put(slot, page, int.from_bytes(key[:8], "big"), targets)
            if slot_of(placement_key(document.url), self._slot_bits) == slot:  # a page of the place that all know
                self._hosts.put(slot, page, site_of(document.url), _other_domains(document))
        self._redirects.put(slot, page, self._lead(visit) if document is None else None)
        if has_changed:
            self._changed.add(slot)

    def _document(self, id: DocumentId, visit: Record | None) -> Document | None:
        """The page as it is indexed, None where it is not."""
        page = self._store.find(Kind.DOCUMENT, id, content=False, proven=False)
        return None if page is None or CHECK.said_flaw(page) else shown_document(page, visit, self._store.denial)

    def _lead(self, record: Record | None) -> int | None:
        """The page behind a redirect, None where a visit says of none."""
        if record is None or CHECK.said_flaw(record) or (visit := visit_of(record)).state != VisitState.REDIRECT:
            return None
        return self._number(visit.target) if visit.target else None

    def _targets(self, document: Document) -> Iterator[int]:
        numbers = (self._number(url) for url, _ in document.links)
        return (number for number in numbers if number is not None)

    def _number(self, url: str) -> int | None:
        """The number of the page at a link, None where that is no URL: its author may be a stranger who lies."""
        try:
            return page_number(self._key_of(url), document_id(url))
        except ValueError:
            return None

    def _forget(self, slot: Slot) -> None:
        self._links.drop(slot)
        self._hosts.drop(slot)
        self._redirects.drop(slot)
        self._unlisted.discard(slot)
        self._reading.pop(slot, None)
        self._read.discard(slot)
        self._changed.discard(slot)
        self._visited.discard(slot)
        if self._unread:
            self._unread = deque(name for name in self._unread if name.slot != slot)


def _other_domains(document: Document) -> list[str]:
    """The hosts of other domains that a document links to, as far as its links are URLs."""
    own, hosts = domain_of(split_url(document.url).host), dict[str, str]()
    for url, _ in document.links:
        with suppress(ValueError):
            hosts[site_of(url)] = split_url(url).host
    return sorted(site for site, host in hosts.items() if domain_of(host) != own)
