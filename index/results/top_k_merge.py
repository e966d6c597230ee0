"""Peers' answers to one order: the best k, each document once.

Pure: values only. The order is by day where the newest were asked for, then by score, then document id, everywhere.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dht import NodeId
from index.shard.messages import HitRow


@dataclass(frozen=True, slots=True)
class MergedHit:
    """A hit, and the peer that vouches for it."""

    hit: HitRow
    peer: NodeId

    @property
    def place(self) -> tuple[int, float, bytes]:
        """Where it stands in the order; the smaller the better."""
        return self.hit.place


def merge(answers: Iterable[tuple[NodeId, Sequence[HitRow]]], k: int) -> list[MergedHit]:
    """Return the best k of all answers. A document that two peers name counts once, where it stands best."""
    everything = [MergedHit(hit, peer) for peer, hits in answers for hit in hits]
    everything.sort(key=lambda found: (*found.place, found.peer))
    once: dict[bytes, MergedHit] = {}
    for found in everything:
        once.setdefault(found.hit.id, found)
    return list(once.values())[:k]
