"""Puts pages into cells, and makes the directory of their terms: what a network's owners would hold together."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from zlib import crc32

import numpy as np

from benchmarks.scale.corpus import Corpus, Postings
from dht import Slot, placement_key
from index import Text
from index.directory.slot_bounds import Bits
from index.directory.term_row import NOWHERE, SlotEntry, SlotTerm, TermRow, merge_row, terms_of
from index.query.leaf import Phrase
from index.query.parser import Query
from index.text.site_host import host_of

HOST_BITS = 6  # 64 cells
Place = Callable[[Text], Slot]


class Cells:
    """A corpus in cells, with the rows of the terms that it keeps."""

    def __init__(self, corpus: Corpus, bits: int, place: Place) -> None:
        self.bits, self.epoch = bits, corpus.epoch(bits)
        self.places = np.array([place(text) for text in corpus.texts], np.int64)
        self._corpus = corpus
        self._rows: dict[str, TermRow] = {}

    def row(self, term: str) -> TermRow:
        """Return the row of a term that the corpus keeps."""
        if (known := self._rows.get(term)) is None:
            at = self._corpus.postings.get(term)
            known = self._rows[term] = merge_row(self._said(at)) if at else NOWHERE
        return known

    def _said(self, at: Postings) -> Iterator[SlotTerm]:
        """What each slot says of a term."""
        slots = self.places[at.numbers]
        order = np.argsort(slots, kind="stable")
        slots, classes = slots[order], self._corpus.classes[at.numbers][order]
        begins = np.flatnonzero(np.r_[True, slots[1:] != slots[:-1]])
        levels = np.maximum.reduceat(at.levels[order], begins).tolist()
        names = np.logical_or.reduceat(at.is_name[order], begins).tolist()
        dfs = np.diff(np.r_[begins, len(slots)]).tolist()
        by_class = [Counter(part.tolist()) for part in np.split(classes, begins[1:])]
        for each in zip(slots[begins].tolist(), levels, dfs, names, by_class, strict=True):
            slot, level, df, is_name, counts = each
            yield SlotTerm(SlotEntry(Slot(slot), level, df, is_name), tuple(sorted(counts.items())))

    @property
    def used(self) -> int:
        """How many cells hold a document."""
        return len(np.unique(self.places))

    def among(self, slots: Iterable[Slot]) -> Bits:
        """Return which documents lie in some slots."""
        is_asked = np.zeros(1 << self.bits, np.bool_)
        is_asked[list(slots)] = True
        found: Bits = is_asked[self.places]
        return found

    def rows_of(self, query: Query) -> dict[str, TermRow]:
        """Return the rows that a query needs."""
        return {term: self.row(term) for term in terms_of(query)}

    def slots_of(self, query: Query) -> int:
        """Return in how many slots the rarest word of a query is, by its commonest stem; 0 where none is anywhere."""
        words = [leaf.words if isinstance(leaf, Phrase) else (leaf,) for leaf in query.leaves]
        counts = [max(self.row(stem.term).slots for stem in word.stems) for each in words for word in each]
        return min((count for count in counts if count), default=0)


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
