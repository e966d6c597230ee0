"""The slots whose ranks one node computes: each sweeps while anything moves there, and is silent otherwise.

Pure: messages in, messages out. What slots of one node tell each other goes the way of all messages, but for the line.
"""

from collections.abc import Callable, Collection, Iterable, Set
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dht import BadMessage, Slot
from index import InflowAck, InflowMessage, LinkGraph, SlotRanks, SlotStatement, levels_of

MOST_ENTRIES = 4_000_000  # values of other slots, in all slots of a node: 48 MB
Limit = Callable[[int, int], float]  # what a source may give a target


class HeldRanks:
    """Computes the ranks of some slots. `most_entries`: values of other slots that it keeps."""

    def __init__(self, most_entries: int = MOST_ENTRIES) -> None:
        self._most_entries = most_entries
        self._slots: dict[Slot, SlotRanks] = {}
        self._left: dict[Slot, SlotRanks] = {}  # slots that were held, in case they come back
        self._awake = set[Slot]()  # where a step may move something
        self._moved = set[Slot]()  # of which a new statement is due
        self._resting: dict[Slot, SlotStatement] = {}  # the last statements of slots in which nothing moves
        self._on_way: dict[Slot, list[InflowMessage]] = {}  # not acknowledged yet, by source
        self._levels: dict[Slot, tuple[NDArray[np.uint64], NDArray[np.int8]]] = {}  # by number, ascending
        self._unjudged = set[Slot]()  # where limits have to be put upon what was heard
        self._wanting = set[Slot]()  # where others give to more pages than may be unknown
        self._entries = 0

    @property
    def slots(self) -> Set[Slot]:
        """The slots that are computed here."""
        return self._slots.keys()

    @property
    def is_awake(self) -> bool:
        """Whether anything moves in any slot."""
        return bool(self._awake)

    def awake(self) -> list[Slot]:
        """Return the slots that want a step."""
        return sorted(self._awake)

    def epoch(self, slot: Slot) -> int:
        """Return the epoch of the lease under which a slot is held, 0 where it is not."""
        return self._slots[slot].epoch if slot in self._slots else 0

    def begin(self, slot: Slot, epoch: int, graph: LinkGraph, now: float) -> None:
        """Compute a slot, from what is left of an earlier time where there is something."""
        left = self._left.pop(slot, None)
        if left is not None and left.epoch == epoch:  # the lease was in doubt, and is none
            left.relink(graph, now)
            self._slots[slot] = left
        else:
            state = left.state() if left is not None else None
            self._slots[slot] = SlotRanks(graph, slot, epoch, now, state, self._most_entries)
        self._count_entries()
        self._unjudged.add(slot)
        self._wake(slot)
        self.note_begun(slot, epoch)

    def relink(self, slot: Slot, graph: LinkGraph, now: float) -> None:
        """Go on with a slot's other links."""
        self._slots[slot].relink(graph, now)
        self._unjudged.add(slot)
        self._wanting.discard(slot)
        self._wake(slot)

    def end(self, slot: Slot) -> None:
        """Compute a slot no more; it is remembered in case it comes back."""
        self._left[slot] = self._slots.pop(slot)
        self._count_entries()
        for known in (self._awake, self._moved, self._unjudged, self._wanting):
            known.discard(slot)
        self._resting.pop(slot, None)
        self._on_way.pop(slot, None)

    def remember(self, slots: Collection[Slot]) -> None:
        """Forget what is left of all slots but these."""
        self._left = {slot: ranks for slot, ranks in self._left.items() if slot in slots}
        self._levels = {slot: levels for slot, levels in self._levels.items() if slot in slots}

    def wants_links(self, slot: Slot) -> bool:
        """Tell whether others give to pages of a slot that its graph does not know, as far as they said so lately."""
        return slot in self._wanting or (slot in self._awake and self._slots[slot].unknown > 0)

    def step(self, slot: Slot) -> None:
        """Sweep a slot, if it is held still, and find out what others have to hear."""
        if (ranks := self._slots.get(slot)) is None:
            return
        before = {(m.target, m.sequence) for m in self._on_way.get(slot, ())}
        self._on_way[slot] = found = ranks.step()
        self._moved.add(slot)
        if ranks.is_still and before.issuperset((m.target, m.sequence) for m in found):
            self._awake.discard(slot)

    def limit_all(self, limit: Limit, *, are_new: bool) -> None:
        """Judge what was heard by newer limits; where these are not new, in slots that were not judged yet alone."""
        for slot in sorted(self._slots if are_new else self._unjudged & self._slots.keys()):
            ranks = self._slots[slot]
            for source in ranks.sources:
                if ranks.limit(source, limit(source, slot)):
                    self._wake(slot)
        self._unjudged.clear()

    def deliver_here(self, limit: Limit) -> None:
        """Bring messages between slots of this node."""
        for message in [message for found in self._on_way.values() for message in found]:
            if message.target in self._slots and (ack := self.receive(message, limit)) is not None:
                self.acknowledge([ack])

    def outgoing(self) -> list[InflowMessage]:
        """Return what slots of other nodes have to hear."""
        return [m for found in self._on_way.values() for m in found if m.target not in self._slots]

    def misled(self) -> dict[int, list[int]]:
        """Return which slots give to pages here that lead elsewhere, and to which."""
        found: dict[int, list[int]] = {}
        for ranks in self._slots.values():
            for source, pages in ranks.misled().items():
                found.setdefault(source, []).extend(pages)
        return found

    def receive(self, message: InflowMessage, limit: Limit) -> InflowAck | None:
        """Take a message; return what its sender has to hear, None where its target is not here or it is none."""
        ranks = self._slots.get(Slot(message.target))
        if ranks is None or message.source == message.target:
            return None
        if self._entries + len(message) > self._most_entries:
            return None  # it would take more memory than there is for all
        had, entries = ranks.ack_for(message.source), ranks.entries
        try:
            ack = ranks.receive(message, limit(message.source, message.target))
        except BadMessage:  # it is none, or of pages that are not known yet
            self._wanting.add(Slot(message.target))
            return None
        self._entries += ranks.entries - entries
        if ack != had:
            self._wake(Slot(message.target))
        return ack

    def acknowledge(self, acks: Iterable[InflowAck]) -> None:
        """Note what holders of other slots have."""
        for ack in acks:
            slot = Slot(ack.source)
            if (ranks := self._slots.get(slot)) is None:
                continue
            ranks.acknowledge(ack)
            found = self._on_way.get(slot, [])
            left = [m for m in found if (m.target, m.epoch, m.sequence) != (ack.target, ack.epoch, ack.sequence)]
            self._on_way[slot] = left
            self._wake(slot)

    def note_begun(self, target: Slot, epoch: int) -> None:
        """Note that another node holds a slot from this epoch on, and has heard of none."""
        sources = [source for source, ranks in self._slots.items() if target in ranks.targets]
        self.acknowledge([InflowAck(source, target, epoch, 0, 0) for source in sources])

    def statements(self, now: float, others_from_at: float, clocks_s: float) -> list[SlotStatement]:
        """Return what has to be said of slots now: of those that move, of those that have come to rest, and of those
        at rest where others speak of a later time only. `others_from_at`: the latest time from which anybody speaks."""
        found = []
        for slot, ranks in self._slots.items():
            resting = self._resting.get(slot)
            if slot in self._moved:
                self._resting.pop(slot, None)
                found.append(ranks.statement(now))
            elif resting is None or (resting.at < others_from_at + clocks_s < now):
                said = ranks.statement(now) if resting is None else replace(resting, at=now)
                self._resting[slot] = said
                found.append(said)
        self._moved.clear()
        return found

    @property
    def pages(self) -> int:
        """How many pages have ranks here."""
        return sum(ranks.pages for ranks in self._slots.values())

    def value(self, slot: Slot, page: int) -> float | None:
        """Return what a page has, divided by the mean of all pages it is its rank; None where it is not
        computed here. `page`: its number."""
        ranks = self._slots.get(slot)
        return None if ranks is None else ranks.value(page)

    def level(self, slot: Slot, page: int) -> int | None:
        """Return a page's level as of the last proof, None where it had none then."""
        numbers, levels = self._levels.get(slot, (None, None))
        if numbers is None or levels is None or not len(numbers):
            return None
        place = min(int(np.searchsorted(numbers, np.uint64(page))), len(numbers) - 1)
        return int(levels[place]) if int(numbers[place]) == page else None

    def settle_levels(self, slot: Slot, average: float) -> None:
        """Take the levels of a slot's pages from their values, now that these are proved. `average`: of all pages."""
        if (ranks := self._slots.get(slot)) is None or average <= 0:
            return
        order = np.argsort(ranks.numbers)
        numbers, values = ranks.numbers[order], ranks.values[order]
        before = np.full(len(numbers), -1, np.int8)
        if slot in self._levels:
            known, levels = self._levels[slot]
            _, here, there = np.intersect1d(numbers, known, assume_unique=True, return_indices=True)
            before[here] = levels[there]
        self._levels[slot] = numbers, levels_of(values, average, before)

    def _wake(self, slot: Slot) -> None:
        self._awake.add(slot)
        self._moved.add(slot)

    def _count_entries(self) -> None:
        self._entries = sum(ranks.entries for ranks in self._slots.values())
