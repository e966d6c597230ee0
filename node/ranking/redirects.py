"""Where pages lead that are none: the redirects of a node's own slots, and those that holders of others told it.

Pure. One entry takes some 150 bytes; what is beyond a bound is not taken, and then ranks are not proved. One thread may
follow the store while another hears peers and asks.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Set

from dht import Slot

MOST_REDIRECTS = 100_000  # of a node's own slots; as many again that it was told
MOST_OF_SLOT = MOST_REDIRECTS // 8  # that it is told of one slot: a liar leaves room for others


class Redirects:
    """The next page behind each one that leads elsewhere, by its number."""

    def __init__(self, most: int = MOST_REDIRECTS, most_of_slot: int = MOST_OF_SLOT) -> None:
        self._most, self._most_of_slot = most, most_of_slot
        self._own: dict[int, int] = {}
        self._told: dict[int, int] = {}
        self._own_slots: dict[Slot, set[int]] = {}
        self._told_slots: dict[Slot, tuple[int, set[int]]] = {}  # with the epoch under which it was told
        self._changed = deque[int]()

    @property
    def own(self) -> Mapping[int, int]:
        """Those that this node knows of itself."""
        return self._own

    @property
    def all(self) -> Mapping[int, int]:
        """All that are known; what this node knows of itself counts before what it was told."""
        return {**self._told, **self._own}

    def put(self, slot: Slot, page: int, target: int | None) -> None:
        """Note where a page of an own slot leads, None where it is a page."""
        self._note(self._own, self._own_slots.setdefault(slot, set()), page, target)

    def drop(self, slot: Slot) -> None:
        """Forget what this node knew itself of a slot."""
        for page in self._own_slots.pop(slot, set()):
            self._note(self._own, set(), page, None)

    def hear(self, slot: Slot, epoch: int, leads: Iterable[tuple[int, int]]) -> None:
        """Note what the holder of a slot told under its lease's epoch; a page that leads to itself is a page."""
        if self.begin(slot, epoch):
            pages = self._told_slots.setdefault(slot, (epoch, set()))[1]
            for page, target in leads:
                if page not in pages and len(pages) >= self._most_of_slot:
                    continue
                self._note(self._told, pages, page, None if target == page else target)

    def begin(self, slot: Slot, epoch: int) -> bool:
        """Forget what was told of a slot under an earlier epoch: its new holder tells what it knows. Return whether
        this one is as new as what is there."""
        before, pages = self._told_slots.get(slot, (epoch, set[int]()))
        if epoch > before:
            del self._told_slots[slot]
            for page in pages:
                self._note(self._told, set(), page, None)
        return epoch >= before

    def forget_told(self) -> None:
        """Forget what others told."""
        self._told.clear()
        self._told_slots.clear()

    def take_changed(self) -> Set[int]:
        """Return the pages that lead elsewhere than when this was asked last, and all that lead to them."""
        found = set[int]()
        while self._changed:
            found.add(self._changed.popleft())
        leads, new = self.all if found else {}, found
        while new := {page for page, target in leads.items() if target in new} - found:
            found |= new
        return found

    def _note(self, table: dict[int, int], pages: set[int], page: int, target: int | None) -> None:
        if table.get(page) == target or (page not in table and len(table) >= self._most):
            return
        self._changed.append(page)
        if target is None:
            del table[page]
            pages.discard(page)
        else:
            table[page] = target
            pages.add(page)
