"""Peers' answers to one order: the best k, each document once, copies folded under the first.

Pure: values only. The order is by score, then document id, everywhere.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dht import NodeId
from index.search.messages import HitRow


@dataclass(frozen=True, slots=True)
class MergedHit:
    """A hit, and the peer that vouches for it."""

    hit: HitRow
    peer: NodeId

    @property
    def place(self) -> tuple[float, bytes]:
        """Where it stands in the order; the smaller the better."""
        return -self.hit.score, self.hit.id


@dataclass(frozen=True, slots=True)
class FoldedHit:
    """A result with its copies: documents of equal title and body that come later in the order."""

    found: MergedHit
    similar: tuple[MergedHit, ...]


def merge(answers: Iterable[tuple[NodeId, Sequence[HitRow]]], k: int) -> list[MergedHit]:
    """Return the best k of all answers. A document that two peers name counts once, where it stands best."""
    everything = [MergedHit(hit, peer) for peer, hits in answers for hit in hits]
    everything.sort(key=lambda found: (*found.place, found.peer))
    once: dict[bytes, MergedHit] = {}
    for found in everything:
        once.setdefault(found.hit.id, found)
    return list(once.values())[:k]


def fold(order: Iterable[MergedHit]) -> list[FoldedHit]:
    """Fold copies under the first of them, down the order."""
    groups: dict[bytes, list[MergedHit]] = {}
    for found in order:
        groups.setdefault(found.hit.digest, []).append(found)
    return [FoldedHit(first, tuple(rest)) for first, *rest in groups.values()]
