"""Puts pages into cells, and makes the directory of their terms: what a network's owners would hold together."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from zlib import crc32

from dht import Slot, placement_key
from index import Text
from index.directory.impact import DirectoryEpoch, TermImpacts, impacts_of
from index.directory.term_row import NOWHERE, SlotSummary, SlotTerm, TermRow, merge_row, terms_of
from index.engine.matcher import matches
from index.query.collection_statistics import Statistics, add
from index.query.leaf import Phrase
from index.query.parser import Query
from index.query.scoring import occurrences, score
from index.query.search_rules import NEWEST_RULES
from index.text.field_terms import FieldTerms, analyse
from index.text.forward_index import ForwardRecord, forward_of
from index.text.site_host import front_name, host_of
from index.text.stem_classes import class_of

BEST = 10
HOST_BITS = 6  # 64 cells
Place = Callable[[Text], Slot]


@dataclass(frozen=True, slots=True)
class Found:
    """A document that matches, the best first."""

    score: float
    id: bytes
    number: int


class Corpus:
    """Documents, and the exact answer of each query."""

    def __init__(self, texts: Sequence[Text]) -> None:
        self.texts = texts
        self.fields: list[FieldTerms] = [analyse(text) for text in texts]
        self._forwards: dict[int, ForwardRecord] = {}
        self._holders: dict[str, list[int]] = defaultdict(list)
        lengths = (0, 0, 0, 0)
        for number, fields in enumerate(self.fields):
            lengths = add(lengths, self.forward(number).lengths)
            for term in fields.vocabulary:
                self._holders[term].append(number)
        self.lengths = lengths
        self._exact: dict[Query, tuple[Statistics, list[Found]]] = {}

    def forward(self, number: int) -> ForwardRecord:
        """Return a document's forward record."""
        if (known := self._forwards.get(number)) is None:
            known = self._forwards[number] = forward_of(self.texts[number])
        return known

    @cached_property
    def impacts(self) -> list[TermImpacts]:
        """The levels of each document's terms."""
        average = self.epoch(HOST_BITS).average
        rules = NEWEST_RULES.ranking
        pairs = zip(self.texts, self.fields, strict=True)
        return [impacts_of(fields, bool(front_name(text.url)), rules, average) for text, fields in pairs]

    def epoch(self, bits: int) -> DirectoryEpoch:
        """Return the epoch of a directory of all documents."""
        return DirectoryEpoch(1, *NEWEST_RULES.numbers, bits, len(self.texts), self.lengths)

    def exact(self, query: Query) -> tuple[Statistics, list[Found]]:
        """Return the statistics of a query and all documents that match it; remembered, as several layouts ask."""
        if (known := self._exact.get(query)) is None:
            known = self._exact[query] = self._searched(query)
        return known

    def _searched(self, query: Query) -> tuple[Statistics, list[Found]]:
        numbers = sorted({number for term in terms_of(query) for number in self._holders.get(term, ())})
        df = [sum(bool(occurrences(self.forward(number), leaf)) for number in numbers) for leaf in query.leaves]
        statistics = Statistics(len(self.texts), self.lengths, tuple(df))
        found = [
            Found(score(self.forward(number), query, statistics).score, self.texts[number].id, number)
            for number in numbers
            if matches(query.root, self.texts[number], self.forward(number))
        ]
        return statistics, sorted(found, key=lambda each: (-each.score, each.id))


class Cells:
    """A corpus in cells, with the rows of all its terms."""

    def __init__(self, corpus: Corpus, bits: int, place: Place) -> None:
        self.bits, self.epoch = bits, corpus.epoch(bits)
        self.places = [place(text) for text in corpus.texts]
        summaries = {slot: SlotSummary(slot) for slot in self.places}
        for number, slot in enumerate(self.places):
            stem_class = class_of(corpus.texts[number].language)
            summaries[slot].add(corpus.fields[number], stem_class, corpus.impacts[number])
        said = defaultdict[str, list[SlotTerm]](list)
        for summary in summaries.values():
            for term, each in summary.terms().items():
                said[term].append(each)
        self.rows = {term: merge_row(each) for term, each in said.items()}

    @property
    def used(self) -> int:
        """How many cells hold a document."""
        return len(set(self.places))

    def rows_of(self, query: Query) -> dict[str, TermRow]:
        """Return the rows that a query needs."""
        return {term: self.rows.get(term, NOWHERE) for term in terms_of(query)}

    def slots_of(self, query: Query) -> int:
        """Return in how many slots the rarest word of a query is, by its commonest stem; 0 where none is anywhere."""
        words = [leaf.words if isinstance(leaf, Phrase) else (leaf,) for leaf in query.leaves]
        counts = [max(self._slots(stem.term) for stem in word.stems) for each in words for word in each]
        return min((count for count in counts if count), default=0)

    def _slots(self, term: str) -> int:
        row = self.rows.get(term, NOWHERE)
        return len(row.entries) + (row.rest.slots if row.rest else 0)


def by_host(text: Text) -> Slot:
    """Place a page by its host alone."""
    return Slot(crc32(host_of(text.url).encode()) & (1 << HOST_BITS) - 1)


def by_slot(texts: Sequence[Text], bits: int) -> Place:
    """Return how a network of so many slots places these pages: a site of more than two slots' share is spread."""
    sizes = Counter(host_of(text.url) for text in texts)
    mean = len(texts) / (1 << bits)

    def place(text: Text) -> Slot:
        spread = max(0, int(sizes[host_of(text.url)] / (2 * mean)).bit_length())
        return Slot(int.from_bytes(bytes(placement_key(text.url, spread))[:4], "big") >> 32 - bits)

    return place
