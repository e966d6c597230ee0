"""Bounds the scores of candidates from the engine's columns, before any record is read.

Pure: columns and a query in, numbers out. A sketch says which words a document surely lacks and which neighbours in the
query surely do not stand side by side in it. That bounds its coverage and its closeness: words apart are at least two
positions from each other.
"""

from array import array
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from index.engine.protocol import FOREIGN, CandidateColumns, Candidates
from index.query.foreign import is_latin
from index.query.leaf import Leaf, Term, terms_in
from index.query.parser import Query
from index.query.rewards import MANY
from index.query.scoring import CLOSE_ONE, ROUNDED_UP, Scorer, max_proximity
from index.text.sketch import COLUMN_BITS, place_of, place_of_pair

APART = CLOSE_ONE // 2  # the closeness of two words that do not stand side by side, at most
_Bits = NDArray[np.bool_]
_Numbers = NDArray[np.float64]
_Every = tuple[int, ...]  # places that all are needed


class _Wanted(NamedTuple):
    """The demands of a query on documents of one stem class. `leaves`: of each, places any of which are enough;
    `pairs`: the place of each leaf beside the next, None where a sketch does not tell."""

    leaves: Sequence[tuple[_Every, ...]]
    pairs: Sequence[int | None]


class Ceilings:
    """Bounds the scores of candidates of one query."""

    def __init__(self, query: Query, scorer: Scorer) -> None:
        self._query, self._scorer = query, scorer
        self._most = max_proximity(query)
        self._foreign = query.rules.ranking.other_script if is_latin(query) else 1.0
        self._wanted: dict[int, _Wanted] = {}  # by stem class
        self._coverages: dict[int, float] = {}  # by the bits of the leaves that are there

    def of(self, found: Candidates, bounds: Sequence[float], part: slice) -> list[float]:
        """Return what each candidate of a part may score at most; no relevance is above its bound."""
        most = np.array(bounds[part]) * ROUNDED_UP
        if found.columns is None or not self._query.leaves:
            return _listed(most * self._most)
        traits = np.array(found.columns.traits(part))
        if len(self._query.leaves) > 1:
            has, near = self._read(_Columns(found.columns, part), traits & ~FOREIGN)
            most *= self._coverage(has) * self._proximity(has, near)
        if self._foreign < 1:
            most[traits & FOREIGN > 0] *= self._foreign
        return _listed(most)

    def _read(self, columns: "_Columns", classes: NDArray[np.int64]) -> tuple[_Bits, _Bits]:
        """Which leaves each document may have, and which of them beside the next; by leaf, then by document."""
        count = len(self._query.leaves)
        has, near = np.zeros((count, len(classes)), np.bool_), np.zeros((count - 1, len(classes)), np.bool_)
        for stem_class in sorted(set(classes.tolist())):
            here, wanted = classes == stem_class, self._wanted_of(stem_class)
            for number, either in enumerate(wanted.leaves):
                for every in either:
                    has[number] |= here & columns.all_of(every)
            for number, place in enumerate(wanted.pairs):
                near[number] |= here if place is None else here & columns.all_of((place,))
        return has, near

    def _coverage(self, has: _Bits) -> _Numbers | float:
        if len(has) >= MANY:
            return 1.0
        codes, by_code = np.packbits(has, axis=0, bitorder="little")[0], np.zeros(1 << 8)
        for code in set(codes.tolist()):
            by_code[code] = self._covered(code)
        found: _Numbers = by_code[codes]
        return found

    def _covered(self, code: int) -> float:
        """The coverage of a document that has the leaves whose bits are set."""
        if (known := self._coverages.get(code)) is None:
            has = [bool(code >> number & 1) for number in range(len(self._query.leaves))]
            known = self._coverages[code] = self._scorer.factors(tuple(has))[0]
        return known

    def _proximity(self, has: _Bits, near: _Bits) -> _Numbers:
        close = np.where(near, CLOSE_ONE, APART) * (has[1:] & has[:-1])
        found: _Numbers = 1 + (self._most - 1) * (close.sum(axis=0) // len(near) / CLOSE_ONE)
        return found

    def _wanted_of(self, stem_class: int) -> _Wanted:
        if (known := self._wanted.get(stem_class)) is None:
            leaves = self._query.leaves
            pairs = [_pair(one, other, stem_class) for one, other in pairwise(leaves)]
            known = self._wanted[stem_class] = _Wanted([_either(leaf, stem_class) for leaf in leaves], pairs)
        return known


class _Columns:
    """Reads the bits of a part of some candidates, each column once."""

    def __init__(self, columns: CandidateColumns, part: slice) -> None:
        self._columns, self._part = columns, part
        self._read: dict[int, NDArray[np.uint64]] = {}
        self._bits: dict[int, _Bits] = {}

    def all_of(self, places: Sequence[int]) -> _Bits:
        """Tell which documents may have all of these places."""
        found = self._at(places[0])
        for place in places[1:]:
            found = found & self._at(place)
        return found

    def _at(self, place: int) -> _Bits:
        if (known := self._bits.get(place)) is None:
            column, bit = divmod(place, COLUMN_BITS)
            if column not in self._read:
                bits = array("Q", self._columns.sketches(column, self._part))  # numpy reads a list half as fast
                self._read[column] = np.frombuffer(bits, np.uint64)
            known = self._bits[place] = self._read[column] & np.uint64(1 << bit) != 0
        return known


def _listed(most: _Numbers) -> list[float]:
    found: list[float] = most.tolist()
    return found


def _either(leaf: Leaf, stem_class: int) -> tuple[_Every, ...]:
    every = terms_in(leaf, stem_class)
    return tuple((*map(place_of, terms), *map(place_of_pair, terms, terms[1:])) for terms in every)


def _pair(one: Leaf, other: Leaf, stem_class: int) -> int | None:
    """The place of two words side by side. None for phrases and synonyms, and for one term, which is as near to itself
    as can be."""
    if not (isinstance(one, Term) and isinstance(other, Term)):
        return None
    ((first,),), ((second,),) = terms_in(one, stem_class), terms_in(other, stem_class)
    return place_of_pair(first, second) if first != second else None
