"""How likely it is that a document that lies here is lost within a year, by what this node has seen of its neighbours.

Pure: values only; times are seconds. How often machines of a kind fall silent, and for how long, is what was seen since
the start, with the usual figures for a few more; how many leave for good is what was seen within 30 days, and never
taken for less than usual. The rest is `loss_model.py`'s.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from dht import NodeId
from store.replication.loss_model import LAPTOPS, SERVERS, CopyTimes, MachineHabits, slot_loss

USUAL = {True: SERVERS, False: LAPTOPS}  # by whether a machine is stable
WEIGHT = 3  # absences' worth of the usual figures beside what was seen
VANISHED_DAYS = 30.0  # for so long vanished members are remembered
KEEPERS = 15  # share what a dead machine held
DIGITS = 2  # of what goes into the model, so that it is asked anew only where something changed


@dataclass(slots=True)
class SeenHabits:
    """How long machines of one kind were live and away, all together, while this node watched, and how often they fell
    silent."""

    live_s: float = 0.0
    away_s: float = 0.0
    absences: int = 0

    def among(self, usual: MachineHabits) -> MachineHabits:
        """Return the habits of the kind, by what was seen and what is usual."""
        count = self.absences + WEIGHT
        awake_s = (self.live_s + WEIGHT * usual.awake_s) / count
        away_s = (self.away_s + WEIGHT * usual.away_s) / count
        return replace(usual, awake_s=_rounded(awake_s), away_s=_rounded(away_s))


@dataclass(slots=True)
class HabitWatch:
    """Adds up what is seen of the members of each kind."""

    seen: dict[bool, SeenHabits] = field(default_factory=lambda: {True: SeenHabits(), False: SeenHabits()})
    _live: Mapping[NodeId, bool] = field(default_factory=dict)  # and whether each is stable
    _at: float | None = None

    def refresh(self, now: float, live: Mapping[NodeId, bool], away: Mapping[NodeId, bool]) -> None:
        """Take note of who is live and who is away now, each with whether it is stable."""
        for kind in (True, False) if self._at is not None else ():
            seen, passed_s = self.seen[kind], now - (self._at or 0.0)
            seen.live_s += passed_s * sum(is_stable == kind for is_stable in live.values())
            seen.away_s += passed_s * sum(is_stable == kind for is_stable in away.values())
            seen.absences += sum(away[peer] == kind for peer in away.keys() & self._live.keys())
        self._live, self._at = live, now

    def stood_still(self) -> None:
        """Take note that this node slept, and saw nothing meanwhile."""
        self._live, self._at = {}, None


def departures(vanished: int, machines: Mapping[bool, int]) -> float:
    """Return how many times as many machines leave for good as is usual, 1 at least. `vanished`: within 30 days;
    `machines`: members of each kind."""
    usual = sum(count * USUAL[kind].gone_a_day for kind, count in machines.items()) * VANISHED_DAYS
    return max(1.0, (vanished + WEIGHT) / (usual + WEIGHT))


def copy_times(held_bytes: int, others: int, urgent: tuple[float, float], usual: tuple[float, float]) -> CopyTimes:
    """Return how long copies take of what a machine like this one held, each of `others` taking its part. `urgent` and
    `usual`: seconds until they begin, and bytes a second."""
    part = held_bytes / max(1, min(KEEPERS, others))
    return CopyTimes(*(_rounded(wait_s + part / bytes_s) for wait_s, bytes_s in (urgent, usual)))


def yearly_loss(owners: Counter[tuple[int, int]], habits: Mapping[bool, MachineHabits], times: CopyTimes) -> float:
    """Return the mean chance of the slots to be lost within a year. `owners`: how many slots have so many stable owners
    and so many others."""
    total = 0.0
    for (stable, others), slots in owners.items():
        total += slots * slot_loss(((habits[True], stable), (habits[False], others)), times).probability
    return total / owners.total() if owners else 0.0


def habits_of(watch: HabitWatch, factor: float, expected_s: Mapping[bool, float]) -> dict[bool, MachineHabits]:
    """Return the habits of both kinds. `factor`: how many times as many leave as is usual; `expected_s`: how long a
    silent machine counts as a copy."""
    found = {}
    for kind, usual in USUAL.items():
        gone = _rounded(usual.gone_a_day * factor)
        expected = _rounded(expected_s.get(kind, usual.expected_s))
        found[kind] = replace(watch.seen[kind].among(usual), gone_a_day=gone, expected_s=expected)
    return found


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS - 1}e}")
