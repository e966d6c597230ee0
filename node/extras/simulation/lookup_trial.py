"""Asks lookups of a swarm and judges what came of them: how long they took, and whether they found the truth.

The truth is what nobody in the network knows: the nodes that are up and joined to the asker, sorted by distance.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from random import Random
from statistics import fmean
from typing import Any

from dht import Contact, NodeId, Now, ProtocolEngine, distance
from node.extras.simulation.swarm import Bee, Swarm

FOUND = 16  # contacts that a lookup is for


@dataclass(slots=True)
class EndedLookup:
    """One lookup that ended. `right`: its nearest contact is the nearest node; `share`: of the nearest 16 that are
    up, those that it found."""

    took_s: float
    right: bool
    share: float


class LookupLog:
    """Keeps account of lookups: those that ended, those lost with their asker, and those still under way."""

    def __init__(self) -> None:
        self.asked = 0
        self.ended: list[EndedLookup] = []
        self._open: dict[int, Callable[[], bool]] = {}  # whether the process that asked still runs, by lookup

    def begin(self, asker_runs: Callable[[], bool]) -> Callable[[EndedLookup], None]:
        """Note that a lookup was asked; return the function to be called when it ends."""
        number = self.asked
        self.asked += 1
        self._open[number] = asker_runs

        def end(lookup: EndedLookup) -> None:
            del self._open[number]
            self.ended.append(lookup)

        return end

    def settled(self) -> int:
        """Count the lookups that ended or were lost with their asker: what is still under way is neither."""
        return self.asked - sum(asker_runs() for asker_runs in self._open.values())


class LookupTrial:
    """Asks a swarm for points at random, by nodes at random, and keeps account in `log`."""

    def __init__(self, swarm: Swarm, seed: object) -> None:
        self._swarm = swarm
        self._rng = Random(f"questions {seed}")
        self.log = LookupLog()

    def ask(self) -> None:
        """Start one lookup now."""
        up = self._swarm.running()
        if not up:
            return
        asker, target, began = self._rng.choice(up), self._rng.randbytes(20), self._swarm.time
        core = asker.core
        end = self.log.begin(lambda: asker.up and asker.core is core)

        def done(now: Now, contacts: list[Contact]) -> None:
            nearest = truth(self._swarm, asker, target)
            found = [contact.node_id for contact in contacts]
            share = len(set(found) & set(nearest)) / max(1, len(nearest))
            end(EndedLookup(now.steady - began, found[:1] == nearest[:1], share))

        core.finder.find(self._swarm.now, target, done)
        self._swarm.kick(asker)

    def ask_often(self, count: int, every_s: float) -> None:
        """Start so many lookups from now on, one every `every_s`; time passes by `Swarm.run` only."""
        for n in range(count):
            self._swarm.later(n * every_s, self.ask)


def truth(swarm: Swarm, asker: Bee, target: bytes) -> list[NodeId]:
    """Return the nearest 16 nodes that are up, take part, and are on the asker's side of a cut, itself excepted."""
    ids = (
        bee.node_id for bee in swarm.running() if bee is not asker and bee.core.takes_part and swarm.joined(asker, bee)
    )
    return nsmallest(FOUND, ids, key=lambda peer: distance(peer, target))


def quantile(values: Sequence[float], share: float) -> float | None:
    """Return the least value that this share of all does not exceed; None where there are no values."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else None


def figures_of(log: LookupLog, hops: float | None) -> dict[str, Any]:
    """Return how many lookups there were, the share that found the node nearest to their point, how long they took."""
    took, count = [lookup.took_s * 1000 for lookup in log.ended], log.settled()
    p50, p95 = quantile(took, 0.5), quantile(took, 0.95)
    return {
        "count": count,
        "ok": round(sum(lookup.right for lookup in log.ended) / count, 4) if count else None,
        "p50_ms": None if p50 is None else round(p50, 1),
        "p95_ms": None if p95 is None else round(p95, 1),
        "hops": None if hops is None else round(hops, 2),
    }


def hops_of(cores: Iterable[ProtocolEngine]) -> float | None:
    """Return the mean number of questions in a row that led to the nearest contact, over all lookups that ended."""
    counted = [hops for core in cores for hops, count in core.finder.hops.items() for _ in range(count) if hops]
    return fmean(counted) if counted else None
