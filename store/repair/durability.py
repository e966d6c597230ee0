"""How many copies each slot has, and which keeper copies it when: soon where one is left, later where two are.

Pure: `now` is steady time in seconds. Copies are the live ones, owners' or keepers', that are complete, and those of
silent ones that are expected back (`absences.py`): keepers sleep, too. A slot's keepers are who would own it if the
silent were forgotten, so what they copy need not move again. Each finds out by itself that it is the first of them
which has no copy; if it does not finish, the next one begins as well.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dht import NodeId, Slot
from store.repair.absences import Absences

PATIENCE_S = 1800.0  # a slot that lacks copies, but has two, waits so long: most who are away come back
TURN_S = 600.0  # so long the first keeper is waited for before the next one begins


@dataclass(frozen=True, slots=True)
class SlotCopies:
    """One slot as this node sees it: who holds all of it and lives, which silent candidates held it (and whether each
    is a stable machine), and who keeps copies in the place of silent owners."""

    owners: tuple[NodeId, ...]
    holders: tuple[NodeId, ...]
    silent: Mapping[NodeId, bool]
    keepers: tuple[NodeId, ...]


class Durability:
    """Follows the slots that one node owns or keeps."""

    def __init__(self, me: NodeId, absences: Absences) -> None:
        self._me, self._absences = me, absences
        self._thin: dict[Slot, float] = {}  # too few copies, and since when
        self._last: dict[Slot, float] = {}  # one copy, and since when
        self._keeping: dict[Slot, int] = {}  # what this node copies, or has copied, with the copies that there are
        self._live: Counter[int] = Counter()

    def refresh(self, now: float, slots: Iterable[tuple[Slot, SlotCopies]]) -> Mapping[Slot, int]:
        """Take note of all own and kept slots; return those to be kept whole here, with the copies of each. Who has
        begun goes on for as long as it is a keeper, unless there are enough before it is done."""
        thin, last, keeping = dict[Slot, float](), dict[Slot, float](), dict[Slot, int]()
        self._live = Counter()
        for slot, copies in slots:
            if self._me in copies.owners:
                self._live[len(copies.holders)] += 1
            count = self._count(now, copies)
            if 0 < count < len(copies.owners):
                thin[slot] = self._thin.get(slot, now)
            if count == 1:
                last[slot] = self._last.get(slot, now)
            due_at = last.get(slot, thin[slot] + PATIENCE_S if slot in thin else float("inf"))
            is_begun = slot in self._keeping and (self._me in copies.holders or slot in thin)
            if self._me in copies.keepers and (is_begun or self._is_turn(now, due_at, copies)):
                keeping[slot] = max(count, 1)
        self._thin, self._last, self._keeping = thin, last, keeping
        return keeping

    def counts(self, now: float) -> tuple[Mapping[int, int], float, Slot | None]:
        """Return how many own slots had how many live copies at the last look, and for how long the slot that has
        waited longest has too few, those expected back counted, and which that is; 0 and None where none has."""
        oldest = min(self._thin, key=lambda slot: (self._thin[slot], slot), default=None)
        return dict(sorted(self._live.items())), now - self._thin[oldest] if oldest is not None else 0.0, oldest

    def renumbered(self) -> None:
        """Forget everything about slots, which have other numbers from now on."""
        self._thin, self._last, self._keeping = {}, {}, {}

    def _count(self, now: float, copies: SlotCopies) -> int:
        """Count the copies of a slot, those of silent owners that are expected back among them; 0 where none lives."""
        if not copies.holders:
            return 0
        laptops = [peer for peer, is_stable in copies.silent.items() if not is_stable]
        count = len(copies.holders) + sum(self._absences.is_back_soon(now, peer, is_stable=False) for peer in laptops)
        servers = copies.silent.keys() - set(laptops)
        return count + sum(
            self._absences.is_back_soon(now, peer, is_stable=True, is_last=count == 1) for peer in servers
        )

    def _is_turn(self, now: float, due_at: float, copies: SlotCopies) -> bool:
        """Whether this keeper begins now: the slot is due, and those before it have had their time."""
        if now < due_at or self._absences.waits(now):
            return False
        lacking = [keeper for keeper in copies.keepers if keeper not in copies.holders]
        return self._me in lacking and lacking.index(self._me) <= (now - due_at) // TURN_S
