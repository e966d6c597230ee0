"""Measures lookups and gets of our cores in a swarm that is there at once, and of the stock package beside it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from statistics import fmean

from benchmarks.figures import Row, row
from benchmarks.overlay import goals, stock
from benchmarks.overlay.extent import Extent
from dht import Identity, Key
from dht.wire.value_record import ValueRecord, sign_record
from node.extras.simulation.forming import form
from node.extras.simulation.lookup_trial import LookupTrial, quantile
from node.extras.simulation.loop import EPOCH
from node.extras.simulation.swarm import NETWORK, Swarm

PACE_S, PATIENCE_S = 0.02, 10.0  # between two lookups; for the last one's end


@dataclass(frozen=True, slots=True)
class Taken:
    """Holds the milliseconds of one seed's lookups."""

    p50: float
    p95: float
    mean: float


def rows(extent: Extent) -> list[Row]:
    """Return all figures of lookups."""
    seeds, least = extent.of((range(1, 3), 300), (range(1, 6), 1_000))
    asks, gets = (60, 15) if extent.quick else (300, 40)
    sizes = [least] if extent.quick or extent.nodes else [1_000, 10_000]
    found: list[Row] = []
    for nodes in sizes:
        found += _both(
            f"lookup, {nodes:,} nodes", seeds, asks, goals.LOOKUP_MS[10_000 if nodes > 1_000 else 1_000], nodes=nodes
        )
    found += _both(f"lookup, {least:,} nodes, 30 % dead at once", seeds, asks, goals.DEAD_LOOKUP_MS, least, 0.3)
    costs = [looked_up(seed, asks, least, loss=0.02).p50 / looked_up(seed, asks, least).p50 - 1 for seed in seeds]
    stocks = [stock.looked_up(s, least, loss=0.02)[0] / stock.looked_up(s, least)[0] - 1 for s in seeds]
    what = f"2 % loss: what it adds to the median lookup, {least:,} nodes"
    found.append(row(what, costs, "of it", goal=goals.LOSS_COST, peer=stocks))
    for dead in (0.3, 0.5):
        ours = [gets_right(seed, dead, gets, least) for seed in seeds]
        peer = [stock.gets_right(seed, dead, gets // 2, least) for seed in seeds]
        what = f"gets right, {least:,} nodes, {dead:.0%} dead at once"
        found.append(row(what, ours, "of all", goal=goals.GETS_RIGHT, at_least=True, peer=peer))
    return found


@cache
def looked_up(seed: int, asks: int, nodes: int = 1_000, dead: float = 0.0, loss: float = 0.0) -> Taken:
    """Time random lookups by random nodes, the first right after the deaths."""
    swarm = _swarm(seed, nodes, loss)
    swarm.kill(*Random(seed).sample(swarm.bees, int(nodes * dead)))
    lookups = LookupTrial(swarm, seed)
    lookups.ask_often(asks, PACE_S)
    swarm.run(swarm.time + asks * PACE_S + PATIENCE_S)
    if len(lookups.log.ended) < asks:
        raise RuntimeError(f"{asks - len(lookups.log.ended)} lookups did not end in {PATIENCE_S} s")
    took = [answer.took_s * 1000 for answer in lookups.log.ended]
    return Taken(quantile(took, 0.5) or 0.0, quantile(took, 0.95) or 0.0, fmean(took))


def gets_right(seed: int, dead: float, count: int, nodes: int = 1_000) -> float:
    """Return the share of the records, each written twice, of which a random survivor reads the second version."""
    swarm, rng, author = _swarm(seed, nodes, 0.0), Random(f"gets {seed}"), Identity(bytes(32))
    keys = [Key(rng.randbytes(20)) for _ in range(count)]
    for sequence in (1, 2):
        for key in keys:
            writer = rng.choice(swarm.bees)
            value = b"version %d" % sequence
            record = sign_record(author, NETWORK, key=key, sequence=sequence, expires_at=EPOCH + 86_400.0, value=value)
            writer.core.finder.put(swarm.now, record, lambda _now, _count: None)
            swarm.kick(writer)
        swarm.run(swarm.time + 5.0)
    swarm.kill(*rng.sample(swarm.bees, int(nodes * dead)))
    read: list[list[ValueRecord]] = []
    for key in keys:
        reader = rng.choice(swarm.running())
        reader.core.finder.get(swarm.now, key, lambda _now, records: read.append(records))
        swarm.kick(reader)
    swarm.run(swarm.time + PATIENCE_S)
    return sum([record.value for record in records] == [b"version 2"] for records in read) / count


def _both(
    what: str, seeds: Sequence[int], asks: int, goal: tuple[float, float], nodes: int = 1_000, dead: float = 0.0
) -> list[Row]:
    ours = [looked_up(seed, asks, nodes, dead) for seed in seeds]
    peer = [stock.looked_up(seed, nodes, dead) for seed in (seeds if nodes < 10_000 else seeds[:1])]
    p50 = row(f"{what}: p50", [t.p50 for t in ours], "ms", goal=goal[0], peer=[p for p, _ in peer])
    p95 = row(f"{what}: p95", [t.p95 for t in ours], "ms", goal=goal[1], peer=[p for _, p in peer])
    return [p50, p95]


def _swarm(seed: int, nodes: int, loss: float) -> Swarm:
    swarm = Swarm(seed, loss)
    swarm.add(nodes)
    form(swarm, members=False)
    swarm.run(1.0)
    return swarm
