"""Keeps the crawler's frontier true: to the leases that this node holds, and to the visits in those slots.

The frontier is a view. A slot gained is rebuilt from its replica, URL by URL; from the moment it is gained the
store's change log says what was found or visited, whoever wrote it. A slot lost is dropped. When pages were swept off
the disk, because the strategy took them back, or may come back, all slots are rebuilt.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Protocol

from crawl import Crawler, Visit
from dht import Overlay, SiteShards, Slot, shards, slot_of, slot_range
from node.crawling.due_anew import DueAgain
from node.crawling.store_change_feed import visit_of
from store import Kind, Record, RecordStore

LEASES_EVERY_S = 1.0  # between two looks at leases: they run out by the clock, which wakes nobody
BATCH_REST_S = 0.05  # while the store changes: what comes meanwhile is followed in one step
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
    ) -> None:
        self._crawler, self._store, self._overlay, self._places = crawler, store, overlay, places
        self._hosts, self._due, self._log = hosts, due, store.log
        self._kept_hosts = store.scan(Kind.HOST, bytes(20), b"\xff" * 20)
        self._mark: object = places.mark
        self._held: dict[Slot, int] = {}
        self._slot_bits = overlay.view.strategy.slot_bits
        self._filling: dict[Slot, Iterator[Record]] = {}
        self._sequence = 0

    @property
    def is_current(self) -> bool:
        """Whether the frontier knows all that the store does: only then an idle crawler means that nothing waits."""
        return not self._filling and self._log.sequence == self._sequence

    async def run(self) -> None:
        """Follow until cancelled. Changes of an idle store are followed at once, leases within `LEASES_EVERY_S`."""
        while True:
            before = self._sequence
            if self.step():
                await asyncio.sleep(0)
                continue
            if self._sequence > before:
                await asyncio.sleep(BATCH_REST_S)
            while not self._has_changed():
                with suppress(TimeoutError):
                    async with asyncio.timeout(LEASES_EVERY_S):
                        await self._log.wait(self._sequence)

    def step(self) -> bool:
        """Take the leases and changes of this moment, a batch at most; return whether there are more already."""
        hosts = list(islice(self._kept_hosts, BATCH))
        for record in hosts:
            self._hosts.hear(record)
        self._follow_moves()
        for site in self._due.take_sites():
            self._crawler.review(site, self._due.is_other)
        if self._leases_changed():
            self._follow_leases()
        else:
            self._follow_store()
        self._fill()
        return bool(hosts or self._filling) or self._log.sequence > self._sequence

    def _has_changed(self) -> bool:
        return (
            self._log.sequence > self._sequence
            or self._leases_changed()
            or self._hosts.has_moved
            or self._due.has_sites
        )

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
        self._follow_store()
        for slot in sorted(leases.keys() - self._held.keys()):
            self._crawler.hold(slot, leases[slot], ())
            self._filling[slot] = self._store.scan(Kind.VISIT, *slot_range(slot, self._slot_bits))
            self._held[slot] = leases[slot]

    def _release(self, slot: Slot) -> None:
        self._crawler.release(slot)
        self._filling.pop(slot, None)
        del self._held[slot]

    def _fill(self) -> None:
        """Rebuild slots just gained, a batch at a time, so that a large one does not hold up the loop."""
        for slot in list(self._filling):
            batch = list(islice(self._filling[slot], BATCH))
            for record in batch:
                self._observe(slot, record, self._recall)
            if len(batch) == BATCH:
                return
            del self._filling[slot]

    def _recall(self, slot: Slot, visit: Visit) -> None:
        self._crawler.recall(slot, self._due.recalled(visit))

    def _follow_store(self) -> None:
        newest = self._log.sequence
        if newest == self._sequence:
            return
        changes = self._log.changes(self._sequence, BATCH)
        for change in changes:
            slot = slot_of(change.key, self._slot_bits)
            if change.kind == Kind.HOST and not change.removed:
                if (host := self._store.find(Kind.HOST, change.id)) is not None:
                    self._hosts.hear(host)
            elif change.kind == Kind.VISIT and not change.removed and slot in self._held:
                record = self._store.find(Kind.VISIT, change.id, content=False, proven=False)
                if record is not None:
                    self._observe(slot, record, self._crawler.observe)
        # The log forgets removals: numbers at its end may have no change any more.
        last = changes[-1].sequence if changes else 0
        self._sequence = last if len(changes) == BATCH else max(newest, last)

    def _observe(self, slot: Slot, record: Record, tell: Callable[[Slot, Visit], None]) -> None:
        """Pass a visit on; one that lies where its site was before it was spread belongs to the holder of its place
        now."""
        visit = visit_of(record)
        if record.key == self._places.key_of(visit.url):
            tell(slot, visit)
        else:
            self._places.doubt(visit.url, record.key)
