"""Remembers who owned each slot an hour ago, by one node's own view.

Pure: owners and steady times in, slots out. Owners that all came within an hour may hold whatever they like: nobody who
was there before is among them to contradict.
"""

from collections import deque
from collections.abc import Sequence

from dht.keys import NodeId, Slot

Owners = Sequence[tuple[NodeId, ...]]  # of every slot, by its number
AGO_S = 3600.0
NOTED_EVERY_S = 300.0  # also after the start: by then a node knows the members


class OwnersBefore:
    """Notes the owners of all slots now and then."""

    def __init__(self, started_at: float) -> None:
        self._next_at = started_at + NOTED_EVERY_S
        self._noted: deque[tuple[float, Owners]] = deque()
        self._judged: tuple[Owners, Owners] = ((), ())
        self._replaced: frozenset[Slot] = frozenset()

    def is_due(self, now: float) -> bool:
        """Tell whether the owners are to be noted."""
        return now >= self._next_at

    def note(self, now: float, owners: Owners) -> None:
        """Note who owns each slot now."""
        self._noted.append((now, owners))
        self._next_at = now + NOTED_EVERY_S

    def replaced(self, now: float, owners: Owners) -> frozenset[Slot]:
        """Return the slots none of whose owners was one an hour ago, while somebody else was; the same object until
        that changes. Nothing is known of an hour ago where nothing was noted then, or slots had other numbers."""
        while len(self._noted) > 1 and now - self._noted[1][0] >= AGO_S:
            self._noted.popleft()
        before = self._noted[0][1] if self._noted and now - self._noted[0][0] >= AGO_S else ()
        if len(before) != len(owners) or before is owners:
            return frozenset()
        if self._judged[0] is not before or self._judged[1] is not owners:
            pairs = enumerate(zip(before, owners, strict=True))
            self._replaced = frozenset(Slot(n) for n, (old, new) in pairs if old and set(old).isdisjoint(new))
            self._judged = before, owners
        return self._replaced
