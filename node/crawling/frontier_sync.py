"""Keeps the crawler's frontier true: to the leases that this node holds, and to the visits in those slots.

The frontier is a view. A slot gained is rebuilt from its replica, URL by URL; from the moment it is gained the
store's change log says what was found or visited, whoever wrote it. A slot lost is dropped.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from itertools import islice

from crawl import Crawler, Visit, decode_visit
from dht import Key, Overlay, SiteShards, Slot, shards, slot_of, slot_start
from store import Kind, Record, RecordStore

LOOK_EVERY_S = 1.0  # between two looks at leases and change log; leases end well before the votes for them
LOOK_SOON_S = 0.05  # the same while the store changes
BATCH = 1024


class FrontierSync:
    """Follows leases and visits on behalf of one crawler."""

    def __init__(
        self,
        crawler: Crawler,
        store: RecordStore,
        overlay: Overlay,
        places: SiteShards,
        heard: Callable[[Record], None] = lambda record: None,
    ) -> None:
        """`heard` is told of each host's record that is kept here, or comes."""
        self._crawler, self._store, self._overlay, self._places = crawler, store, overlay, places
        self._mark: object = places.mark
        self._held: dict[Slot, int] = {}
        self._slot_bits = overlay.view.strategy.slot_bits
        self._filling: dict[Slot, Iterator[Record]] = {}
        self._sequence = 0
        self._heard, self._hosts = heard, store.scan(Kind.HOST, bytes(20), b"\xff" * 20)  # those kept already
        self._elsewhere: set[str] = set()  # sites whose places are others since the last look

    @property
    def is_current(self) -> bool:
        """Whether the frontier knows all that the store does: only then an idle crawler means that nothing waits."""
        return not self._filling and self._store.sequence == self._sequence

    async def run(self) -> None:
        """Follow until cancelled."""
        while True:
            before = self._sequence
            self.step()
            if self._filling or self._store.sequence > self._sequence:
                await asyncio.sleep(0)
            else:
                await asyncio.sleep(LOOK_SOON_S if self._sequence > before else LOOK_EVERY_S)

    def step(self) -> None:
        """Take the leases and changes of this moment."""
        for record in islice(self._hosts, BATCH):
            self._heard(record)
        if self._elsewhere:
            self._let_go()
        leases, slot_bits = self._overlay.view.leases(), self._overlay.view.strategy.slot_bits
        if leases != self._held or slot_bits != self._slot_bits or self._places.mark != self._mark:
            self._follow_leases(leases, slot_bits)
        else:
            self._follow()
        self._fill()

    def moved(self, site: str) -> None:
        """The places of a site are others now."""
        self._elsewhere.add(site)

    def _let_go(self) -> None:
        """Give up the slots in which sites lie, or lay, whose places are others now: they are taken up anew."""
        bits = self._overlay.view.strategy.slot_bits
        touched = {slot_of(prefix, bits) for site in self._elsewhere for prefix in shards(site)}
        self._elsewhere.clear()
        for slot in touched & self._held.keys():
            self._crawler.release(slot)
            self._filling.pop(slot, None)
            del self._held[slot]
        self._crawler.renumber(lambda url: slot_of(self._places.place(url), bits))

    def _follow_leases(self, leases: Mapping[Slot, int], slot_bits: int) -> None:
        elsewhere = slot_bits != self._slot_bits or self._places.mark != self._mark
        kept = {} if elsewhere else leases
        for slot in [s for s, epoch in self._held.items() if kept.get(s) != epoch]:
            self._crawler.release(slot)
            self._filling.pop(slot, None)
            del self._held[slot]
        if elsewhere:
            self._crawler.renumber(lambda url: slot_of(self._places.place(url), slot_bits))
        self._slot_bits, self._mark = slot_bits, self._places.mark
        self._follow()
        for slot in sorted(leases.keys() - self._held.keys()):
            self._crawler.hold(slot, leases[slot], ())
            self._filling[slot] = self._store.scan(Kind.VISIT, *slot_range(slot, self._slot_bits))
            self._held[slot] = leases[slot]

    def _fill(self) -> None:
        """Rebuild slots just gained, a batch at a time, so that a large one does not hold up the loop."""
        for slot in list(self._filling):
            batch = list(islice(self._filling[slot], BATCH))
            for record in batch:
                self._observe(slot, record, self._crawler.recall)
            if len(batch) == BATCH:
                return
            del self._filling[slot]

    def _follow(self) -> None:
        if self._store.sequence == self._sequence:
            return
        for change in self._store.changes(self._sequence, BATCH):
            self._sequence = change.sequence
            slot = slot_of(change.key, self._slot_bits)
            if change.kind == Kind.HOST and not change.removed:
                if (host := self._store.find(Kind.HOST, change.id)) is not None:
                    self._heard(host)
            elif change.kind == Kind.VISIT and not change.removed and slot in self._held:
                record = self._store.find(Kind.VISIT, change.id, content=False, proven=False)
                if record is not None:
                    self._observe(slot, record, self._crawler.observe)

    def _observe(self, slot: Slot, record: Record, tell: Callable[[Slot, Visit], None]) -> None:
        """What lies where its site was before it was spread is crawled by the holder of its place now."""
        visit = visit_of(record)
        if record.key == self._places.place(visit.url):
            tell(slot, visit)
        else:
            self._places.wonder(visit.url, record.key)


def visit_of(record: Record) -> Visit:
    """The visit in a VISIT record."""
    return decode_visit(record.body)


def slot_range(slot: Slot, slot_bits: int) -> tuple[Key, Key]:
    """The first and the last key of a slot."""
    first = slot_start(slot, slot_bits)
    return first, Key((int.from_bytes(first, "big") | ((1 << (160 - slot_bits)) - 1)).to_bytes(20, "big"))
