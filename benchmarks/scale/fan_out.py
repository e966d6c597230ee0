"""Counts how many peers a query has to ask: today's cover of all slots, and the slots that the directory names.

Pure, but for chance by a seed. A slot has three owners among the sixteen nodes nearest to its start. Covering is local:
only nodes near each other share slots, so a block of nodes stands for the whole, whatever its size.
"""

import numpy as np
from numpy.typing import NDArray

from dht import NodeId, Placement, Slot
from node.app.strategy_draft import proposed_bits
from node.simulation.observations import REPLICAS

CANDIDATES = 16
BLOCK_NODES, BLOCK_SLOTS = 256, 256  # at least
START_BITS = 8  # of a network's first strategy


def slot_bits(nodes: int) -> int:
    """Return the bits of slots that a publisher's tool proposes."""
    return proposed_bits(START_BITS, nodes)


def covered_share(nodes: int, seed: int) -> float:
    """Return which share of the nodes a plan asks that covers every slot once, the greediest first."""
    each = (1 << slot_bits(nodes)) / nodes
    block = min(nodes, max(BLOCK_NODES, int(BLOCK_SLOTS / each)))
    owners = _owners(block, max(1, round(block * each)), seed)
    return _greedy(owners, block) / block


def peers_of(nodes: int, slots: int, seed: int) -> int:
    """Return how many peers answer for so many slots, chosen as by chance from all."""
    bits = slot_bits(nodes)
    rng = np.random.default_rng(seed)
    block = min(nodes, 4096)
    all_slots = round(block * (1 << bits) / nodes)
    chosen = _owners(block, max(all_slots, 1), seed)[
        rng.choice(max(all_slots, 1), min(slots, all_slots), replace=False)
    ]
    return _greedy(chosen, block)


def planned(ids: tuple[NodeId, ...], bits: int) -> dict[Slot, tuple[NodeId, ...]]:
    """Return who owns each slot by a node's own placement, to check the model with."""
    placement = Placement(ids, bits, REPLICAS)
    return {Slot(slot): tuple(placement.owners(Slot(slot))) for slot in range(1 << bits)}


def _owners(nodes: int, slots: int, seed: int) -> NDArray[np.int64]:
    """Three owners of each slot."""
    rng = np.random.default_rng(seed)
    ids = np.sort(rng.integers(0, 1 << 62, nodes))
    starts = (np.arange(slots) * ((1 << 62) // slots)).astype(np.int64)
    found = np.empty((slots, REPLICAS), np.int64)
    for number, start in enumerate(starts.tolist()):
        near = np.argpartition(ids ^ start, min(CANDIDATES, nodes) - 1)[:CANDIDATES]
        found[number] = rng.choice(near, REPLICAS, replace=False)
    return found


def _greedy(owners: NDArray[np.int64], nodes: int) -> int:
    """How many nodes a greedy cover takes."""
    left, asked = owners, 0
    while len(left):
        counts = np.bincount(left.ravel(), minlength=nodes)
        left = left[(left != counts.argmax()).all(axis=1)]
        asked += 1
    return asked
