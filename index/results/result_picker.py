"""From the order of all hits to what is shown: copies folded into one result, and few results of one host.

Pure: values only. Ten by ten, down the order, each hit is folded under the first shown result that it is a copy of.
Else it is shown, unless three of the ten are of its host already. Then it is passed over, and the next ten begin with
it. Where nothing else follows, the best hits that were passed over fill the ten.

A copy that was seen on an earlier day than the page above it is shown in its place: so whoever copies a page gains
nothing. Before days, languages decide: a copy in the asker's stands before those in others. Of copies that are equal in
both, the plainest address is shown (`plainest`). All this holds of the first ten hits of the order, at most three of a
host, which every answer has. Where a site was asked for, or dates decide, nothing is replaced.

Peers give only the best hits of a host. `SiteHits` bounds from where on others may be missing, and how many.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from index.query.parser import Query, QueryGroup, QueryNode, SiteFilter
from index.results.near_copies import NearIndex
from index.results.top_k_merge import MergedHit
from index.shard.messages import BestAnswer, HitRow
from index.text.site_host import is_plainer

TEN = 10  # results, of which
OF_ONE_HOST = 3  # at most so many are of one host
SIMILAR = 5  # copies named with a result
MAX_ELSEWHERE = 16  # pages of other hosts folded under one result: both texts of each are read

AreAlike = Callable[[HitRow, HitRow], bool]
Place = tuple[int, float, bytes]  # in the order; the smaller the better


@dataclass(slots=True)
class PickedHit:
    """A result. `found`: the hit that gives it its place; `similar`: its copies; `is_filling`: it was passed over, and
    then filled its ten. `original`: which of these is shown; `copies`: all others."""

    found: MergedHit
    original: MergedHit
    is_filling: bool = False
    similar: list[MergedHit] = field(default_factory=list)
    elsewhere: int = 0  # copies of other hosts

    @property
    def copies(self) -> list[MergedHit]:
        return [each for each in (self.found, *self.similar) if each is not self.original]

    def takes(self, hit: HitRow) -> bool:
        """Tell whether one copy more may be folded under this result."""
        return hit.host == self.found.hit.host or self.elsewhere < MAX_ELSEWHERE

    def add(self, found: MergedHit) -> None:
        """Fold a copy under this result."""
        self.similar.append(found)
        self.elsewhere += found.hit.host != self.found.hit.host


def pick(
    order: Iterable[MergedHit], are_alike: AreAlike, enough: int, is_crowded: bool = True, is_whole: bool = True
) -> list[PickedHit]:
    """Pick the first `enough` results of an order; `are_alike` has the last word on two whose marks are near.

    `is_crowded`: whether many results of one host are too many, as they are not where a site was asked for. `is_whole`:
    whether nothing follows the order; where something may, results that depend on it are left out.
    """
    rest = list(order)
    picker = _Picker(are_alike, rest if is_crowded else ())
    limits = (OF_ONE_HOST, TEN) if is_crowded and is_whole else (OF_ONE_HOST,) if is_crowded else (TEN,)
    while rest and len(picker.picked) < enough:
        room = min(TEN, enough - len(picker.picked))
        rest, is_full = picker.pick_ten(rest, room, limits)
        if not is_full:
            break
    for found in rest:
        picker.fold(found)
    return picker.picked


def first_hits(order: Sequence[MergedHit]) -> Iterator[MergedHit]:
    """Yield the ten hits of which others may be shown in place of their copies, at most three of a host."""
    return islice(_first_of_hosts(order), TEN)


def plainest(picked: PickedHit, first: Container[bytes], urls: Mapping[bytes, str]) -> MergedHit:
    """Return the hit to be shown of a result: of those that rank as the original among copies, the plainest address.
    `first`: the ids of the first hits; `urls`: the addresses that are known, by id."""
    shown = picked.original
    for each in picked.copies[:SIMILAR]:
        one, other = each.hit, shown.hit
        if {one.id, other.id} <= urls.keys() and one.id in first and _place(one) == _place(other):
            shown = each if is_plainer(urls[one.id], urls[other.id]) else shown
    return shown


def _place(hit: HitRow) -> tuple[int, int]:
    return place_among_copies(hit.foreign, hit.first_seen)


def _first_of_hosts(order: Sequence[MergedHit]) -> Iterator[MergedHit]:
    """Yield the first three hits of each host, down the order."""
    of_host = Counter[bytes]()
    for found in order:
        of_host[found.hit.host] += 1
        if of_host[found.hit.host] <= OF_ONE_HOST:
            yield found


def place_among_copies(foreign: int, first_seen: int) -> tuple[int, int]:
    """Return what is compared of copies, the smallest of which is shown: how foreign each is, then the day that it was
    first seen. One that is unknown comes after all others."""
    return foreign, first_seen or 1 << 16


class _Picker:
    """Results so far."""

    def __init__(self, are_alike: AreAlike, order: Sequence[MergedHit]) -> None:
        """`order`: the hits of whose first ones the one that was seen first is shown."""
        self._are_alike, self._order = are_alike, order
        self._shown = NearIndex()
        self.picked: list[PickedHit] = []

    def fold(self, found: MergedHit) -> bool:
        """Fold a hit under the first result that it is a copy of, and tell whether there is one."""
        near = (self.picked[place] for place in self._shown.near(found.hit))
        first = next((e for e in near if e.takes(found.hit) and self._are_alike(e.found.hit, found.hit)), None)
        if first is not None:
            first.add(found)
            if _place(found.hit) < _place(first.original.hit) and found in first_hits(self._order):
                first.original = found
        return first is not None

    def pick_ten(self, rest: list[MergedHit], room: int, limits: Sequence[int]) -> tuple[list[MergedHit], bool]:
        """Show up to `room` of these hits, and at most as many of one host as the first limit allows. Where they are
        too few, go through those passed over by the next limit. Return the rest, and whether there were enough."""
        of_host = Counter[bytes]()
        for number, most in enumerate(limits):
            passed: list[MergedHit] = []
            for place, found in enumerate(rest):
                if not room:
                    return passed + rest[place:], True
                if of_host[found.hit.host] >= most:
                    passed.append(found)
                elif not self.fold(found):
                    self.picked.append(PickedHit(found, found, is_filling=number > 0))
                    self._shown.add(found.hit)
                    of_host[found.hit.host] += 1
                    room -= 1
            rest = passed
        return rest, not room


def names_site(query: Query) -> bool:
    """Tell whether a query asks for sites, so that many results of one are wished."""
    return _names_site(query.root)


def bounds_hosts(query: Query) -> bool:
    """Tell whether many results of one host are too many: not where its site was asked for, nor where dates decide."""
    return not names_site(query) and not query.is_by_date


def _names_site(node: QueryNode) -> bool:
    if isinstance(node, QueryGroup):
        return any(map(_names_site, node.children))
    return isinstance(node, SiteFilter)


@dataclass(frozen=True, slots=True)
class SiteHits:
    """Holds the places after which hosts may have more hits than peers gave (`ends`), and how many matches hosts have
    at least (`counts`)."""

    ends: Mapping[bytes, Place] = field(default_factory=dict)
    counts: Mapping[bytes, int] = field(default_factory=dict)

    def are_enough(self, picked: Sequence[PickedHit], is_full: bool) -> bool:
        """Return whether no hit that peers kept back could stand among the picked. For each host with such hits, each
        ten must either end before the place where they may begin, or show three of that host before. It must not be
        filled from beyond that place.
        `is_full`: the picked are all that was wanted; where they are not, what was kept back would follow them."""
        return not self.ends or (is_full and all(map(self._is_sure, _tens(picked))))

    def _is_sure(self, ten: Sequence[PickedHit]) -> bool:
        shown = [each.found.hit for each in ten if not each.is_filling]
        filling = [each.found.hit.place for each in ten if each.is_filling]
        last = max(each.found.hit.place for each in ten)
        for host, end in self.ends.items():
            before = sum(hit.host == host and hit.place <= end for hit in shown)
            if (filling or last > end) and before < OF_ONE_HOST:
                return False
            if filling and max(filling) > end:
                return False
        return True

    def more(self, picked: Sequence[PickedHit]) -> dict[bytes, int]:
        """Return the least number of further matches of each host of the picked hits: those that are neither picked nor
        copies of picked ones. Keys are the ids of the last picked hit of each host; hosts without further matches are
        left out."""
        last = {each.found.hit.host: each.found.hit.id for each in picked}
        seen = Counter(found.hit.host for each in picked for found in (each.found, *each.similar))
        return {id_: self.counts[host] - seen[host] for host, id_ in last.items() if self.counts[host] > seen[host]}


def site_hits(
    answers: Iterable[tuple[BestAnswer, int]], per_host: int, reach: Callable[[float], float] | None = None
) -> SiteHits:
    """Gather what answers tell of hosts; with each answer, how many of its slots count. `reach`: what a page of a host
    that an answer left out scores at most, by the last one that it has; None: no more than that."""
    ends: dict[bytes, Place] = {}
    counts = Counter[bytes]()
    for answer, slots in answers:
        told = dict(answer.hosts) if slots == len(answer.slots) else {}
        given = Counter(hit.host for hit in answer.hits)
        for host, number in given.items():
            counts[host] += max(number, told.get(host, 0))
        last = {hit.host: hit.place for hit in answer.hits}  # they are best first
        if reach is not None:
            last = {host: (day, -reach(-negative), b"") for host, (day, negative, _) in last.items()}
        for host in (host for host, number in given.items() if number >= per_host > 0):
            ends[host] = min(ends.get(host, last[host]), last[host])
    return SiteHits(ends, counts)


def _tens(picked: Sequence[PickedHit]) -> list[Sequence[PickedHit]]:
    return [picked[start : start + TEN] for start in range(0, len(picked), TEN)]
