"""Finds the leaves of one query in many forward records, and looks for each term once.

Pure: values only. What is looked for depends on a record's stem class alone, so it is written out once for each class.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from index.query.leaf import Leaf, Phrase, terms_in
from index.query.scoring import follow_each_other
from index.text.forward_index import ForwardRecord, needle_of

_Ways = tuple[tuple[int, ...], ...]  # any of these is enough; all terms of one are needed, each by its number


class _Needles(NamedTuple):
    """The terms for records of one stem class. `leaves`: of each the number of its term, or how a phrase may be
    written."""

    needles: tuple[bytes, ...]
    leaves: tuple[int | _Ways, ...]


class LeafFinder:
    """Finds these leaves in records."""

    def __init__(self, leaves: Sequence[Leaf]) -> None:
        self._leaves = leaves
        self._known: dict[int, _Needles] = {}  # by stem class

    def find(self, forward: ForwardRecord) -> tuple[list[int], tuple[bool, ...]]:
        """Return where each term stands in a record's table, for `positions`; and for each leaf whether it may occur:
        of a phrase the record has all words, wherever they stand."""
        wanted = self._wanted(forward.stem_class)
        places = list(map(forward.table.find, wanted.needles))
        return places, tuple(
            [places[leaf] >= 0 if isinstance(leaf, int) else _may_stand(places, leaf) for leaf in wanted.leaves]
        )

    def positions(self, forward: ForwardRecord, places: Sequence[int]) -> list[list[int]]:
        """Return the positions at which each leaf begins, ascending; `places` is what `find` returned."""
        wanted, every = self._wanted(forward.stem_class), forward.positions_of(places)
        return [every[leaf] if isinstance(leaf, int) else _begins(every, leaf) for leaf in wanted.leaves]

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
    needles = map(needle_of, terms_in(leaf, stem_class))
    apart = tuple([numbers.setdefault(needle, len(numbers)) for needle in needles])
    joined = leaf.joined if isinstance(leaf, Phrase) else None
    return (apart, *_ways(joined, stem_class, numbers)) if joined else (apart,)
