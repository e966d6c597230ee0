"""Sixteen machines that come and go, and the copies of some slots among them, on virtual time.

A node's own code decides the owners, which silences count, and when a machine begins to copy. Each machine has a
`Placement`, an `Absences` and a `Durability` of its own, which run while it is awake. The network is left out: all see
the same members, and a node that falls silent is known to be silent at once. A machine that leaves for good is replaced
by a new one when its grace is over. A slot that is lost begins anew, and is counted.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from math import inf
from random import Random

from benchmarks.durability.loss_model import DAY_S, LAPTOPS, SERVERS, YEAR_S, CopyTimes, MachineHabits
from dht.keys import NodeId, Slot
from dht.ownership.failure_domains import FailureDomains
from dht.ownership.rendezvous import NEAREST, Placement
from store.repair.absences import Absences
from store.repair.copies_by_need import Durability, SlotCopies

SLOT_BITS = 4
SLOTS = [Slot(number) for number in range(1 << SLOT_BITS)]
LOOK_S = 3600.0  # between two looks where nothing happens
SOON_S = 60.0  # and one so long after each thing that happens
GRACES_S = {True: 12 * 3600.0, False: 72 * 3600.0}  # of a strategy's defaults, by whether a machine is stable
WEEK_DAYS = 7
JITTER = 0.25  # absences, and a laptop's days, are longer or shorter by so much


@dataclass(frozen=True, slots=True)
class WorkingWeek:
    """When laptops are used: for so long on each working day, on so many days of seven."""

    awake_s: float
    days: int
    spread_s: float = DAY_S  # within which they all begin

    def is_awake(self, at: float) -> bool:
        """Tell whether a laptop is used so many seconds after the first Monday's work begins; before, all days are
        working days."""
        return at % DAY_S < self.awake_s and (at < 0 or at // DAY_S % WEEK_DAYS < self.days)

    def span_s(self, at: float) -> float:
        """Return the seconds until that changes."""
        if self.is_awake(at):
            return self.awake_s - at % DAY_S
        day = at // DAY_S + 1
        while day >= 0 and day % WEEK_DAYS >= self.days:
            day += 1
        return day * DAY_S - at


@dataclass(frozen=True, slots=True)
class TrialPlan:
    """The conditions of a trial.
    `stable`: machines of the sixteen that are servers.
    `hardship`: the factor by which more machines leave for good than the habits say.
    `by_need`: whether copies of silent owners' slots are made before their grace is over.
    `week`: when laptops are used, each from an hour of its own on; None: by chance."""

    seed: int
    days: float
    replicas: int
    stable: int
    times: CopyTimes
    hardship: float = 1.0
    by_need: bool = True
    week: WorkingWeek | None = None


@dataclass(frozen=True, slots=True)
class TrialResult:
    """The results of a trial. `made`: copies; `copied`: those made in a year for each that is to be there."""

    lost: int
    slot_years: float
    made: int
    copied: float


@dataclass(eq=False, slots=True)
class Machine:
    """One machine, from its coming to its leaving for good at `gone_at`."""

    id: NodeId
    is_stable: bool
    habits: MachineHabits
    gone_at: float
    absences: Absences
    durability: Durability
    later_s: float = 0.0  # its days begin so long after the first one's
    is_live: bool = True
    last_sign: float = 0.0
    has: set[Slot] = field(default_factory=set)
    said: frozenset[Slot] = frozenset()  # of it, when it was heard last
    copying: dict[Slot, float] = field(default_factory=dict)  # and when each will be here


class Neighbourhood:
    """Holds the machines and the slots of one trial."""

    def __init__(self, plan: TrialPlan) -> None:
        self._plan, self._rng = plan, Random(f"durability {plan.seed}")
        self._now, self._lost, self._made, self._lost_s = 0.0, 0, 0, 0.0
        self._lost_at: dict[Slot, float] = {}  # slots that nobody has
        self._machines: dict[NodeId, Machine] = {}
        self._queue: list[tuple[float, int, NodeId]] = []
        self._due = 0
        for number in range(NEAREST):
            self._come(is_stable=number < plan.stable, is_first=True)
        self._place()
        for slot in SLOTS:
            self._begin(slot)
        for machine in self._machines.values():
            machine.said = frozenset(machine.has)  # those that are away just now said so before

    def run(self) -> TrialResult:
        """Let the days pass."""
        end, look_at = self._plan.days * DAY_S, LOOK_S
        while (now := min(self._queue[0][0], look_at)) < end:
            self._now = now
            if now < look_at:
                peer = heappop(self._queue)[2]
                if (machine := self._machines.get(peer)) is not None:
                    self._turn(machine)
                look_at = now + SOON_S
            else:
                look_at = now + LOOK_S
            self._refresh()
        years = (len(SLOTS) * self._now - self._lost_s) / YEAR_S
        return TrialResult(self._lost, years, self._made, self._made / (self._plan.replicas * years))

    def _come(self, *, is_stable: bool, is_first: bool = False) -> None:
        """A machine begins; of the first ones some are away."""
        rng, habits = self._rng, SERVERS if is_stable else LAPTOPS
        habits = replace(habits, gone_a_day=habits.gone_a_day * self._plan.hardship)
        peer, absences = NodeId(rng.randbytes(20)), Absences()
        gone_at = self._now + rng.expovariate(habits.gone_a_day / DAY_S) if habits.gone_a_day else inf
        machine = Machine(peer, is_stable, habits, gone_at, absences, Durability(peer, absences), last_sign=self._now)
        self._machines[peer] = machine
        machine.is_live = not is_first or rng.random() < habits.awake_s / (habits.awake_s + habits.away_s)
        if self._plan.week is not None:
            machine.later_s = len(self._machines) * self._plan.week.spread_s / NEAREST
            machine.is_live = is_stable or self._plan.week.is_awake(self._now - machine.later_s)
            is_first = False
        span_s = self._span_s(machine) * (rng.random() if is_first else 1.0)
        self._later(min(span_s, max(1.0, gone_at - self._now)), peer)

    def _span_s(self, machine: Machine) -> float:
        """How long it is awake or away this time."""
        if self._plan.week is not None:
            return inf if machine.is_stable else self._plan.week.span_s(self._now - machine.later_s)
        mean_s = machine.habits.awake_s if machine.is_live else machine.habits.away_s
        if machine.is_stable and machine.is_live:
            return self._rng.expovariate(1 / mean_s)
        return mean_s * self._rng.uniform(1 - JITTER, 1 + JITTER)

    def _later(self, after_s: float, peer: NodeId) -> None:
        self._due += 1
        heappush(self._queue, (self._now + after_s, self._due, peer))

    def _turn(self, machine: Machine) -> None:
        """A machine falls silent or comes back, leaves for good, or has been gone for as long as its grace is."""
        now, grace_s = self._now, GRACES_S[machine.is_stable]
        if machine.is_live:
            machine.last_sign, machine.said = now, frozenset(machine.has)
        if now >= machine.gone_at:
            machine.is_live = False
            machine.has.clear()
            machine.copying.clear()
            if now < machine.last_sign + grace_s:
                return self._later(machine.last_sign + grace_s - now, machine.id)
            del self._machines[machine.id]
            self._come(is_stable=machine.is_stable)
            return self._place()
        machine.is_live = not machine.is_live
        machine.copying.clear()
        if machine.is_live:
            machine.absences.stood_still(now, now - machine.last_sign)
            machine.last_sign = now
        return self._later(min(self._span_s(machine), machine.gone_at - now), machine.id)

    def _place(self) -> None:
        domains = {m.id: FailureDomains(is_stable=m.is_stable) for m in self._machines.values()}
        self._placement = Placement(sorted(self._machines), SLOT_BITS, self._plan.replicas, domains)

    def _begin(self, slot: Slot) -> bool:
        """Put a slot's copies with all its owners, unless one is gone."""
        owners = [self._machines[owner] for owner in self._placement.owners(slot)]
        if any(self._now >= owner.gone_at for owner in owners):
            return False
        for owner in owners:
            owner.has.add(slot)
        return True

    def _refresh(self) -> None:
        """Copies end and begin, and what nobody has any more is lost."""
        machines, now = self._machines, self._now
        live = frozenset(m.id for m in machines.values() if m.is_live)
        holders = {slot: [m for m in machines.values() if slot in m.has] for slot in SLOTS}
        for slot in [slot for slot, held in holders.items() if not held and slot not in self._lost_at]:
            self._lost, self._lost_at[slot] = self._lost + 1, now
        for slot in list(self._lost_at):
            if self._begin(slot):
                self._lost_s += now - self._lost_at.pop(slot)
                holders[slot] = [m for m in machines.values() if slot in m.has]
        copies = {slot: self._copies(slot, held, live) for slot, held in holders.items()}
        for machine in machines.values():
            if machine.is_live:
                self._copy(machine, copies, live)
        for slot, each in copies.items():
            if all(slot in machines[owner].has for owner in each.owners):
                for machine in holders[slot]:
                    if machine.is_live and machine.id not in each.owners + each.keepers:
                        machine.has.discard(slot)

    def _copies(self, slot: Slot, held: Sequence[Machine], live: frozenset[NodeId]) -> SlotCopies:
        """One slot as everybody sees it. A machine that is gone for good has reported before what lay there."""
        owners = self._placement.owners(slot)
        holders = tuple(m.id for m in held if m.is_live)
        silent = {
            peer: self._machines[peer].is_stable
            for peer in self._machines
            if peer not in live and slot in self._machines[peer].said
        }
        keepers = (
            self._placement.keepers(slot, live.__contains__) if len(live.intersection(owners)) < len(owners) else ()
        )
        return SlotCopies(owners, holders, silent, keepers)

    def _copy(self, machine: Machine, copies: dict[Slot, SlotCopies], live: frozenset[NodeId]) -> None:
        """One machine that is awake makes the copies that are its own to make."""
        now, times = self._now, self._plan.times
        for slot in [slot for slot, done_at in machine.copying.items() if now >= done_at]:
            del machine.copying[slot]
            if copies[slot].holders:
                machine.has.add(slot)
                self._made += 1
        wanted = {slot for slot, each in copies.items() if machine.id in each.owners}
        if self._plan.by_need:
            others = [peer for peer in self._machines if peer != machine.id]
            machine.absences.refresh(
                now,
                others,
                live - {machine.id},
                lambda peer: now - self._machines[peer].last_sign,
                lambda peer: self._machines[peer].is_stable,
            )
            kept = [(slot, each) for slot, each in copies.items() if machine.id in each.keepers]
            wanted |= machine.durability.refresh(now, kept).keys()
        for slot in wanted - machine.has - machine.copying.keys():
            if holders := copies[slot].holders:
                machine.copying[slot] = now + (times.urgent_s if len(holders) == 1 else times.usual_s)
        for slot in machine.copying.keys() - wanted:
            del machine.copying[slot]


def trials(plan: TrialPlan, seeds: Sequence[int]) -> Iterator[TrialResult]:
    """Yield what comes of a plan by each seed."""
    for seed in seeds:
        yield Neighbourhood(replace(plan, seed=seed)).run()
