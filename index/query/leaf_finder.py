"""Finds the leaves of one query in many forward records, and looks for each term once.

Pure: values only. What is looked for depends on a record's stem class alone, so it is written out once for each class.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import chain

from index.query.leaf import Leaf, Phrase, terms_in
from index.query.scoring import follow_each_other
from index.text.forward_index import ForwardRecord, needle_of

_Needles = tuple[tuple[bytes, ...], ...]  # any of these is enough; all terms of one are needed
_Needle = bytes | _Needles


class LeafFinder:
    """Finds these leaves in records."""

    def __init__(self, leaves: Sequence[Leaf]) -> None:
        self._leaves = leaves
        self._known: dict[int, list[_Needle]] = {}  # by stem class, for each leaf

    def find(self, forward: ForwardRecord) -> list[int]:
        """Return for each leaf where its term stands in a record's table; 0 for a phrase of which the record has all
        words, wherever they stand; below 0 where the leaf cannot occur."""
        needles = self._known.get(forward.stem_class)
        if needles is None:
            needles = self._known[forward.stem_class] = [_needle(leaf, forward.stem_class) for leaf in self._leaves]
        find = forward.table.find
        return [find(either) if isinstance(either, bytes) else _find_any(forward, either) for either in needles]

    def positions(self, forward: ForwardRecord, found: Sequence[int]) -> list[array[int]]:
        """Return the positions at which each leaf begins, ascending; `found` is what `find` returned."""
        return [
            forward.positions_at(place) if place < 0 or isinstance(needle, bytes) else _where(forward, needle)
            for needle, place in zip(self._known[forward.stem_class], found, strict=True)
        ]


def _find_any(forward: ForwardRecord, either: _Needles) -> int:
    find = forward.table.find
    for every in either:
        for needle in every:
            if find(needle) < 0:
                break
        else:
            return 0
    return -1


def _where(forward: ForwardRecord, either: _Needles) -> array[int]:
    """Where any of the ways to write a phrase begins."""
    ways = [follow_each_other([forward.positions_at(forward.find(needle)) for needle in every]) for every in either]
    return ways[0] if len(ways) == 1 else array("H", sorted(chain.from_iterable(ways)))


def _needle(leaf: Leaf, stem_class: int) -> _Needle:
    found = _needles(leaf, stem_class)
    return found[0][0] if len(found) == len(found[0]) == 1 else found


def _needles(leaf: Leaf, stem_class: int) -> _Needles:
    apart = tuple(map(needle_of, terms_in(leaf, stem_class)))
    joined = leaf.joined if isinstance(leaf, Phrase) else None
    return (apart, *_needles(joined, stem_class)) if joined else (apart,)
