"""Whose levels are doubted, whose are not believed, and who told too little.

Pure: claims and verdicts in, decisions out; instants are Unix seconds. Nobody can accuse an owner: a keeper doubts by
what it was told itself, and judges by pages that it read itself. It doubts levels with which one owner of a slot stands
alone far above the others, and by lot any. Honest owners stand alone where a page changed after their table was made,
and then have nothing to show: who shows nothing is asked for a level drawn from all that it told. An owner is not
believed for a while once two pages that it named belied it, or once it showed fewer than half of what was drawn; then
its levels count nothing, and it does not prove what a slot lacks. Numbers of documents are never touched: by them
scores are computed, and nobody's private memory may move these.
"""

from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from dht import NodeId, Slot
from index.directory.witness_check import LevelClaim, WitnessVerdict

ALONE = 15  # levels above those of all other owners, a tenth of what a word can earn by its frequency
LOT_S = 600.0  # between two that are drawn from rows in which no level stands alone: a page read takes some 4 kB
LOOK_S = 1.0  # between two looks
PICKED = 4  # claims of one look
MOST_WAITING = 16  # owners whose claims wait, one of each
AGAIN_S = 3600.0  # before the same claim is checked again
FALSE_PAGES = 2  # by one an owner may be wrong: the texts of its links may have changed unseen
LATEST = 8  # levels drawn of an owner of which half have to be shown
DISBELIEVED_S, MOST_DISBELIEVED_S = 3600.0, 86_400.0  # at first, twice as long each next time within the latter
REMEMBERED = 4096  # owners, and claims that were checked
MOST_LOW, MOST_SUSPECTS = 256, 16  # owners that told too little of a slot; that did not show a level
Choice = TypeVar("Choice")


@dataclass(frozen=True, slots=True, eq=False)
class ToldLevels:
    """What the owners of each slot told of one term. `slots`: those that have it, ascending; by slot and seat of an
    owner `told`: the level as it was told, and `counted`: as it counts, 0 where it does not."""

    slots: NDArray[np.int64]
    told: NDArray[np.int64]
    counted: NDArray[np.int64]


class PickedLevel(NamedTuple):
    """Names a level of `ToldLevels` by line and seat; `is_drawn` by chance, or for being odd."""

    line: int
    seat: int
    is_drawn: bool


@dataclass(slots=True)
class _Past:
    """What is known of an owner. `shown`: whether it showed the latest that were drawn; `false`: pages that belied it,
    and when."""

    shown: deque[bool] = field(default_factory=lambda: deque(maxlen=LATEST))
    false: dict[bytes, float] = field(default_factory=dict)
    until: float = 0.0
    for_s: float = 0.0


class LevelDoubts:
    """The doubts of one keeper of rows."""

    def __init__(self, draw: Callable[[], float]) -> None:
        """`draw` gives a random number from 0 to 1."""
        self._draw = draw
        self._looked_at = self._drew_at = float("-inf")
        self._line = OrderedDict[NodeId, LevelClaim]()
        self._checked = OrderedDict[tuple[NodeId, int, int], float]()
        self._past = OrderedDict[NodeId, _Past]()
        self._low = OrderedDict[tuple[NodeId, Slot], float]()
        self._suspects = OrderedDict[NodeId, float]()

    @property
    def suspects(self) -> Collection[NodeId]:
        """Who did not show a level, and is asked for one that is drawn from all."""
        return self._suspects.keys()

    def wants(self, now: float) -> bool:
        """Tell whether another row is to be looked at; it counts as looked at."""
        if len(self._line) >= MOST_WAITING or 0 <= now - self._looked_at < LOOK_S:
            return False
        self._looked_at = now
        return True

    def one_of(self, rows: Sequence[Choice]) -> Choice:
        """Draw one of some rows."""
        return rows[int(self._draw() * len(rows))]

    def pick(self, levels: ToldLevels, suspected: NDArray[np.bool_], now: float) -> list[PickedLevel]:
        """Return which levels of a row are to be checked. `suspected`: by slot and seat, which are a suspect's."""
        ordered = np.sort(levels.counted, axis=1)
        second = ordered[:, -2] if ordered.shape[1] > 1 else np.zeros(len(ordered), np.int64)
        alone = (levels.counted >= np.maximum(second + ALONE, 1)[:, None]) & ~suspected
        of_suspects = suspected & (levels.counted > 0)
        picked = [*self._some(alone, PICKED, False), *self._some(of_suspects, PICKED, True)]
        if not picked and not 0 <= now - self._drew_at < LOT_S:
            self._drew_at = now
            picked = self._some(levels.counted > 0, 1, True)
        return picked

    def _some(self, which: NDArray[np.bool_], count: int, is_drawn: bool) -> list[PickedLevel]:
        lines, seats = np.nonzero(which)
        drawn = sorted({int(self._draw() * len(lines)) for _ in range(count)}) if len(lines) else []
        return [PickedLevel(int(lines[each]), int(seats[each]), is_drawn) for each in drawn]

    def offer(self, claim: LevelClaim, now: float) -> None:
        """Let a claim wait, where there is room and it was not checked lately."""
        at = self._checked.get((claim.owner, claim.slot, claim.term), -AGAIN_S)
        is_new = claim.owner not in self._line and not at <= now < at + AGAIN_S
        if is_new and len(self._line) < MOST_WAITING:
            self._line[claim.owner] = claim

    def next(self) -> LevelClaim | None:
        """Take a claim that is to be checked, None where none waits."""
        return self._line.popitem(last=False)[1] if self._line else None

    def note(self, claim: LevelClaim, verdict: WitnessVerdict, page: bytes, now: float) -> bool:
        """Note what a check gave, and the id of the page that was read; return whether the owner is no longer believed
        from now on."""
        _remember(self._checked, (claim.owner, claim.slot, claim.term), now)
        past = self._past.pop(claim.owner, None) or _Past()
        self._past[claim.owner] = past
        if len(self._past) > REMEMBERED:
            self._past.popitem(last=False)
        if claim.is_drawn:
            past.shown.append(verdict is WitnessVerdict.SHOWN)
            self._suspects.pop(claim.owner, None)
        elif verdict is WitnessVerdict.UNSHOWN:
            _remember(self._suspects, claim.owner, now, MOST_SUSPECTS)
        past.false = {each: at for each, at in past.false.items() if now < at + MOST_DISBELIEVED_S}
        if verdict is WitnessVerdict.FALSE and len(past.false) < FALSE_PAGES:
            past.false[page] = now
        is_vague = len(past.shown) == LATEST and 2 * sum(past.shown) < LATEST
        if now < past.until or not (len(past.false) >= FALSE_PAGES or is_vague):
            return False
        again = past.for_s and now < past.until + MOST_DISBELIEVED_S
        past.for_s = min(2 * past.for_s, MOST_DISBELIEVED_S) if again else DISBELIEVED_S
        past.until = now + past.for_s
        past.shown.clear()
        past.false.clear()
        return True

    def disbelieved(self, now: float) -> frozenset[NodeId]:
        """Return whose levels count nothing."""
        return frozenset(peer for peer, past in list(self._past.items()) if now < past.until)  # other threads ask, too

    def note_low(self, owner: NodeId, slot: Slot, now: float) -> None:
        """Note that a page of a slot had a greater level than its owner told, though it told later."""
        _remember(self._low, (owner, slot), now, MOST_LOW)

    def low(self, now: float) -> list[tuple[NodeId, Slot]]:
        """Return which owners are no proof of what a slot holds."""
        return [each for each, at in self._low.items() if now < at + DISBELIEVED_S]


def _remember(known: OrderedDict, each: object, at: float, most: int = REMEMBERED) -> None:  # type: ignore[type-arg]
    known.pop(each, None)
    known[each] = at
    if len(known) > most:
        known.popitem(last=False)
