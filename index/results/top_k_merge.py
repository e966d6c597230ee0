"""Peers' answers to one order: the best k, each document once; and counts of all matches by site, language, year and
type.

Pure: values only. The order is by day where the newest were asked for, then by score, then document id, everywhere.
Each peer names the commonest of its own slots, so a facet that few peers share may be missing, or counted too low. Such
facets are marked as cut.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from dht import NodeId
from index.engine.protocol import FACETS, MAX_FACETS
from index.shard.messages import BestAnswer, HitRow


@dataclass(frozen=True, slots=True)
class MergedHit:
    """A hit, and the peer that vouches for it."""

    hit: HitRow
    peer: NodeId


def merge(answers: Iterable[tuple[NodeId, Sequence[HitRow]]], k: int) -> list[MergedHit]:
    """Return the best k of all answers. A document that two peers name counts once, where it stands best."""
    everything = [MergedHit(hit, peer) for peer, hits in answers for hit in hits]
    everything.sort(key=lambda found: (*found.hit.place, found.peer))
    once: dict[bytes, MergedHit] = {}
    for found in everything:
        once.setdefault(found.hit.id, found)
    return list(once.values())[:k]


@dataclass(slots=True)
class FacetSums:
    """The sums of what peers counted. `cut`: facets of which some names or numbers may be missing."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    cut: set[str] = field(default_factory=set)

    def as_json(self, total: int) -> dict[str, list[dict[str, Any]]]:
        """Return the commonest names of each facet, none with more than all matches."""
        return {facet: _rows(counts, total) for facet, counts in self.counts.items()}


def facet_sums(answers: Iterable[tuple[BestAnswer, int]]) -> FacetSums:
    """Add up answers; with each, how many of its slots count: of an answer that counts in part, nothing is known."""
    sums = FacetSums({facet: Counter() for facet in FACETS})
    for answer, slots in answers:
        if slots < len(answer.slots):
            sums.cut.update(FACETS)
            continue
        for facet, names in zip(FACETS, answer.facets, strict=True):
            sums.counts[facet].update(dict(names))
            if len(names) == MAX_FACETS:
                sums.cut.add(facet)
    return sums


def _rows(counts: Counter[str], total: int) -> list[dict[str, Any]]:
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:MAX_FACETS]
    return [{"name": name, "count": min(count, total)} for name, count in ordered]
