"""The terms by which tantivy looks for a leaf, class by class.

Numbers that follow each other ("3.11") are asked for by pairs, each one term. Single numbers stand nearly everywhere,
so a phrase of them would take longer than all else in a query.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import tantivy

from index.engine.tantivy_documents import (
    BOILERPLATE,
    CLASS_OF_REWARD,
    MARK,
    PAIRS_OF,
    REWARD,
    STEM_CLASS,
    TEXT,
    is_number,
    numbers_of,
    pair_of,
    term_in_class,
)
from index.query.leaf import Form, Leaf, forms_of
from index.text.stem_classes import CLASSES

REMEMBERED, COUNTED = 1024, 16_384  # leaves; terms


class Asked(NamedTuple):
    """A term, or those of a phrase, in a field of documents of some stem classes, a bit each."""

    field: str
    terms: tuple[str, ...]
    classes: int

    def query(self, schema: tantivy.Schema) -> tantivy.Query:
        """Return the query that asks for it."""
        if len(self.terms) == 1:
            return tantivy.Query.term_query(schema, self.field, self.terms[0])
        return tantivy.Query.phrase_query(schema, self.field, list(self.terms))


class _OfLeaf:
    """The terms of one leaf, as far as they were needed."""

    __slots__ = ("by_class", "by_field")

    def __init__(self) -> None:
        self.by_field: dict[str, Sequence[Asked]] = {}
        self.by_class: Mapping[int, tuple[Asked, ...]] | None = None


class AskedTerms:
    """Knows what the documents of one commit are asked for; what none of them holds is left out."""

    def __init__(self, searcher: tantivy.Searcher) -> None:
        self._searcher = searcher
        self._known: dict[Leaf, _OfLeaf] = {}
        self._dfs: dict[tuple[str, str], int] = {}
        self._classes: list[int] = []  # stem classes of which there are documents: of one where a leaf is looked for

    @property
    def classes(self) -> Sequence[int]:
        """The stem classes of which there are documents."""
        if not self._classes:
            count = self._searcher.doc_freq
            self._classes = [number for number in range(len(CLASSES)) if count(MARK, f"{STEM_CLASS}{number}")]
        return self._classes

    def of(self, leaf: Leaf, field: str) -> Sequence[Asked]:
        """Return the terms by which a leaf is found in the text, the boilerplate or a class of rewards. Each document
        holds at most one of them, or several if it holds synonyms."""
        by_field = self._of_leaf(leaf).by_field
        if (found := by_field.get(field)) is None:
            found = by_field[field] = [asked for asked in self._all_of(leaf, field) if self._is_there(asked)]
        return found

    def by_class(self, leaf: Leaf) -> Mapping[int, tuple[Asked, ...]]:
        """Return what is asked for a leaf in the text and the boilerplate of documents of each stem class, for those
        classes that may hold it."""
        known = self._of_leaf(leaf)
        if known.by_class is None:
            every = (*self.of(leaf, "text"), *self.of(leaf, "boilerplate"))
            by_class = {number: tuple(each for each in every if each.classes >> number & 1) for number in self.classes}
            known.by_class = {number: found for number, found in by_class.items() if found}
        return known.by_class

    def _of_leaf(self, leaf: Leaf) -> _OfLeaf:
        known = self._known
        if (found := known.get(leaf)) is None:
            if len(known) >= REMEMBERED:
                known.clear()
            found = known[leaf] = _OfLeaf()
        return found

    def _all_of(self, leaf: Leaf, field: str) -> Iterator[Asked]:
        reward = CLASS_OF_REWARD.get(field, "")
        if reward and all(asked.field == TEXT for asked in self.of(leaf, TEXT)):
            for _, terms, classes in self.of(leaf, TEXT):
                yield Asked(REWARD, tuple([reward + term for term in terms]), classes)
            return
        for form in forms_of(leaf):
            if not reward and _are_numbers(form):
                pairs = map(pair_of, form.terms, form.terms[1:])
                yield Asked(BOILERPLATE, tuple([PAIRS_OF[field] + pair for pair in pairs]), form.classes)
                continue
            for number in self.classes:
                if form.classes >> number & 1:
                    terms = tuple([reward + term_in_class(term, number) for term in form.terms])
                    yield Asked(REWARD if reward else field, terms, 1 << number)

    def in_text(self, asked: Asked) -> list[Asked]:
        """Return what asks for the rarest term of this in the text; of pairs, for the rarest number in each class."""
        if asked.field == TEXT:
            return [self.rarest(asked)]
        numbers = tuple(numbers_of(asked.terms))
        every = (Asked(TEXT, tuple([term_in_class(each, of) for each in numbers]), 1 << of) for of in self.classes)
        return list(filter(self._is_there, map(self.rarest, every)))

    def rarest(self, asked: Asked) -> Asked:
        """Return what asks for the rarest term of a phrase alone."""
        if len(asked.terms) == 1:
            return asked
        return asked._replace(terms=(min(asked.terms, key=partial(self.df, asked.field)),))

    def df(self, field: str, term: str) -> int:
        """Return how many documents hold a term in a field, those deleted lately included."""
        known, key = self._dfs, (field, term)
        if (found := known.get(key)) is None:
            if len(known) >= COUNTED:
                known.clear()
            found = known[key] = self._searcher.doc_freq(field, term)
        return found

    def _is_there(self, asked: Asked) -> bool:
        if len(asked.terms) == 1:
            return self.df(asked.field, asked.terms[0]) > 0
        return all(self.df(asked.field, term) for term in asked.terms)


def _are_numbers(form: Form) -> bool:
    return len(form.terms) > 1 and form.is_common and all(map(is_number, form.terms))
