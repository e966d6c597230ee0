"""A term's row: in which slots it has the greatest impact, and one bound for all others.

Pure: what slots say in, a row out. The slots of a term are many where it is common; then its weight is little, and
one bound for most of them costs little. How many documents of each stem class hold it is exact, because scores need it:
a query asks documents of different classes for different terms (`leaf.py`). Slots are named in an array, because a
query reads thousands of them.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from dht import Slot
from index.directory.impact import DirectoryEpoch, TermImpacts
from index.query.collection_statistics import Statistics
from index.query.leaf import Phrase, Term
from index.query.parser import Query
from index.text.field_terms import FieldTerms

MOST_NAMED = 1024  # slots in a row
FEW_NAMED = 64  # slots that a row may name, in however great a page
MOST_DF = 127  # of a slot that is named: so many or more
IS_NAME = 128
ENTRY = np.dtype([("slot", "<u2"), ("level", "u1"), ("mark", "u1")])
HASH_BYTES = 8  # among 10⁸ terms one pair in 3,700 networks is alike; who makes one raises a word's df, as pages would


@dataclass(frozen=True, slots=True)
class SlotEntry:
    """Says of a term in one slot: its greatest level, in how many documents it is, and whether it names a front page
    there."""

    slot: Slot
    level: int
    df: int
    is_name: bool = False


@dataclass(frozen=True, slots=True)
class RestOfSlots:
    """Says of a term in all slots that its row does not name: how many have it, and what none of them exceeds."""

    slots: int
    level: int
    is_name: bool = False


def entries_of(said: Iterable[SlotEntry]) -> NDArray[np.void]:
    """Return what slots say as an array of ENTRY, by ascending slot. `mark`: in how many documents the term is, as far
    as `MOST_DF`, and `IS_NAME` where it names a front page."""
    ordered = sorted(said, key=attrgetter("slot"))
    marks = (min(each.df, MOST_DF) | IS_NAME * each.is_name for each in ordered)
    return np.array([(each.slot, each.level, mark) for each, mark in zip(ordered, marks, strict=True)], ENTRY)


@dataclass(frozen=True, slots=True, eq=False)
class TermRow:
    """Holds what the directory knows of a term. `entries`: an array of ENTRY, by ascending slot; `by_class`: how many
    documents of which stem class hold it, ascending."""

    entries: NDArray[np.void] = field(default_factory=lambda: np.zeros(0, ENTRY))
    rest: RestOfSlots | None = None
    by_class: tuple[tuple[int, int], ...] = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TermRow) and self._values == other._values

    def __hash__(self) -> int:
        return hash(self._values)

    @property
    def _values(self) -> tuple[object, ...]:
        return self.entries.tobytes(), self.rest, self.by_class

    def df(self, classes: int) -> int:
        """Return how many documents of some stem classes, a bit each, hold the term."""
        return sum(count for number, count in self.by_class if classes >> number & 1)

    @property
    def slots(self) -> int:
        """In how many slots the term is."""
        return len(self.entries) + (self.rest.slots if self.rest else 0)

    def at(self, slots: NDArray[np.integer]) -> NDArray[np.void]:
        """Return what the row says of some slots, ascending, among which are all that it names."""
        found = np.zeros(len(slots), ENTRY)
        found["slot"] = slots
        if self.rest:
            found["level"], found["mark"] = self.rest.level, IS_NAME * self.rest.is_name
        found[np.searchsorted(slots, self.entries["slot"])] = self.entries
        return found


NOWHERE = TermRow()


@dataclass(slots=True)
class _Seen:
    level: int = 0
    is_name: bool = False
    by_class: Counter[int] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class SlotTerm:
    """Says of a term what one slot's documents together say of it."""

    entry: SlotEntry
    by_class: tuple[tuple[int, int], ...]


class SlotSummary:
    """Sums up the documents of one slot term by term, for the owners of the terms' rows."""

    def __init__(self, slot: Slot) -> None:
        self._slot = slot
        self._seen: dict[str, _Seen] = {}

    def add(self, fields: FieldTerms, stem_class: int, impacts: TermImpacts) -> None:
        """Take a document of the slot."""
        levels, names = impacts.levels.tolist(), impacts.is_name.tolist()
        for term, level, is_name in zip(fields.vocabulary, levels, names, strict=True):
            seen = self._seen.get(term)
            if seen is None:
                seen = self._seen[term] = _Seen()
            seen.level = max(seen.level, level)
            seen.is_name = seen.is_name or is_name
            seen.by_class[stem_class] += 1

    def terms(self) -> Mapping[str, SlotTerm]:
        """Return what the slot says of each of its terms."""
        return {term: self._said(seen) for term, seen in self._seen.items()}

    def _said(self, seen: _Seen) -> SlotTerm:
        entry = SlotEntry(self._slot, seen.level, seen.by_class.total(), seen.is_name)
        return SlotTerm(entry, tuple(sorted(seen.by_class.items())))


def merge_row(said: Iterable[SlotTerm], most: int = MOST_NAMED) -> TermRow:
    """Make a term's row of what all slots that have it say, each once: it names the slots of greatest level."""
    by_class, entries = Counter[int](), list[SlotEntry]()
    for each in said:
        entries.append(each.entry)
        by_class.update(dict(each.by_class))
    entries.sort(key=lambda each: (-each.level, -each.df, each.slot))
    named, others = entries[:most], entries[most:]
    rest = RestOfSlots(len(others), others[0].level, any(each.is_name for each in others)) if others else None
    return TermRow(entries_of(named), rest, tuple(sorted(by_class.items())))


@lru_cache(1 << 16)  # 13 MB; most words of a page were on some page before
def hash_of(term: str) -> bytes:
    """Return by which a term's row is found."""
    return sha256(b"term\0" + term.encode()).digest()[:HASH_BYTES]


def terms_of(query: Query) -> tuple[str, ...]:
    """Return the terms whose rows a query needs, each once: of each of its words, those of all stem classes."""
    found = dict[str, None]()
    for leaf in query.leaves:
        words = [leaf] if isinstance(leaf, Term) else [*leaf.words, *filter(None, (leaf.joined,))]
        for word in words:
            found |= dict.fromkeys(stem.term for stem in word.stems)
    return tuple(found)


def statistics_of(query: Query, epoch: DirectoryEpoch, rows: Mapping[str, TermRow]) -> Statistics | None:
    """Return the statistics of a query as its rows tell them; None where they do not: a phrase has no row, and some
    rows may not be known, or be by another analyzer than the query."""
    if query.rules.analyzer.number != epoch.analyzer:
        return None
    df = []
    for leaf in query.leaves:
        if isinstance(leaf, Phrase) or any(stem.term not in rows for stem in leaf.stems):
            return None
        df.append(sum(rows[stem.term].df(stem.classes) for stem in leaf.stems))
    return Statistics(epoch.documents, epoch.lengths, tuple(df))
