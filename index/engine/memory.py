"""An engine in memory: postings in dictionaries. For the simulator and for tests, exact and without threads.

Pure: values only. It leaves nothing out until `limit`, and then cannot say what it left out.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from index.engine.protocol import Candidates, Facets, IndexEntry, Scale, commonest
from index.engine.slot_counts import SlotCounts, counted
from index.query.collection_statistics import CELL_BITS
from index.query.leaf import Form, Leaf, forms_of
from index.query.parser import Condition, LanguageFilter, Query, QueryNode, SiteFilter, TagFilter, select
from index.query.query_tree import all_of
from index.text.field_terms import FieldTerms
from index.text.stem_classes import class_of

_Key = str | SiteFilter | LanguageFilter | TagFilter  # a term, or what a filter asks for
_Lines = tuple[tuple[str, ...], ...]  # a document's title, each heading, address, body and boilerplate


class MemoryEngine:
    """An engine of Python dictionaries. Changes are visible at `commit`, like those of every engine."""

    def __init__(self) -> None:
        self._entries: dict[int, tuple[IndexEntry, _Lines]] = {}
        self._postings: dict[_Key, set[int]] = {}
        self._words: dict[str, set[int]] = {}
        self._titles: dict[str, set[int]] = {}
        self._added: list[IndexEntry] = []
        self._removed: list[int] = []

    def add(self, entries: Iterable[IndexEntry]) -> None:
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
                for lists, texts in self._written(found[0]):
                    for text in texts:
                        lists[text].discard(number)
        for entry in self._added:
            lines = _lines(entry.fields)
            self._entries[entry.number] = (entry, lines)
            for key in _keys(entry, lines):
                self._postings.setdefault(key, set()).add(entry.number)
            for lists, texts in self._written(entry):
                for text in texts:
                    lists.setdefault(text, set()).add(entry.number)
        self._added, self._removed = [], []

    def recover(self) -> None:
        self._added, self._removed = [], []

    def check_files(self) -> Iterator[None]:
        return iter(())

    def clear(self) -> None:
        self.__init__()  # type: ignore[misc]

    def counts(self, node: QueryNode, slot_bits: int) -> SlotCounts:
        return counted(self._entries[number][0].cell >> (CELL_BITS - slot_bits) for number in select(node, self._find))

    def facets(self, node: QueryNode, slots: frozenset[int], slot_bits: int) -> Facets:
        shift, found = CELL_BITS - slot_bits, (self._entries[number][0] for number in select(node, self._find))
        return commonest(entry.facets for entry in found if entry.cell >> shift in slots)

    def host_counts(
        self, node: QueryNode, hosts: Sequence[bytes], slots: frozenset[int], slot_bits: int
    ) -> Sequence[int]:
        shift, found = CELL_BITS - slot_bits, (self._entries[number][0] for number in select(node, self._find))
        by_host = Counter(entry.host for entry in found if entry.cell >> shift in slots)
        return [by_host[host] for host in hosts]

    def candidates(self, query: Query, slots: frozenset[int], slot_bits: int, scale: Scale, limit: int) -> Candidates:
        shift = CELL_BITS - slot_bits
        matching = select(all_of([query.root, *scale.needed]), self._find)
        found = sorted(number for number in matching if self._entries[number][0].cell >> shift in slots)
        complete = len(found) <= limit
        bounds = (float("inf"),) * len(found[:limit])
        return Candidates(found[:limit], bounds, complete, 0.0 if complete else float("inf"))

    def word_counts(self, word: str, slot_bits: int) -> SlotCounts:
        found = self._words.get(word, ())
        return counted(self._entries[number][0].cell >> (CELL_BITS - slot_bits) for number in found)

    def word_count(self, word: str) -> int:
        return len(self._words.get(word, ()))

    def words_from(self, prefix: str, limit: int) -> Sequence[tuple[str, int]]:
        return _commonest(self._words, prefix, limit)

    def terms_from(self, prefix: str, limit: int) -> Sequence[tuple[str, int]]:
        terms = {key: numbers for key, numbers in self._postings.items() if isinstance(key, str)}
        return _commonest(terms, prefix, limit)

    def words_together(self, words: Sequence[str]) -> int:
        return len(set.intersection(*(self._words.get(word, set()) for word in words)))

    def titles_from(self, prefix: str, limit: int) -> Sequence[tuple[str, int]]:
        return _commonest(self._titles, prefix, limit)

    def close(self) -> None:
        self.clear()

    def _written(self, entry: IndexEntry) -> list[tuple[dict[str, set[int]], Sequence[str]]]:
        return [(self._words, entry.words), (self._titles, [entry.title] if entry.title else [])]

    def _find(self, leaf: Condition) -> frozenset[int]:
        if not isinstance(leaf, Leaf):
            return frozenset(self._postings.get(leaf, ()))
        return frozenset(number for form in forms_of(leaf) for number in self._holding(form))

    def _holding(self, form: Form) -> Iterator[int]:
        for number in set.intersection(*(self._postings.get(term, set()) for term in form.terms)):
            entry, lines = self._entries[number]
            if form.classes >> class_of(entry.language) & 1 and _is_in_one(lines, form.terms):
                yield number


def _commonest(lists: Mapping[str, set[int]], prefix: str, limit: int) -> Sequence[tuple[str, int]]:
    found = [(text, len(numbers)) for text, numbers in lists.items() if numbers and text.startswith(prefix)]
    return sorted(found, key=lambda each: (-each[1], each[0]))[:limit]


def _lines(fields: FieldTerms) -> _Lines:
    return (
        tuple(fields.title),
        *map(tuple, fields.headings),
        tuple(fields.url),
        tuple(fields.body),
        tuple(fields.boilerplate),
    )


def _keys(entry: IndexEntry, lines: _Lines) -> set[_Key]:
    words: set[_Key] = {term for line in lines for term in line}
    tags: set[_Key] = {TagFilter(tag) for tag in entry.tags}
    return words | tags | {SiteFilter(host) for host in entry.hosts} | {LanguageFilter(entry.language)}


def _is_in_one(lines: _Lines, phrase: tuple[str, ...]) -> bool:
    """Tell whether terms, each of which is somewhere in the lines, follow each other in one of them."""
    return len(phrase) == 1 or any(_follow(line, phrase) for line in lines)


def _follow(line: tuple[str, ...], phrase: tuple[str, ...]) -> bool:
    size, place = len(phrase), -1
    for _ in range(line.count(phrase[0])):
        place = line.index(phrase[0], place + 1)
        if line[place : place + size] == phrase:
            return True
    return False
