"""Computes how evenly documents lie, and what moves when a node joins or slots double, with the real placement.

Sites by Zipf's law, the largest with 8.9 % of all pages, pages placed by `placement_key`, copies on the three owners of
their slot. "Spread" applies to a site of more than a quarter of a node's mean load, in a web so large that this is
above 10,000 pages. Such a site lies in 2**d places, with the smallest d that brings each place below that quarter.
"""

from collections import Counter
from collections.abc import Iterable
from random import Random

from benchmarks.figures import Row, row
from benchmarks.overlay import goals
from benchmarks.overlay.extent import Extent
from dht import NodeId, Placement, placement_key, slot_of
from node.extras.simulation.observations import REPLICAS, slot_bits_for

PAGES, SITES, LARGEST = 100_000, 43_000, 0.089  # with that many sites 1/rank gives the largest its share
DEPTH_MOST = 8


def rows(extent: Extent) -> list[Row]:
    """Return all figures of placement."""
    quick, (seeds, _) = extent.quick, extent.of((range(1, 3), 0), (range(1, 6), 0))
    found = []
    for nodes, goal in goals.MAX_OVER_MEAN.items():
        for spread in (True, False):
            values = [max_over_mean(seed, nodes, spread=spread, quick=quick) for seed in seeds]
            how = "big sites spread" if spread else "no site spread"
            what = f"documents per node, max/mean, {nodes:,} nodes, slot_bits {slot_bits_for(nodes)}, {how}"
            peer = [modulo(seed, nodes, quick=quick) for seed in seeds]
            found.append(row(what, values, "", goal=goal if spread else None, peer=peer))
    for nodes in (16, 100, 1_000):
        moved = [moved_by_join(seed, nodes) * nodes for seed in seeds]
        modulo_moves = [float(nodes - 1)]  # host mod n: 1 - 1/n of the keys
        found.append(
            row(f"keys moved by one join, {nodes:,} nodes", moved, "× 1/n", goal=goals.JOIN_MOVES, peer=modulo_moves)
        )
    doubled = [moved_by_doubling(seed, 100) for seed in seeds]
    found.append(row("keys moved by doubling the slots of 100 nodes", doubled, "of all", goal=goals.DOUBLING_MOVES))
    return found


def pages_of(seed: int, pages: int) -> Counter[int]:
    """Draw how many pages each site has."""
    rng = Random(f"zipf {seed}")
    return Counter(rng.choices(range(SITES), [1 / (rank + 1) for rank in range(SITES)], k=pages))


def max_over_mean(seed: int, nodes: int, *, spread: bool, quick: bool) -> float:
    """Return the documents on the fullest node over the mean."""
    pages = PAGES // 4 if quick else PAGES
    bits, held = slot_bits_for(nodes), Counter[int]()
    for site, count in pages_of(seed, pages).items():
        depth = depth_for(count / pages, nodes) if spread else 0
        held.update(slot_of(placement_key(f"http://s{site}.{seed}.test/{n}", depth), bits) for n in range(count))
    placement = Placement(members(seed, nodes), bits, REPLICAS)
    load: Counter[NodeId] = Counter()
    for slot, count in held.items():
        load.update(dict.fromkeys(placement.owners(slot), count))  # type: ignore[arg-type]
    return max(load.values()) * nodes / load.total()


def depth_for(share: float, nodes: int) -> int:
    """Return how deep a site with this share of all pages is spread."""
    quarter = 1 / nodes / 4  # of a node's mean load, as a share of all pages
    return next((d for d in range(DEPTH_MOST) if share / 2**d <= quarter), DEPTH_MOST)


def modulo(seed: int, nodes: int, *, quick: bool) -> float:
    """Return max/mean where pages are placed by hash of the host modulo n."""
    load: Counter[int] = Counter()
    for site, count in pages_of(seed, PAGES // 4 if quick else PAGES).items():
        load[int.from_bytes(placement_key(f"http://s{site}.{seed}.test/")[:8], "big") % nodes] += count
    return max(load.values()) * nodes / load.total()


def members(seed: int, nodes: int) -> tuple[NodeId, ...]:
    """Draw the ids of so many nodes, sorted."""
    rng = Random(f"members {seed}")
    return tuple(sorted(NodeId(rng.randbytes(20)) for _ in range(nodes)))


def moved_by_join(seed: int, nodes: int) -> float:
    """Return the share of all copies that get another owner when one node joins."""
    ids, bits = members(seed, nodes), slot_bits_for(nodes)
    newcomer = NodeId(Random(f"newcomer {seed}").randbytes(20))
    before, after = Placement(ids, bits, REPLICAS), Placement(tuple(sorted((*ids, newcomer))), bits, REPLICAS)
    slots = range(1 << bits)
    gained = _gained((before.owners(s), after.owners(s)) for s in slots)  # type: ignore[arg-type]
    return gained / len(slots) / REPLICAS


def moved_by_doubling(seed: int, nodes: int) -> float:
    """Return the share of all copies that get another owner when each slot becomes two."""
    ids, bits = members(seed, nodes), slot_bits_for(nodes)
    before, after = Placement(ids, bits, REPLICAS), Placement(ids, bits + 1, REPLICAS)
    slots = range(2 << bits)
    gained = _gained((before.owners(s >> 1), after.owners(s)) for s in slots)  # type: ignore[arg-type]
    return gained / len(slots) / REPLICAS


def _gained(pairs: Iterable[tuple[tuple[NodeId, ...], tuple[NodeId, ...]]]) -> int:
    return sum(len(set(after) - set(before)) for before, after in pairs)
