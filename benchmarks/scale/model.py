"""Says what networks of a thousand to a million nodes cost, and what breaks first."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from benchmarks.durability.__main__ import modelled
from benchmarks.figures import Row, row
from benchmarks.scale import goals
from benchmarks.scale.checks import check_rows
from benchmarks.scale.drawing import draw
from benchmarks.scale.extent import Extent
from benchmarks.scale.fan_out import ask_in_waves, covered_share, slot_bits
from benchmarks.scale.lookup_model import Looked, ModelNetwork
from benchmarks.scale.node_cost import (
    idle_share,
    keep_alive_bytes_s,
    keep_alive_packets_s,
    known_members,
    known_owner_share,
    refresh_room,
    state_mb,
)
from benchmarks.scale.query_model import WAVES, WORDS, QueryCost, by_directory, recall_when_silent, today
from benchmarks.scale.row_sizes import TERMS, made_up_bytes, node_mb, told_bytes_s
from dht.membership.member_table import MEMBER_LIMIT

SIZES = (1_000, 10_000, 100_000, 1_000_000)
CHECKED, QUICK_CHECKED = (100, 300, 1_000), (100,)
LOOKUPS, QUICK_LOOKUPS = 300, 30
DEADLINE_MS = 1_500.0
CORE_SHARE = 0.05  # of each node's core for others' queries
HEAPS = 0.6  # terms grow with documents, and so with nodes, by this power
PLOT_FILE = "scale.svg"


@dataclass(frozen=True, slots=True)
class Sized:
    """What a network of one size costs. `blind`: a query with its rows in the cache, by an asker that does not know how
    long its peers take."""

    nodes: int
    looked: Looked
    contacts: float
    today: QueryCost
    warm: QueryCost
    cold: QueryCost
    blind: QueryCost


@cache
def sized(nodes: int, lookups: int) -> Sized:
    """Model a network of one size."""
    network = ModelNetwork(nodes, 1)
    looked = network.look_up(lookups)
    waves, blind = (
        [ask_in_waves(nodes, slots, 1, is_known=is_known) for slots, _ in WAVES] for is_known in (True, False)
    )
    owners_ms = looked.took_ms if nodes > MEMBER_LIMIT else None  # else who owns a term or a slot is known
    rows_ms = looked.took_ms if nodes > MEMBER_LIMIT else np.zeros(1)
    return Sized(
        nodes,
        looked,
        network.contacts(20),
        today(round(covered_share(nodes, 1) * nodes), 1),
        by_directory(waves, 1, None, owners_ms),
        by_directory(waves, 1, rows_ms, owners_ms),
        by_directory(blind, 1, None, owners_ms, is_known=False),
    )


def rows(extent: Extent) -> list[Row]:
    """Return the figures of all sizes, what breaks first, and how far the model is from the simulator."""
    lookups = QUICK_LOOKUPS if extent.quick else LOOKUPS
    models = [sized(nodes, lookups) for nodes in SIZES]
    if extent.plots:
        extent.plots.mkdir(parents=True, exist_ok=True)
        (extent.plots / PLOT_FILE).write_text(draw(_panels(models), "What networks of a size cost"), "utf-8")
    found = [each for model in models for each in _of_size(model)]
    found += [
        row(
            f"{silent:.0%} of the peers silent, nobody knows: slots that answer, one try (two)",
            [once],
            "",
            peer=[twice],
        )
        for silent in (0.01, 0.05, 0.1, 0.3)
        for once, twice in [[recall_when_silent(silent, tries=tries) for tries in (1, 2)]]
    ]
    found += breaks()
    return found + check_rows(QUICK_CHECKED if extent.quick else CHECKED, lookups)


def _of_size(model: Sized) -> Iterator[Row]:
    nodes, what = model.nodes, f"{model.nodes:,} nodes"
    is_goal = nodes == 1_000
    yield row(f"{what}: lookup, hops", [model.looked.hops], "")
    yield row(f"{what}: lookup, questions", [model.looked.asked], "")
    yield row(f"{what}: lookup, p50", [model.looked.quantile(0.5)], "ms")
    yield row(f"{what}: lookup, p95", [model.looked.quantile(0.95)], "ms")
    yield row(f"{what}: members known and contacts", [state_mb(nodes, model.contacts)], "MB")
    yield row(f"{what}: keep-alive, packets a node", [keep_alive_packets_s(nodes)], "/s")
    yield row(f"{what}: keep-alive, kB a node", [keep_alive_bytes_s(nodes) / 1e3], "kB/s")
    yield row(f"{what}: its packets' room that far members need", [refresh_room(nodes)], "")
    yield row(f"{what}: members that a node knows, of all", [known_members(nodes) / (nodes - 1)], "")
    peers = goals.PEERS_FIRST if is_goal else None
    asked = model.warm.peers + WORDS
    yield row(f"{what}: peers first, by the directory (today)", [asked], "", goal=peers, peer=[model.today.peers])
    kinds = ("warm", model.warm, goals.WARM_MS), ("cold", model.cold, goals.COLD_MS)
    for name, cost, goal in (*kinds, ("warm, peers' times not known,", model.blind, goals.WARM_MS)):
        p50, p95 = goal if is_goal else (None, None)
        yield row(f"{what}: {name} rows, p50 (today)", [cost.p50_ms], "ms", goal=p50, peer=[model.today.p50_ms])
        yield row(f"{what}: {name} rows, p95 (today)", [cost.p95_ms], "ms", goal=p95, peer=[model.today.p95_ms])
    cpu = goals.QUERY_CPU_S if is_goal else None
    yield row(f"{what}: CPU a query, cold (today)", [model.cold.cpu_s], "s", goal=cpu, peer=[model.today.cpu_s])
    share = nodes * CORE_SHARE
    rates = share / model.cold.cpu_s, share / model.today.cpu_s
    yield row(f"{what}: queries a second, 5 % of each core (today)", [rates[0]], "/s", peer=[rates[1]])
    yield row(f"{what}: queries without a slow peer, 1 % are (today)", [model.warm.fast], "", peer=[model.today.fast])
    terms = TERMS * (nodes / 1_000) ** HEAPS
    yield row(f"{what}: rows, MB a node", [node_mb(_row_bytes(), terms, nodes)], "MB")
    yield row(f"{what}: rows, told anew each day", [told_bytes_s(1.0, terms, nodes)], "B/s")
    yield row(f"{what}: slots, nodes without any", [idle_share(nodes)], "of all")
    loss = modelled(16, 3, 1.0, by_need=True).probability
    yield row(f"{what}: slots lost a year, servers, 3 copies", [loss * (1 << slot_bits(nodes))], "slots")


def breaks() -> list[Row]:
    """Return at which size something no longer holds, the first first."""
    limits: dict[str, Callable[[int], bool]] = {
        f"a query of today costs more than {goals.QUERY_CPU_S} s of CPU": lambda n: _today(n).cpu_s > goals.QUERY_CPU_S,
        f"p95 of a query of today is above {goals.COLD_MS[1]:.0f} ms": lambda n: _today(n).p95_ms > goals.COLD_MS[1],
        f"p95 of a query of today is above its deadline of {DEADLINE_MS:.0f} ms": lambda n: (
            _today(n).p95_ms > DEADLINE_MS
        ),
        "an asker knows no owner of some slot: no answer of today is whole": lambda n: known_owner_share(n) < 1,
        "an asker knows an owner of fewer than half of the slots": lambda n: known_owner_share(n) < 0.5,
        "5 % of the nodes own no slot": lambda n: idle_share(n) > 0.05,
        f"p95 by the directory, rows to be found, is above {goals.COLD_MS[1]:.0f} ms": lambda n: (
            _cold_ms(n) > goals.COLD_MS[1]
        ),
    }
    found = [(_first(is_broken), what) for what, is_broken in limits.items()]
    return [row(f"breaks: {what}", [float(nodes)], "nodes") for nodes, what in sorted(found)]


def _first(is_broken: Callable[[int], bool]) -> int:
    """The least of some sizes at which something is broken, 5 % apart."""
    nodes = 20.0
    while not is_broken(int(nodes)) and nodes < 1e8:
        nodes *= 1.05
    return int(nodes)


@cache
def _today(nodes: int) -> QueryCost:
    return today(round(covered_share(nodes, 1) * nodes), 1)


def _cold_ms(nodes: int) -> float:
    """Up to as many nodes as all know each other a term's owners need not be looked up."""
    return sized(nodes, QUICK_LOOKUPS).cold.p95_ms if nodes > MEMBER_LIMIT else 0.0


@cache
def _row_bytes() -> float:
    return made_up_bytes()


def _panels(models: Sequence[Sized]) -> dict[str, dict[str, list[tuple[float, float]]]]:
    def line(value: Callable[[Sized], float]) -> list[tuple[float, float]]:
        return [(float(model.nodes), value(model)) for model in models]

    return {
        "peers asked first": {
            "today": line(lambda m: m.today.peers),
            "by the directory": line(lambda m: m.warm.peers + 3),
        },
        "CPU of a query, s": {"today": line(lambda m: m.today.cpu_s), "by the directory": line(lambda m: m.cold.cpu_s)},
        "a query's p95, ms": {
            "today": line(lambda m: m.today.p95_ms),
            "rows in the cache": line(lambda m: m.warm.p95_ms),
            "rows to be found": line(lambda m: m.cold.p95_ms),
        },
        "a lookup, ms": {"p50": line(lambda m: m.looked.quantile(0.5)), "p95": line(lambda m: m.looked.quantile(0.95))},
        "slots of which an asker knows an owner, of all": {"share": line(lambda m: known_owner_share(m.nodes))},
    }
