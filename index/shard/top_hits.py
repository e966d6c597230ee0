"""A peer's best hits of a query so far, at most so many of one host.

Pure: values only. Proximity, the dear part of a score, is computed only where it can still matter.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from index.engine.forward_table import ForwardRow
from index.query.doubt import is_obscure
from index.query.foreign import Foreign
from index.query.leaf import Leaf, terms_in, words_of
from index.query.parser import Query
from index.query.query_tree import demands_a_leaf
from index.query.scoring import Needed, Scorer, closeness, follow_each_other, max_proximity
from index.shard.messages import HitRow
from index.text import text_leaf
from index.text.forward_index import Counts, ForwardRecord, by_field, decode_forward, host_in, needle_of, within_fields
from index.text.site_host import HOST_BYTES

MAX_CLOSED = 64  # hosts that an engine is told to leave out

_Entry = tuple[float, int, int, HitRow]  # score and negative id, by which the order goes; number
_Measured = tuple[tuple[Counts, ...], int, bool]  # counts by field, closeness, and whether any leaf is anywhere
_Ways = tuple[tuple[int, ...], ...]  # any of these is enough; all terms of one are needed, each by its number


class TopHits:
    """The best `k` hits so far, of each host the best `per_host`; what scores less than `floor` is of no use."""

    def __init__(self, query: Query, scorer: Scorer, k: int, floor: float, per_host: int) -> None:
        self._query, self._scorer, self._k, self._floor, self._per_host = query, scorer, k, floor, per_host
        self._most, self._finder = max_proximity(query), LeafFinder(query.leaves, text_leaf.leaf)
        self._foreign, self._demands_a_leaf = Foreign(query), demands_a_leaf(query)
        self._seen: set[int] = set()
        self._heap: list[_Entry] = []  # the worst first: lowest score, then highest id
        self._of: dict[bytes, list[_Entry]] = {}  # each host's best, the worst first
        self.closed: set[bytes] = set()  # hosts whose best are all here

    @property
    def least(self) -> float:
        """The score that a document must reach to be of use; -1.0 while any will do."""
        return max(self._floor, self._heap[0][0]) if len(self._heap) >= self._k else self._floor or -1.0

    def unseen(self, numbers: Iterable[int]) -> list[int]:
        """Return those of these numbers that were not returned before."""
        new = [number for number in numbers if number not in self._seen]
        self._seen.update(new)
        return new

    def score(self, rows: Iterable[ForwardRow], bounds: Mapping[int, tuple[float, float]]) -> None:
        """Score documents, the most promising first, and keep the best. `bounds`: what the score of each is at most,
        and its relevance."""
        for row in sorted(rows, key=lambda row: bounds[row.number], reverse=True):
            hit = self._score(row, *bounds[row.number])
            if hit is not None:
                self._keep((hit.score, -int.from_bytes(hit.id, "big"), row.number, hit))

    def may_use(self, bound: float) -> bool:
        """Tell whether a document can be of use whose relevance is not above a bound."""
        return self.least <= bound * self._most

    def takes(self, most: float, host: int | None) -> bool:
        """Tell whether a document can be of use that scores `most` at most. `host`: the digest of its host, None where
        that is unknown."""
        if most < self.least:
            return False
        mine = self._of.get(host.to_bytes(HOST_BYTES, "big"), []) if host is not None else []
        return len(mine) < self._per_host or most >= mine[0][0]

    def needed(self, bound: float) -> Needed:
        """Tell what a document needs to have to be of use whose relevance is not above a bound, and what all others
        score at most."""
        found = self._scorer.needed(self.least / bound if bound > 0 else 0.0)
        return found._replace(others=bound * found.others)

    def close_hosts(self, bound: float) -> bool:
        """Close the hosts that have as many hits as are wanted, all above those of a relevance that is not above a
        bound; tell whether there are new ones."""
        before = len(self.closed)
        full = [(mine[0][0], host) for host, mine in self._of.items() if len(mine) >= self._per_host]
        for last, host in sorted(full, key=lambda pair: pair[0], reverse=True):
            if last > bound * self._most and len(self.closed) < MAX_CLOSED:
                self.closed.add(host)
        return len(self.closed) > before

    def hits(self) -> list[HitRow]:
        """List the best, best first."""
        return [hit for *_, hit in sorted(self._heap, reverse=True)]

    def _keep(self, entry: _Entry) -> None:
        mine = self._of.setdefault(entry[3].host, [])
        if len(mine) < self._per_host:
            heapq.heappush(mine, entry)
        else:
            worst = heapq.heappushpop(mine, entry)
            if worst is entry:
                return
            if worst in self._heap:  # a better one takes its place, so the least never falls
                self._heap.remove(worst)
                heapq.heapify(self._heap)
        if len(self._heap) < self._k:
            heapq.heappush(self._heap, entry)
        else:
            heapq.heappushpop(self._heap, entry)

    def _score(self, row: ForwardRow, most: float, bound: float) -> HitRow | None:
        mine = self._of.get(host_in(row.record), [])
        least = max(self.least, mine[0][0] if len(mine) >= self._per_host else -1.0)
        if most < least:
            return None
        forward = decode_forward(row.record)
        found, has = self._finder.find(forward)
        covered, closest = self._scorer.factors(has)
        if bound * covered * closest < least:
            return None
        tfs, close, is_anywhere = self._finder.measure(forward, found)
        if self._demands_a_leaf and not is_anywhere:  # a word of a phrase, and not the phrase
            return None
        traits = forward.is_front, self._foreign.of(forward), is_obscure(forward.site_links)
        alone = self._scorer.before_proximity(tfs, forward.lengths, *traits)
        score = alone * self._scorer.proximity(close)
        if score < least:
            return None
        numbers = score, tfs, forward.lengths, close
        day = forward.day if self._query.is_by_date else 0
        marks, seen = (forward.host, forward.signature, day), (forward.first_seen, forward.title_numbers)
        return HitRow(row.id, row.key, row.version, forward.digest, *numbers, *marks, *traits, *seen)


class _Needles(NamedTuple):
    """The terms for records of one stem class. `leaves`: of each the number of its term, or how a phrase may be
    written."""

    needles: tuple[bytes, ...]
    leaves: tuple[int | _Ways, ...]


class LeafFinder:
    """Finds these leaves in many records, and looks for each term once.

    The terms depend on a record's stem class alone, so they are written out once for each class."""

    def __init__(self, leaves: Sequence[Leaf], compiled: text_leaf.TextLeaf | None) -> None:
        self._leaves, self._compiled = leaves, compiled
        self.spans = tuple([len(words_of(leaf)) for leaf in leaves])
        self._known: dict[int, _Needles] = {}  # by stem class

    def find(self, forward: ForwardRecord) -> tuple[list[int], tuple[bool, ...]]:
        """Return two lists. The first has the place of each term in the record's table, -1 where it is missing;
        `positions` takes it. The second tells for each leaf whether the record may hold it; a phrase may occur where
        all its words do."""
        wanted = self._wanted(forward.stem_class)
        places = list(map(forward.table.find, wanted.needles))
        return places, tuple(
            [places[leaf] >= 0 if isinstance(leaf, int) else _may_stand(places, leaf) for leaf in wanted.leaves]
        )

    def positions(self, forward: ForwardRecord, places: Sequence[int]) -> list[list[int]]:
        """Return the positions at which each leaf begins, ascending; `places` is what `find` returned."""
        wanted, every = self._wanted(forward.stem_class), forward.positions_of(places)
        return [every[leaf] if isinstance(leaf, int) else _begins(every, leaf) for leaf in wanted.leaves]

    def measure(self, forward: ForwardRecord, places: list[int]) -> _Measured:
        """Measure a record; `places` is what `find` returned."""
        if not self._compiled:
            return self.measured(forward, places)
        tables, leaves = (forward.table, forward.rows, forward.low), self._wanted(forward.stem_class).leaves
        found: _Measured = self._compiled.measure_leaves(*tables, forward.many, places, leaves, self.spans)
        return found

    def measured(self, forward: ForwardRecord, places: Sequence[int]) -> _Measured:
        """Measure a record without the compiled leaf: the definition of what that gives."""
        everywhere = self.positions(forward, places)
        inside = list(map(within_fields, everywhere))
        return tuple(map(by_field, inside)), closeness(self._leaves, inside), any(everywhere)

    def _wanted(self, stem_class: int) -> _Needles:
        if (known := self._known.get(stem_class)) is None:
            numbers = dict[bytes, int]()
            ways = [_ways(leaf, stem_class, numbers) for leaf in self._leaves]
            leaves = tuple([way[0][0] if len(way) == len(way[0]) == 1 else way for way in ways])
            known = self._known[stem_class] = _Needles(tuple(numbers), leaves)
        return known


def _may_stand(places: Sequence[int], ways: _Ways) -> bool:
    for every in ways:
        for number in every:
            if places[number] < 0:
                break
        else:
            return True
    return False


def _begins(positions: Sequence[list[int]], ways: _Ways) -> list[int]:
    """Where any of the ways to write a phrase begins."""
    found = [follow_each_other([positions[number] for number in every]) for every in ways]
    return found[0] if len(found) == 1 else sorted(chain.from_iterable(found))


def _ways(leaf: Leaf, stem_class: int, numbers: dict[bytes, int]) -> _Ways:
    """How a leaf may be written; its terms are numbered in the order in which they come."""
    every = (map(needle_of, terms) for terms in terms_in(leaf, stem_class))
    return tuple(tuple([numbers.setdefault(needle, len(numbers)) for needle in needles]) for needles in every)
