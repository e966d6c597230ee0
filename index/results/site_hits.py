"""Bounds what is known of a host's hits where peers gave only its best: from where on others may be missing, and how
many.

Pure: values only.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from index.results.result_picker import OF_ONE_HOST, TEN, PickedHit
from index.shard.messages import BestAnswer

Place = tuple[int, float, bytes]  # in the order; the smaller the better


@dataclass(frozen=True, slots=True)
class SiteHits:
    """Holds the places after which hosts may have more hits than peers gave (`ends`), and how many matches hosts have
    at least (`counts`)."""

    ends: Mapping[bytes, Place] = field(default_factory=dict)
    counts: Mapping[bytes, int] = field(default_factory=dict)

    def are_enough(self, picked: Sequence[PickedHit], is_full: bool) -> bool:
        """Tell whether no hit that peers kept back could stand among the picked: each ten either goes no further than
        where hits of a host may be missing, or shows three of that host before, and is not filled from beyond.
        `is_full`: the picked are all that was wanted; where they are not, what was kept back would follow them."""
        return not self.ends or (is_full and all(map(self._is_sure, _tens(picked))))

    def _is_sure(self, ten: Sequence[PickedHit]) -> bool:
        filling = [each.found.place for each in ten if each.is_filling]
        last = max(each.found.place for each in ten)
        for host, end in self.ends.items():
            before = sum(each.found.hit.host == host and each.found.place <= end for each in ten if not each.is_filling)
            if (filling or last > end) and before < OF_ONE_HOST:
                return False
            if filling and max(filling) > end:
                return False
        return True

    def more(self, picked: Sequence[PickedHit]) -> dict[bytes, int]:
        """Count at least how many matches of a host are neither among the picked nor copies of them, by the id of the
        last one of that host."""
        last = {each.found.hit.host: each.found.hit.id for each in picked}
        seen = Counter(found.hit.host for each in picked for found in (each.found, *each.similar))
        return {id_: self.counts[host] - seen[host] for host, id_ in last.items() if self.counts[host] > seen[host]}


def site_hits(answers: Iterable[tuple[BestAnswer, int]], per_host: int) -> SiteHits:
    """Gather what answers tell of hosts; with each answer, how many of its slots count."""
    ends: dict[bytes, Place] = {}
    counts = Counter[bytes]()
    for answer, slots in answers:
        told = dict(answer.hosts) if slots == len(answer.slots) else {}
        given = Counter(hit.host for hit in answer.hits)
        for host, number in given.items():
            counts[host] += max(number, told.get(host, 0))
        last = {hit.host: hit.place for hit in answer.hits}  # they are best first
        for host in (host for host, number in given.items() if number >= per_host > 0):
            ends[host] = min(ends.get(host, last[host]), last[host])
    return SiteHits(ends, counts)


def _tens(picked: Sequence[PickedHit]) -> list[Sequence[PickedHit]]:
    return [picked[start : start + TEN] for start in range(0, len(picked), TEN)]
