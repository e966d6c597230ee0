"""A slot's part in the computation of all ranks, as its holder does it: sweep, tell other slots, hear them.

Pure: messages in, messages out; who sends them, and when, is not decided here. All slots together come to the ranks
that one node would compute of the whole, whatever is lost, doubled or late on the way, because what they tell is
absolute and each sweep takes away a share of what is wrong (Chazan & Miranker 1969). Values are in units of an average
page's rank, so that nobody needs to know how many pages there are. They begin at what a page has without links and
rise, so that no honest slot gives more than it may (ledger).

Who links to a page that leads elsewhere has to be told where, and gives to its end from then on. Until it does, what it
gives to such a page is missing twice, once where it is and once where it belongs; so is what the end has of itself, if
nobody else links to it.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from index.rank.inflow import Inflow, InflowAck, InflowMessage, Inflows
from index.rank.link_graph import LinkGraph
from index.rank.outflow import Outflow
from index.rank.page_number import Numbers, names_of
from index.rank.page_rank import ALPHA, BASE, Sweeper, error_share

SWEEPS = 3  # of a round at most: more would sharpen what the next messages change
STILL = 1e-8  # of what its pages have without links: a slot that lacks no more does not sweep
UNTOLD = 1e-7  # the same for what is not told: both together leave ranks wrong by less than a millionth
HALF = (
    0.5  # of the mean that values moved by: what moved by less waits; .1 takes a sixth more bytes, 1 half more rounds
)
MOST_ENTRIES = 10_000_000  # of all sources: 120 MB


@dataclass(frozen=True, slots=True, eq=False)
class RankState:
    """What a holder leaves to the next one. `gave_to`: slots that may remember something of this one."""

    numbers: Numbers
    values: NDArray[np.float64]
    inflows: Mapping[int, Inflow]
    gave_to: frozenset[int]


@dataclass(frozen=True, slots=True)
class SlotStatement:
    """What a holder says of its slot, so that anybody can add up how far the network is from its ranks, and what each
    slot may give.

    `missing`: the most that its equations lacked, and that others had not heard, at any time from `from_at` to `at`;
    `refused`: what others give beyond their limits, which is missing, too, unless they lie; `given`: to each other
    slot.
    """

    slot: int
    epoch: int
    from_at: float
    at: float
    pages: int
    mass: float
    missing: float
    refused: float
    given: Mapping[int, float]


def error_of(statements: Iterable[SlotStatement], clocks_s: float = 0.0) -> float:
    """Return by how much the ranks of the whole network are wrong at most, by one statement of every slot; infinite
    where there was no instant that all of them speak of, however their clocks differ, by `clocks_s` at most."""
    said = list(statements)
    if not said or max(each.from_at for each in said) + clocks_s > min(each.at for each in said):
        return np.inf
    return error_share(sum(each.missing + each.refused for each in said), sum(each.mass for each in said))


class SlotRanks:
    """Computes the ranks of one slot's pages. `epoch`: of the lease, so that each holder's messages are newer than its
    predecessor's; `state`: what that one left, of whatever age."""

    def __init__(
        self,
        graph: LinkGraph,
        slot: int,
        epoch: int,
        now: float,
        state: RankState | None = None,
        most_entries: int = MOST_ENTRIES,
    ) -> None:
        self.slot, self.epoch = slot, epoch
        self._most_entries = most_entries
        self._lacking, self._worst, self._from_at = np.inf, np.inf, now
        nothing = np.empty(0, np.uint64)  # whoever was given something hears that it is given no more
        self._outflows = {other: Outflow(slot, other, epoch, nothing) for other in (state.gave_to if state else ())}
        self._take(graph, state, now)

    def relink(self, graph: LinkGraph, now: float) -> None:
        """Go on with other links under the same lease: what others were told stays told."""
        self._take(graph, self.state(), now)

    def step(self) -> list[InflowMessage]:
        """Sweep until the slot itself lacks less than others do, and return what they have to hear; one that was
        returned before is returned again until it is acknowledged."""
        base = self._base()
        still = self._still(base)
        for _ in range(SWEEPS):
            if self._lacking <= still:
                break
            self._lacking = ALPHA * self._sweeper.sweep(self.values, base)
            border = self._graph.border
            self._given = self._sweeper.given_to(self.values, border.starts, border.sources)
            if self._lacking <= self._unsent():
                break
        self._sweeper.finish(self.values, base)
        entries = max(len(self._given), 1)
        least = max(UNTOLD * BASE * len(base), HALF * self._unsent()) / entries
        found = [outflow.message(self._given_to(other), least) for other, outflow in self._outflows.items()]
        self._owed = {other: outflow.owed(self._given_to(other)) for other, outflow in self._outflows.items()}
        self._note()
        return [message for message in found if message is not None]

    def receive(self, message: InflowMessage, limit: float) -> InflowAck:
        """Take a message where it is news, and say what is there; raises BadMessage where it is none. `limit`: what its
        source may give to this slot."""
        givers = int((self._inflows.givers > 0).sum())
        self._lacking += self._inflows.take(message, limit)
        self._lacking += BASE * abs(int((self._inflows.givers > 0).sum()) - givers)  # pages by others' links alone
        self._note()
        return self.ack_for(message.source)

    def limit(self, source: int, limit: float) -> float:
        """Judge what a slot gives by a newer limit; return by how much that moved what is given."""
        if moved := self._inflows.limit(source, limit):
            self._lacking += moved
            self._note()
        return moved

    def ack_for(self, source: int) -> InflowAck:
        """Return what is there of a source: an answer to its messages, and what a new holder tells all others."""
        have = self._inflows.heard_of(source)
        return InflowAck(source, self.slot, self.epoch, have.epoch, have.sequence)

    def acknowledge(self, ack: InflowAck) -> None:
        """Note what another slot's holder has of this slot."""
        if (outflow := self._outflows.get(ack.target)) is not None:
            outflow.acknowledge(ack)
            self._owed[ack.target] = outflow.owed(self._given_to(ack.target))
            self._note()

    @property
    def is_superseded(self) -> bool:
        """Whether another slot has heard a later holder of this one: the lease is lost."""
        return any(outflow.is_superseded for outflow in self._outflows.values())

    @property
    def is_still(self) -> bool:
        """Whether a sweep would move next to nothing."""
        return self._lacking <= self._still(self._base())

    @property
    def sources(self) -> tuple[int, ...]:
        """The slots of which anything was heard."""
        return self._inflows.sources

    @property
    def targets(self) -> Collection[int]:
        """The slots that are told anything."""
        return self._outflows.keys()

    @property
    def pages(self) -> int:
        """How many pages have a rank here: documents, and what is linked to."""
        return int((self._base() > 0).sum())

    def value(self, page: int) -> float | None:
        """Return what a page has, by its number; None where it is not known, or leads elsewhere."""
        places = np.flatnonzero((self.numbers == np.uint64(page)) & ~self._graph.is_alias)
        return float(self.values[places[0]]) if len(places) else None

    def misled(self) -> dict[int, list[int]]:
        """Return which slots give to pages that lead elsewhere, and to which, by their numbers."""
        if not self._misdirected():
            return {}
        numbers = self.numbers[self._graph.is_alias]
        by_name = dict(zip(names_of(numbers).tolist(), numbers.tolist(), strict=True))
        found = self._inflows.givers_to(names_of(numbers))
        return {source: [by_name[name] for name in names.tolist()] for source, names in found.items()}

    @property
    def entries(self) -> int:
        """How many values of other slots lie here."""
        return self._inflows.entries

    @property
    def unknown(self) -> int:
        """How many pages others give to that the graph does not know."""
        return self._inflows.unknown

    def given(self) -> dict[int, float]:
        """Return how much this slot gives to each other one."""
        return {other: float(self._given_to(other).sum()) for other in self._outflows}

    def statement(self, now: float) -> SlotStatement:
        """Return what this slot says since its last statement."""
        found = SlotStatement(
            slot=self.slot,
            epoch=self.epoch,
            from_at=self._from_at,
            at=now,
            pages=self.pages,
            mass=float(self.values.sum()),
            missing=self._worst,
            refused=self._inflows.refused,
            given=self.given(),
        )
        self._from_at, self._worst = now, self._missing()
        return found

    def state(self) -> RankState:
        """Return what the next holder goes on from."""
        return RankState(self.numbers, self.values.copy(), self._inflows.heard(), frozenset(self._outflows))

    def _take(self, graph: LinkGraph, state: RankState | None, now: float) -> None:
        self.numbers, self._graph, self._sweeper = graph.numbers, graph, Sweeper(graph)
        self._inflows = Inflows(names_of(graph.numbers), self._most_entries)
        self.values = np.where(graph.is_own, BASE, 0.0)
        border = graph.border
        begins = {int(each): np.searchsorted(border.slots, (each, each + 1)) for each in np.unique(border.slots)}
        self._begins = {other: np.zeros(2, np.int64) for other in self._outflows} | begins
        for other, (begin, end) in self._begins.items():
            names = names_of(border.targets[begin:end])
            if (outflow := self._outflows.get(other)) is not None:
                outflow.relink(names)
            else:
                self._outflows[other] = Outflow(self.slot, other, self.epoch, names)
        if state is not None:
            self._resume(state)
        self._lacking = self._worst = np.inf  # what the equations lack at most: not known before the first sweep
        self._given = self._sweeper.given_to(self.values, border.starts, border.sources)
        self._owed = {other: outflow.owed(self._given_to(other)) for other, outflow in self._outflows.items()}
        self._from_at = now

    def _resume(self, state: RankState) -> None:
        for source, inflow in state.inflows.items():
            self._inflows.put(source, inflow, np.inf)  # it was limited when it came, and is at the next message
        order = np.argsort(state.numbers)
        places = np.searchsorted(state.numbers, self.numbers, sorter=order)
        places = order[np.minimum(places, len(order) - 1)] if len(order) else places[:0]
        if len(places):
            known = state.numbers[places] == self.numbers
            self.values[known] = state.values[places[known]]

    def _base(self) -> NDArray[np.float64]:
        is_page = self._graph.is_own | (self._inflows.givers > 0)
        base: NDArray[np.float64] = np.where(is_page, BASE, 0.0) + self._inflows.total
        base[self._graph.is_alias] = 0.0
        return base

    def _misdirected(self) -> float:
        """What others give to pages that lead elsewhere."""
        return float(self._inflows.total[self._graph.is_alias].sum())

    def _still(self, base: NDArray[np.float64]) -> float:
        return STILL * BASE * max(int((base > 0).sum()), 1)

    def _given_to(self, other: int) -> NDArray[np.float64]:
        begin, end = self._begins[other]
        return self._given[begin:end]

    def _unsent(self) -> float:
        return sum(outflow.unsent(self._given_to(other)) for other, outflow in self._outflows.items())

    def _missing(self) -> float:
        misled = int((self._inflows.givers[self._graph.is_alias] > 0).sum())
        return self._lacking + sum(self._owed.values()) + 2 * self._misdirected() + BASE * misled

    def _note(self) -> None:
        self._worst = max(self._worst, self._missing())
