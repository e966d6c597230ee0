"""Counts the peers that a query has to ask so that every slot is answered.

Pure, but for chance by a seed. A slot has three owners among the sixteen nodes nearest to its start, or more copies
there. Covering is local: only nodes near each other share slots, so a block of nodes stands for the whole network.
"""

from collections.abc import Iterable, Mapping
from random import Random

import numpy as np
from numpy.typing import NDArray

from benchmarks.overlay.balance import members
from dht import NodeId, Placement, Slot
from index.asking.scatter_gather import make_plan
from index.asking.slot_bitmaps import Ready
from node.extras.simulation.observations import REPLICAS
from node.strategy.draft_checks import proposed_bits

CANDIDATES = 16
BLOCK_NODES, BLOCK_SLOTS = 256, 256  # at least
TRIED_CELLS = 8
OUTSIDE = NodeId(b"\xff" * 20)  # an asker that owns nothing
START_BITS = 8  # of a network's first strategy


def slot_bits(nodes: int) -> int:
    """Return the bits of slots that a publisher's tool proposes."""
    return proposed_bits(START_BITS, nodes, REPLICAS)


def covered_share(nodes: int, seed: int, copies: int = REPLICAS) -> float:
    """Return which share of the nodes a plan asks that covers every slot once, the greediest first. `copies`: nodes
    that answer for each slot."""
    each = (1 << slot_bits(nodes)) / nodes
    block = min(nodes, max(BLOCK_NODES, int(BLOCK_SLOTS / each)))
    owners = _owners(block, max(1, round(block * each)), seed, copies)
    return _greedy(owners, block) / block


def peers_planned(nodes: int, copies: int = REPLICAS) -> int:
    """Return how many peers a node's own plan asks for all slots, in a network of real placement."""
    return _planned(owners_of(members(1, nodes), slot_bits(nodes), copies))


def cell_peers(nodes: int, cells: int) -> float:
    """Return how many peers a node's own plan asks for one of so many equal ranges of slots, the mean of some."""
    ids, bits = members(1, nodes), slot_bits(nodes)
    each, found = (1 << bits) // cells, list[int]()
    for cell in Random(1).sample(range(cells), TRIED_CELLS):
        found.append(_planned(owners_of(ids, bits, among=range(cell * each, (cell + 1) * each))))
    return sum(found) / TRIED_CELLS


def _planned(owners: Mapping[Slot, tuple[NodeId, ...]]) -> int:
    ready = Ready(owners)
    return len(make_plan(ready.can, ready.askable, OUTSIDE, Random(1), (), {}, lambda peer: False, lambda peer: 0))


def owners_of(
    ids: Iterable[NodeId], bits: int, copies: int = REPLICAS, among: range | None = None
) -> dict[Slot, tuple[NodeId, ...]]:
    """Return the owners of each slot, or of each of some, by a node's own placement."""
    placement = Placement(tuple(sorted(ids)), bits, copies)
    return {Slot(slot): tuple(placement.owners(Slot(slot))) for slot in among or range(1 << bits)}


def _owners(nodes: int, slots: int, seed: int, copies: int = REPLICAS) -> NDArray[np.int64]:
    """The owners of each slot."""
    rng = np.random.default_rng(seed)
    ids = np.sort(rng.integers(0, 1 << 62, nodes))
    starts = (np.arange(slots) * ((1 << 62) // slots)).astype(np.int64)
    found = np.empty((slots, copies), np.int64)
    for number, start in enumerate(starts.tolist()):
        near = np.argpartition(ids ^ start, min(CANDIDATES, nodes) - 1)[:CANDIDATES]
        found[number] = rng.choice(near, copies, replace=False)
    return found


def _greedy(owners: NDArray[np.int64], nodes: int) -> int:
    """How many nodes a greedy cover takes."""
    left, asked = owners, 0
    while len(left):
        counts = np.bincount(left.ravel(), minlength=nodes)
        left = left[(left != counts.argmax()).all(axis=1)]
        asked += 1
    return asked
