"""Counts the peers that a query has to ask so that every slot is answered.

Pure, but for chance by a seed. A slot has three owners among the sixteen nodes nearest to its start, or more copies
there. Covering is local: only nodes near each other share slots, so a block of nodes stands for the whole network.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from random import Random

import numpy as np
from numpy.typing import NDArray

from benchmarks.overlay.balance import members
from dht import NodeId, Placement, Slot
from dht.membership.answer_times import FEWEST, RECENT, level_of
from index.asking.scatter_gather import EARLY_S, FEW_SILENT, make_plan
from index.asking.slot_bitmaps import Ready, bitmap_of, slots_of
from node.extras.simulation.delays import RTT_S, SIGMA
from node.extras.simulation.observations import REPLICAS
from node.strategy.draft import proposed_bits

CANDIDATES = 16
BLOCK_NODES, BLOCK_SLOTS = 256, 256  # at least
TRIALS = 200
TRIED_CELLS = 8
OUTSIDE = NodeId(b"\xff" * 20)  # an asker that owns nothing
START_BITS = 8  # of a network's first strategy


@dataclass(frozen=True, slots=True)
class AskedSlots:
    """The cost of asking for some slots. `peers`: the average number of questions; `took_ms`: the time until all slots
    are answered, one value for each trial, without anybody's work."""

    peers: float
    took_ms: NDArray[np.float64]


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


def ask_some(nodes: int, slots: int, seed: int, *, is_known: bool, trials: int = TRIALS) -> AskedSlots:
    """Return the cost of asking for `slots` slots, drawn by chance, by a node's own plan. Each peer answers after a
    round trip. The asker hedges peers that are slower than 95 of 100 recent answers, where these are few. `is_known`:
    whether the asker knows how long each peer takes."""
    chance, block = Random(seed), min(nodes, 4096)
    owners = _owners(block, max(slots, round(block * (1 << slot_bits(nodes)) / nodes)), seed)
    names = [NodeId(number.to_bytes(20, "big")) for number in range(block)]
    asked, took_ms, recent = list[int](), list[float](), list[float]()
    for _ in range(trials):
        chosen = chance.sample(range(len(owners)), slots)
        ready = {Slot(slot): tuple(names[owner] for owner in owners[slot].tolist()) for slot in chosen}
        every = sorted(frozenset[NodeId]().union(*ready.values()))
        took_s = {peer: RTT_S * chance.lognormvariate(0.0, SIGMA) for peer in every}
        slowness = {peer: level_of(seconds) if is_known else 0 for peer, seconds in took_s.items()}
        plan = _plan(ready, chance, {}, slowness)
        hedge_s = max(EARLY_S, sorted(recent)[len(recent) * 95 // 100]) if len(recent) >= FEWEST else inf
        recent = [*recent, *(took_s[peer] for peer, _ in plan)][-RECENT:]
        late = {peer: slots for peer, slots in plan if took_s[peer] > hedge_s}
        again = list[tuple[NodeId, tuple[Slot, ...]]]()
        if len(late) <= FEW_SILENT * len(plan):
            left = {slot: ready[slot] for slots in late.values() for slot in slots}
            again = _plan(left, chance, late, slowness)
        ends = {slot: took_s[peer] for peer, slots in plan for slot in slots}
        for peer, hedged in again:
            ends |= {slot: min(ends[slot], hedge_s + took_s[peer]) for slot in hedged}
        asked.append(len(plan) + len(again))
        took_ms.append(1000 * max(ends.values()))
    return AskedSlots(sum(asked) / trials, np.array(took_ms))


def _plan(
    by_slot: Mapping[Slot, Sequence[NodeId]],
    chance: Random,
    tried: Mapping[NodeId, Sequence[Slot]],
    slowness: Mapping[NodeId, int],
) -> list[tuple[NodeId, tuple[Slot, ...]]]:
    ready, before = Ready(by_slot), {peer: bitmap_of(slots) for peer, slots in tried.items()}
    level = slowness.__getitem__
    plan = make_plan(ready.can, ready.askable, OUTSIDE, chance, (), before, lambda peer: False, level)
    return [(peer, slots_of(slots)) for peer, slots in plan]


def peers_planned(nodes: int, copies: int = REPLICAS) -> int:
    """Return how many peers a node's own plan asks for all slots, in a network of real placement."""
    ids = members(1, nodes)
    return len(_plan(owners_of(tuple(sorted(ids)), slot_bits(nodes), copies), Random(1), {}, dict.fromkeys(ids, 0)))


def cell_peers(nodes: int, cells: int) -> float:
    """Return how many peers a node's own plan asks for one of so many equal ranges of slots, the mean of some."""
    ids, bits, chance = members(1, nodes), slot_bits(nodes), Random(1)
    each, found = (1 << bits) // cells, list[int]()
    for cell in chance.sample(range(cells), TRIED_CELLS):
        owners = owners_of(tuple(sorted(ids)), bits, among=range(cell * each, (cell + 1) * each))
        found.append(len(_plan(owners, chance, {}, dict.fromkeys(ids, 0))))
    return sum(found) / TRIED_CELLS


def owners_of(
    ids: tuple[NodeId, ...], bits: int, copies: int = REPLICAS, among: range | None = None
) -> dict[Slot, tuple[NodeId, ...]]:
    """Return the owners of each slot, or of each of some, by a node's own placement."""
    placement = Placement(ids, bits, copies)
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
