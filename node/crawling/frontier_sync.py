"""Keeps the crawler's frontier true: to the leases that this node holds, and to the visits in those slots.

The frontier is a view. A slot gained is rebuilt from its replica, URL by URL. From the moment it is gained the store's
changes say what was found or visited, whoever wrote it (`change_follower.py`). A slot lost is dropped. When pages were
swept off the disk, because the strategy took them back, or may come back, all slots are rebuilt. The frontier holds a
bounded number of URLs; a slot of which further ones are due is read again.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Protocol

from msgspec.structs import replace

from crawl import Crawler, Visit
from dht import Overlay, SiteShards, Slot, document_id, shards, slot_of, slot_range
from node.crawling.change_follower import ChangedRecord, ChangeFollower
from node.crawling.due_anew import DueAgain
from node.crawling.store_change_feed import visit_of
from store import Kind, Record, RecordStore

BATCH = 1024


class HostNews(Protocol):
    """Takes host records, and tells which sites they moved."""

    def hear(self, record: Record) -> None:
        """Take over a host record that is kept here, or comes in."""

    @property
    def has_moved(self) -> bool:
        """Whether any site came to lie elsewhere since `take_moved`."""

    def take_moved(self) -> frozenset[str]:
        """Return the sites that came to lie elsewhere since this was last asked."""


class FrontierSync:
    """Follows leases, visits and host records on behalf of one crawler."""

    def __init__(
        self,
        crawler: Crawler,
        store: RecordStore,
        overlay: Overlay,
        places: SiteShards,
        hosts: HostNews,
        due: DueAgain,
        changes: ChangeFollower,
    ) -> None:
        self._crawler, self._store, self._overlay, self._places = crawler, store, overlay, places
        self._hosts, self._due, self._changes = hosts, due, changes
        self._knows_hosts = False
        self._kept_hosts = store.scan(Kind.HOST, bytes(20), b"\xff" * 20)
        self._mark: object = places.mark
        self._held: dict[Slot, int] = {}
        self._slot_bits = overlay.view.strategy.slot_bits
        self._filling: dict[Slot, Iterator[Record]] = {}
        self._refilled: Slot | None = None  # the slot that is read again, though it was not gained
        changes.listen(self._hear, self.tend)

    @property
    def is_current(self) -> bool:
        """Whether the frontier knows all that the store does: only then an idle crawler means that nothing waits."""
        return self._knows_hosts and not self._filling and self._changes.is_current

    async def tend(self) -> bool:
        """Take up what changes beside the store: leases, places of sites, what is due again or has room now."""
        self._refill()
        return self._has_changed() and self.step()

    def step(self) -> bool:
        """Take the leases of this moment, and fill a batch of the slots just gained; return whether there is more."""
        hosts = list(islice(self._kept_hosts, BATCH))
        for record in hosts:
            self._hosts.hear(record)
        self._knows_hosts = not hosts
        self._follow_moves()
        for site in self._due.take_sites():
            self._crawler.review(site, self._due.is_other)
        if self._leases_changed():
            self._follow_leases()
        self._fill()
        return bool(hosts or self._filling)

    def _has_changed(self) -> bool:
        is_behind = bool(self._filling) or not self._knows_hosts
        return is_behind or self._leases_changed() or self._hosts.has_moved or self._due.has_sites

    def _leases_changed(self) -> bool:
        view = self._overlay.view
        return view.leases() != self._held or self._is_replaced() or self._due.has_more

    def _is_replaced(self) -> bool:
        """Whether URLs lie in other slots than they did: the strategy has other slots, or rules that spread sites."""
        return self._overlay.view.strategy.slot_bits != self._slot_bits or self._places.mark != self._mark

    def _follow_moves(self) -> None:
        """Give up the slots in which sites lie, or lay, that lie elsewhere now; they are taken up anew."""
        if moved := self._hosts.take_moved():
            bits = self._overlay.view.strategy.slot_bits
            touched = {slot_of(prefix, bits) for site in moved for prefix in shards(site)}
            for slot in touched & self._held.keys():
                self._release(slot)
            self._crawler.move_in_flight(lambda url: slot_of(self._places.key_of(url), bits))

    def _follow_leases(self) -> None:
        leases, slot_bits = self._overlay.view.leases(), self._overlay.view.strategy.slot_bits
        is_replaced = self._is_replaced()
        kept = {} if is_replaced or self._due.has_more else leases
        self._due.begin()
        for slot in [s for s, epoch in self._held.items() if kept.get(s) != epoch]:
            self._release(slot)
        if is_replaced:
            self._crawler.move_in_flight(lambda url: slot_of(self._places.key_of(url), slot_bits))
        self._slot_bits, self._mark = slot_bits, self._places.mark
        self._changes.step()  # so that what is recalled as due again is not observed after that, as it was before
        for slot in sorted(leases.keys() - self._held.keys()):
            self._crawler.hold(slot, leases[slot], ())
            self._filling[slot] = self._visits_of(slot)
            self._held[slot] = leases[slot]

    def _release(self, slot: Slot) -> None:
        self._crawler.release(slot)
        self._filling.pop(slot, None)
        self._refilled = None if slot == self._refilled else self._refilled
        del self._held[slot]

    def _fill(self) -> None:
        """Rebuild one of the slots just gained, or a batch of it, so that many documents do not hold up the loop: a
        look for visits passes over them."""
        if (slot := next(iter(self._filling), None)) is None:
            return
        batch = list(islice(self._filling[slot], BATCH))
        take = self._crawler.refill if slot == self._refilled else self._crawler.recall
        for record in batch:
            visit = visit_of(record)
            if self._lies_at_its_place(record, visit):
                take(slot, self._due.recalled(visit))
        if len(batch) < BATCH:
            del self._filling[slot]

    def _refill(self) -> None:
        """Begin to read a slot again of which URLs are due that had no room, and look for URLs that are wanted."""
        if not self._filling and (slot := self._crawler.take_refill()) is not None:
            self._filling[slot], self._refilled = self._visits_of(slot), slot
        for url in self._crawler.take_wanted():
            record = self._store.find(Kind.VISIT, document_id(url), content=False)
            if record is not None and (home := slot_of(record.key, self._slot_bits)) in self._held:
                self._crawler.refill(home, replace(visit_of(record), due_at=0.0))

    def _visits_of(self, slot: Slot) -> Iterator[Record]:
        return self._store.scan(Kind.VISIT, *slot_range(slot, self._slot_bits))

    def _hear(self, changed: ChangedRecord) -> None:
        if changed.kind == Kind.HOST and changed.record is not None:
            self._hosts.hear(changed.record)
        elif changed.kind == Kind.VISIT and (slot := slot_of(changed.key, self._slot_bits)) in self._held:
            record, visit = changed.record, changed.visit
            if record is not None and visit is not None and self._lies_at_its_place(record, visit):
                self._crawler.observe(slot, visit)

    def _lies_at_its_place(self, record: Record, visit: Visit) -> bool:
        """Whether a visit lies where its site does; else it belongs to the holder of its place now."""
        if record.key == self._places.key_of(visit.url):
            return True
        self._places.doubt(visit.url, record.key)
        return False
