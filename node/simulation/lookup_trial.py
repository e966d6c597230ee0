"""Lookups asked of a swarm, with what came of them: how long they took, and whether they found the truth.

The truth is what nobody in the network knows: the nodes that are up and joined to the asker, sorted by distance.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import nsmallest
from random import Random
from statistics import fmean
from typing import Any

from dht import Contact, NodeId, Now, distance
from node.simulation.swarm import Bee, Swarm

FOUND = 16  # contacts that a lookup is for


@dataclass(slots=True)
class EndedLookup:
    """One lookup that ended. `right`: its nearest contact is the nearest node; `share`: of the nearest 16 that are up,
    those that it found."""

    took_s: float
    right: bool
    share: float


class LookupTrial:
    """Asks for points at random, by nodes at random. `asked` minus `answers` never ended, or its asker is gone."""

    def __init__(self, swarm: Swarm, seed: object) -> None:
        self._swarm = swarm
        self._rng = Random(f"questions {seed}")
        self.asked = 0
        self.answers: list[EndedLookup] = []

    def ask(self) -> None:
        """One lookup, now."""
        up = self._swarm.running()
        if not up:
            return
        asker, target, began = self._rng.choice(up), self._rng.randbytes(20), self._swarm.time

        def done(now: Now, contacts: list[Contact]) -> None:
            nearest = truth(self._swarm, asker, target)
            found = [contact.node_id for contact in contacts]
            share = len(set(found) & set(nearest)) / max(1, len(nearest))
            self.answers.append(EndedLookup(now.steady - began, found[:1] == nearest[:1], share))

        self.asked += 1
        asker.core.start_lookup(self._swarm.now, target, done)
        self._swarm.kick(asker)

    def ask_often(self, count: int, every_s: float) -> None:
        """So many from now on; time passes by `Swarm.run` only."""
        for n in range(count):
            self._swarm.later(n * every_s, self.ask)

    def took_ms(self, share: float) -> float | None:
        """The time within which this share of the lookups ended; None where none did."""
        return quantile([answer.took_s * 1000 for answer in self.answers], share)


def truth(swarm: Swarm, asker: Bee, target: bytes) -> list[NodeId]:
    """The nearest 16 nodes that are up, take part, and are on the asker's side of a cut; itself excepted."""
    ids = (
        bee.node_id for bee in swarm.running() if bee is not asker and bee.core.takes_part and swarm.joined(asker, bee)
    )
    return nsmallest(FOUND, ids, key=lambda peer: distance(peer, target))


def quantile(values: Sequence[float], share: float) -> float | None:
    """The least value that this share of all does not exceed; None of nothing."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else None


def figures_of(answers: Sequence[EndedLookup], asked: int, hops: float | None) -> dict[str, Any]:
    """How many lookups there were, the share that found the node nearest to their point, how long they took."""
    took = [answer.took_s * 1000 for answer in answers]
    p50, p95 = quantile(took, 0.5), quantile(took, 0.95)
    return {
        "count": asked,
        "ok": round(sum(answer.right for answer in answers) / asked, 4) if asked else None,
        "p50_ms": None if p50 is None else round(p50, 1),
        "p95_ms": None if p95 is None else round(p95, 1),
        "hops": None if hops is None else round(hops, 2),
    }


def hops_of(swarm: Swarm) -> float | None:
    """The mean number of questions in a row that led to the nearest contact, over all lookups that ended."""
    counted = [hops for bee in swarm.bees for hops, count in bee.core.hops.items() for _ in range(count) if hops]
    return fmean(counted) if counted else None
