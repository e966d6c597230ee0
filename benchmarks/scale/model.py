"""Models a query that asks all slots: how long it takes and costs in networks of up to 3,000 nodes, and what breaks.

Pure, but for chance by a seed. Each peer answers after a round trip and its work, and the asker works on each answer in
turn. A round ends with its slowest peer; no silent peer is replaced.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from math import exp

import numpy as np
from numpy.typing import NDArray

from benchmarks.figures import Row, row
from benchmarks.scale.fan_out import ask_some, covered_share, peers_planned, slot_bits
from dht.membership.member_table import MEMBER_LIMIT
from node.extras.simulation.delays import RTT_S, SIGMA
from node.extras.simulation.observations import REPLICAS

SIZES = (100, 300, 1_000, 3_000)
CHECKED, QUICK_CHECKED = (100, 300, 1_000), (100,)
MODEL_ERROR = 0.15  # of a figure that both the model and a node's plan give
QUERIES = 4_000
SHOWN_CPU_MS = 8.0  # ten documents fetched, scored again and cut into snippets
# `docs/search.md`: a typed query of five nodes costs 25 ms of CPU over all, by 6.3 questions and what is shown
QUESTION_CPU_MS = (25.0 - SHOWN_CPU_MS) / 6.3
ASKER_SHARE = 0.25  # of it at the asker: it packs, checks and merges; the other part is the peer's
FETCH_PEERS = 4  # of whom the documents of a page of results are asked
SLOW_SHARE = 0.01  # of the peers
CORE_SHARE = 0.05  # of each node's core for others' queries
MOST_CPU_S, MOST_P95_MS, DEADLINE_MS = 0.3, 800.0, 1_500.0
SOME_SLOTS, SOME_NODES = 32, 1_000  # by which quick owners are compared with others


@dataclass(frozen=True, slots=True)
class QueryCost:
    """The cost of a query. `fast`: the share of queries without a slow peer."""

    peers: int
    p50_ms: float
    p95_ms: float
    cpu_s: float
    fast: float


@cache
def cost_of(nodes: int) -> QueryCost:
    """Return the cost of two rounds over a cover of all slots."""
    peers, rng = round(covered_share(nodes, 1) * nodes), np.random.default_rng(1)
    took = _round_ms(rng, peers) + _round_ms(rng, peers) + _slowest_ms(rng, FETCH_PEERS) + SHOWN_CPU_MS
    p50, p95 = np.quantile(took, (0.5, 0.95))
    cpu_s = (2 * peers * QUESTION_CPU_MS + SHOWN_CPU_MS) / 1000
    return QueryCost(peers, float(p50), float(p95), cpu_s, (1 - SLOW_SHARE) ** peers)


def rows(*, is_quick: bool) -> list[Row]:
    """Return the figures of all sizes, the sizes at which something breaks, and the model's error."""
    found = [each for nodes in SIZES for each in _of_size(nodes)]
    known, blind = (ask_some(SOME_NODES, SOME_SLOTS, 1, is_known=is_known) for is_known in (True, False))
    for share in (0.5, 0.95):
        what = f"{SOME_SLOTS} slots of {SOME_NODES:,} nodes, slowest answer, p{share * 100:.0f}: quick owners (any)"
        ours, theirs = (float(np.quantile(each.took_ms, share)) for each in (known, blind))
        found.append(row(what, [ours], "ms", peer=[theirs]))
    found += [
        row(
            f"{silent:.0%} of the peers silent: slots that answer, one try (two)",
            [1 - silent],
            "",
            peer=[1 - silent**2],
        )
        for silent in (0.01, 0.05, 0.1, 0.3)
    ]
    return [*found, *breaks(), *_checks(QUICK_CHECKED if is_quick else CHECKED)]


def _of_size(nodes: int) -> Iterator[Row]:
    what, cost = f"{nodes:,} nodes", cost_of(nodes)
    yield row(f"{what}: peers of a round", [float(cost.peers)], "")
    yield row(f"{what}: a query, p50", [cost.p50_ms], "ms")
    yield row(f"{what}: a query, p95", [cost.p95_ms], "ms")
    yield row(f"{what}: CPU of a query, all nodes", [cost.cpu_s], "s")
    yield row(f"{what}: queries a second, 5 % of each core", [nodes * CORE_SHARE / cost.cpu_s], "/s")
    yield row(f"{what}: queries without a slow peer, 1 % are slow", [cost.fast], "")


def breaks() -> list[Row]:
    """Return the sizes at which something no longer holds, the least first."""
    limits: dict[str, Callable[[int], bool]] = {
        f"a query costs more than {MOST_CPU_S} s of CPU": lambda n: cost_of(n).cpu_s > MOST_CPU_S,
        f"p95 of a query is above {MOST_P95_MS:.0f} ms": lambda n: cost_of(n).p95_ms > MOST_P95_MS,
        f"p95 of a query is above its deadline of {DEADLINE_MS:.0f} ms": lambda n: cost_of(n).p95_ms > DEADLINE_MS,
        "an asker knows no owner of some slot: no answer is whole": lambda n: known_owner_share(n) < 1,
        "an asker knows an owner of fewer than half of the slots": lambda n: known_owner_share(n) < 0.5,
        "5 % of the nodes own no slot": lambda n: idle_share(n) > 0.05,
    }
    found = [(_first(is_broken), what) for what, is_broken in limits.items()]
    return [row(f"breaks: {what}", [float(nodes)], "nodes") for nodes, what in sorted(found)]


def known_owner_share(nodes: float) -> float:
    """Return the share of all slots of which an asker knows an owner. It knows `MEMBER_LIMIT` members at most, drawn by
    chance."""
    unknown = 1 - min(nodes - 1, MEMBER_LIMIT) / max(nodes - 1, 1)
    return 1 - unknown**REPLICAS


def idle_share(nodes: float) -> float:
    """Return the share of the nodes that own no slot, by a Poisson law: slots end at 2**16."""
    return exp(-REPLICAS * (1 << slot_bits(int(nodes))) / nodes)


def _first(is_broken: Callable[[int], bool]) -> int:
    """The least of some sizes, 5 % apart, at which something is broken, as it is at all larger ones."""
    sizes = [int(20.0 * 1.05**step) for step in range(320)]
    return sizes[bisect_left(sizes, True, key=is_broken)]


def _checks(sizes: tuple[int, ...]) -> list[Row]:
    """The model's number of peers beside that of a node's own plan."""
    found, errors = list[Row](), list[float]()
    for nodes in sizes:
        modelled, planned = float(cost_of(nodes).peers), float(peers_planned(nodes))
        errors.append(abs(modelled / planned - 1))
        found.append(row(f"peers of a round, {nodes:,} nodes: model (a node's plan)", [modelled], "", peer=[planned]))
    return [*found, row("the model's greatest error", [max(errors)], "of it", goal=MODEL_ERROR)]


def _round_ms(rng: np.random.Generator, peers: int) -> NDArray[np.float64]:
    """The time of rounds over so many peers: the slowest way, one peer's work, and the asker's on all answers."""
    return _slowest_ms(rng, peers) + QUESTION_CPU_MS * (1 - ASKER_SHARE + ASKER_SHARE * peers)


def _slowest_ms(rng: np.random.Generator, peers: int) -> NDArray[np.float64]:
    """The slowest of so many lognormal round trips, drawn by its quantile."""
    each = rng.random(QUERIES) ** (1 / peers)
    return RTT_S * 1000 * np.exp(SIGMA * _inverse_normal(each))


def _inverse_normal(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Quantiles of the normal distribution, right to 4.5e-4 (Abramowitz & Stegun, 26.2.23)."""
    tail = np.sqrt(-2 * np.log(np.clip(np.minimum(shares, 1 - shares), 1e-300, 0.5)))
    top = 2.515517 + 0.802853 * tail + 0.010328 * tail**2
    far = tail - top / (1 + 1.432788 * tail + 0.189269 * tail**2 + 0.001308 * tail**3)
    found: NDArray[np.float64] = np.where(shares > 0.5, far, -far)
    return found
