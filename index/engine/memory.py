"""An engine in memory: postings in dictionaries. For the simulator and for tests, exact and without threads.

Pure: values only. It leaves nothing out until `limit`, and then cannot say what it left out.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from index.engine.protocol import Candidates, IndexEntry, Scale
from index.query.collection_statistics import CELL_BITS
from index.query.parser import Condition, LanguageFilter, Phrase, Query, QueryNode, SiteFilter, Term, select
from index.text.forward_index import FieldTerms

_Lines = tuple[tuple[str, ...], ...]  # a document's title, each heading, address, body and boilerplate


class MemoryEngine:
    """An engine of Python dictionaries. Changes are visible at `commit`, like those of every engine."""

    def __init__(self) -> None:
        self._entries: dict[int, tuple[IndexEntry, _Lines]] = {}
        self._postings: dict[Condition, set[int]] = {}
        self._added: list[IndexEntry] = []
        self._removed: list[int] = []

    def add(self, entries: Sequence[IndexEntry]) -> None:
        self._added.extend(entries)

    def remove(self, numbers: Collection[int]) -> None:
        self._removed.extend(numbers)

    def remove_from(self, number: int) -> None:
        self._removed.extend(known for known in self._entries if known >= number)

    def commit(self) -> None:
        for number in self._removed:
            if found := self._entries.pop(number, None):
                for key in _keys(found[0], found[1]):
                    self._postings[key].discard(number)
        for entry in self._added:
            lines = _lines(entry.fields)
            self._entries[entry.number] = (entry, lines)
            for key in _keys(entry, lines):
                self._postings.setdefault(key, set()).add(entry.number)
        self._added, self._removed = [], []

    def clear(self) -> None:
        self.__init__()  # type: ignore[misc]

    def counts(self, node: QueryNode, slot_bits: int) -> Mapping[int, int]:
        return Counter(self._entries[number][0].cell >> (CELL_BITS - slot_bits) for number in select(node, self._find))

    def candidates(self, query: Query, slots: frozenset[int], slot_bits: int, scale: Scale, limit: int) -> Candidates:
        shift = CELL_BITS - slot_bits
        found = sorted(n for n in select(query.root, self._find) if self._entries[n][0].cell >> shift in slots)
        complete = len(found) <= limit
        return Candidates(found[:limit], complete, 0.0 if complete else float("inf"))

    def close(self) -> None:
        self.clear()

    def _find(self, leaf: Condition) -> frozenset[int]:
        if not isinstance(leaf, Phrase):
            return frozenset(self._postings.get(leaf, ()))
        found = frozenset.intersection(*(self._find(Term(term)) for term in leaf.terms))
        return frozenset(n for n in found if any(_holds(line, leaf.terms) for line in self._entries[n][1]))


def _lines(fields: FieldTerms) -> _Lines:
    return (
        tuple(fields.title),
        *map(tuple, fields.headings),
        tuple(fields.url),
        tuple(fields.body),
        tuple(fields.boilerplate),
    )


def _keys(entry: IndexEntry, lines: _Lines) -> set[Condition]:
    words: set[Condition] = {Term(term) for line in lines for term in line}
    return words | {SiteFilter(host) for host in entry.hosts} | {LanguageFilter(entry.language)}


def _holds(line: tuple[str, ...], phrase: tuple[str, ...]) -> bool:
    size = len(phrase)
    return any(line[i : i + size] == phrase for i in range(len(line) - size + 1))
