"""Models how long a query takes and what it costs in networks of up to 3,000 nodes, and what breaks.

Pure, but for chance by a seed. Each peer answers after a round trip and its work, and the asker works on each answer in
turn. Slots of silent peers are asked of others. A round ends with its last slot.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.figures import Row, row
from benchmarks.query.goals import ONE_ROUND_AT_REST
from benchmarks.scale.fan_out import cell_peers, covered_share, peers_planned
from benchmarks.scale.light_network import SLOW_S
from benchmarks.scale.strongest_terms import CELLS
from dht.audit.sampling import SHARE
from dht.membership.member_table import MEMBER_LIMIT
from index.asking.scatter_gather import EARLY_S
from node.extras.simulation.delays import RTT_S, SIGMA
from node.extras.simulation.observations import REPLICAS

SIZES = (50, 300, 1_000, 3_000)
CHECKED, QUICK_CHECKED = (100, 300, 1_000), (100,)
MODEL_ERROR = 0.15  # of a figure that both the model and a node's plan give
QUERIES, DRAWN = 4_000, 1_000_000
SLOW_SHARE = 0.02  # of the peers
# `docs/scale.md`: five nodes took 28 ms of CPU for a query of 6.3 questions, 1.6 times as much as on a quiet machine
BUSY, SHOWN_CPU_MS = 1.6, 2.0
QUESTION_CPU_MS = (28.0 / BUSY - SHOWN_CPU_MS) / 6.3
ASKER_SHARE = 0.25  # of it at the asker: it packs, checks and merges; the other part is the peer's
FETCH_PEERS = 4  # of whom the documents of a page of results are asked
KNOWN_SHARE = ONE_ROUND_AT_REST  # of the queries have only words whose sums the asker remembers
CORE_SHARE = 0.05  # of each node's core for others' queries
DEADLINE_MS = 1_500.0  # a reader's


@dataclass(frozen=True, slots=True)
class Way:
    """How a network is asked. `copies`: nodes that answer for each slot; `cells`: of 64 that are asked; `check_share`:
    of a peer's answers, checked before the asker answers."""

    copies: int = REPLICAS
    cells: int = CELLS
    check_share: float = SHARE

    def __str__(self) -> str:
        copies = f", {self.copies} copies" * (self.copies != REPLICAS)
        cells = f", {self.cells} of {CELLS} cells asked" * (self.cells != CELLS)
        return copies + cells + ", checked later" * (not self.check_share)


TODAY, LATER = Way(), Way(check_share=0.0)
MORE_COPIES, FEW_CELLS = replace(LATER, copies=12), replace(LATER, cells=4)


@dataclass(frozen=True, slots=True)
class QueryCost:
    """The cost of a query. `peers`: of a round; `rounds`: of a query of known words."""

    peers: int
    rounds: float
    p50_ms: float
    p95_ms: float
    cpu_s: float


@cache
def cost_of(nodes: int, way: Way = TODAY, slow_share: float = 0.0) -> QueryCost:
    """Return the cost of asking a cover of all slots, or of those of some cells."""
    whole = covered_share(nodes, 1, way.copies) * nodes
    peers = round(whole if way.cells == CELLS else min(whole, way.cells * cell_peers(nodes, CELLS)))
    rng, times = np.random.default_rng(1), _answer_ms(slow_share)
    alone = (1 - way.check_share) ** peers
    rounds = _rounds(rng, alone)
    took = _slowest_ms(rng, times, FETCH_PEERS) + SHOWN_CPU_MS
    for number in range(3):
        took += _round_ms(rng, times, peers) * (rounds > number)
    p50, p95 = np.quantile(took, (0.5, 0.95))
    cpu_s = (rounds.mean() * peers * QUESTION_CPU_MS + SHOWN_CPU_MS) / 1000
    return QueryCost(peers, 3 - 2 * alone, float(p50), float(p95), float(cpu_s))


def _rounds(rng: np.random.Generator, alone: float) -> NDArray[np.int64]:
    """The rounds of queries: two; one where all words are known. Where a peer's answer is due to be checked then, it is
    three: the guess, all sums, the best by these. `alone`: the share in which no answer is due."""
    known, is_checked = rng.random(QUERIES) < KNOWN_SHARE, rng.random(QUERIES) > alone
    found: NDArray[np.int64] = np.where(known, np.where(is_checked, 3, 1), 2)
    return found


def rows(*, is_quick: bool) -> list[Row]:
    """Return the figures of all sizes, the sizes at which something breaks, and the model's error."""
    found = [each for nodes in SIZES for each in _of_size(nodes)]
    found += [each for way in (LATER, MORE_COPIES, FEW_CELLS) for nodes in SIZES for each in _of_way(nodes, way)]
    return [*found, *breaks(), *_checks(QUICK_CHECKED if is_quick else CHECKED)]


def _of_size(nodes: int) -> Iterator[Row]:
    yield from _of_way(nodes, TODAY)
    what, cost = f"{nodes:,} nodes", cost_of(nodes)
    yield row(f"{what}: rounds of a query of known words", [cost.rounds], "")
    yield row(f"{what}: queries a second, 5 % of each core", [nodes * CORE_SHARE / cost.cpu_s], "/s")


def _of_way(nodes: int, way: Way) -> Iterator[Row]:
    what, cost, slow = f"{nodes:,} nodes{way}", cost_of(nodes, way), cost_of(nodes, way, SLOW_SHARE)
    yield row(f"{what}: peers of a round", [float(cost.peers)], "")
    for name, ours, theirs in (("p50", cost.p50_ms, slow.p50_ms), ("p95", cost.p95_ms, slow.p95_ms)):
        yield row(f"{what}: a query, {name} ({SLOW_SHARE:.0%} slow)", [ours], "ms", peer=[theirs])
    yield row(f"{what}: CPU of a query, all nodes", [cost.cpu_s], "s")


def breaks() -> list[Row]:
    """Return the sizes at which something no longer holds, the least first."""
    limits: dict[str, Callable[[int], bool]] = {
        "one round and checks by lot cost as much as two rounds": lambda n: cost_of(n).rounds > 2,
        "an asker knows no owner of some slot: no answer is whole": lambda n: known_owner_share(n) < 1,
    }
    for way in (TODAY, LATER, MORE_COPIES):
        for slow in (0.0, SLOW_SHARE):
            what = f"p95 of a query is above {DEADLINE_MS:,.0f} ms{way}, {slow:.0%} slow"
            limits[what] = partial(_is_late, way, slow)
    found = [(_first(is_broken), what) for what, is_broken in limits.items()]
    return [row(f"breaks: {what}", [float(nodes)], "nodes") for nodes, what in sorted(found)]


def known_owner_share(nodes: float) -> float:
    """Return the share of all slots of which an asker knows an owner. It knows `MEMBER_LIMIT` members at most, drawn by
    chance."""
    unknown = 1 - min(nodes - 1, MEMBER_LIMIT) / max(nodes - 1, 1)
    return 1 - unknown**REPLICAS


def _is_late(way: Way, slow_share: float, nodes: int) -> bool:
    return cost_of(nodes, way, slow_share).p95_ms > DEADLINE_MS


def _first(is_broken: Callable[[int], bool]) -> int:
    """The least of some sizes, 5 % apart, at which something is broken, as it is at all larger ones."""
    sizes = [int(20.0 * 1.05**step) for step in range(120)]
    return sizes[bisect_left(sizes, True, key=is_broken)]


def _checks(sizes: tuple[int, ...]) -> list[Row]:
    """The model's number of peers beside that of a node's own plan."""
    found, errors = list[Row](), list[float]()
    for nodes in sizes:
        modelled, planned = float(cost_of(nodes).peers), float(peers_planned(nodes))
        errors.append(abs(modelled / planned - 1))
        found.append(row(f"peers of a round, {nodes:,} nodes: model (a node's plan)", [modelled], "", peer=[planned]))
    return [*found, row("the model's greatest error", [max(errors)], "of it", goal=MODEL_ERROR)]


def _round_ms(rng: np.random.Generator, times: NDArray[np.float64], peers: int) -> NDArray[np.float64]:
    """The time of rounds over so many peers: the slowest answer, one peer's work, and the asker's on all answers."""
    return _slowest_ms(rng, times, peers) + QUESTION_CPU_MS * (1 - ASKER_SHARE + ASKER_SHARE * peers)


def _slowest_ms(rng: np.random.Generator, times: NDArray[np.float64], peers: int) -> NDArray[np.float64]:
    """The slowest of so many answers, drawn by its quantile."""
    places = rng.random(QUERIES) ** (1 / peers) * len(times)
    found: NDArray[np.float64] = times[places.astype(np.int64)]
    return found


@cache
def _answer_ms(slow_share: float) -> NDArray[np.float64]:
    """Times until the slots of a peer are answered, ascending: by it, or by another that is asked when 95 of 100 peers
    have answered."""
    rng = np.random.default_rng(1)
    one, other = (
        RTT_S * np.exp(SIGMA * rng.standard_normal(DRAWN)) + SLOW_S * (rng.random(DRAWN) < slow_share) for _ in "ab"
    )
    hedge_s = max(EARLY_S, float(np.quantile(one, 0.95)))
    found: NDArray[np.float64] = np.sort(1000 * np.minimum(one, hedge_s + other))
    return found
