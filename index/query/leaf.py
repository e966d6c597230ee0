"""A leaf of a query is the part that scores: a word, a phrase of words, or synonyms. A word's stem depends on the stem
class of the document.

Pure: values only. A word has a stem for each stem class, and a document can match only that of its own class. So the df
of a leaf, which counts documents, is the sum over all classes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from index.text.stem_classes import ALL_CLASSES, Stem, stems_of
from index.text.writing import scripts_of_word


class Form(NamedTuple):
    """The terms by which a leaf is found in documents of some stem classes, a bit each: one term, or several at
    consecutive positions."""

    terms: tuple[str, ...]
    classes: int

    @property
    def is_common(self) -> bool:
        """Whether documents of all classes are asked for it."""
        return self.classes == ALL_CLASSES


@dataclass(frozen=True, slots=True)
class Term:
    """Matches documents that hold one word anywhere. Words with the same stems are one leaf, however written."""

    surface: str = field(compare=False)
    stems: tuple[Stem, ...]

    def __hash__(self) -> int:
        return hash(self.stems[0].term)  # nearly as good as all of them, and a query needs it a thousand times


@dataclass(frozen=True, slots=True)
class Phrase:
    """Matches two words or more at consecutive positions of one field; it ranks as one pseudo-term."""

    words: tuple[Term, ...]

    def __hash__(self) -> int:
        return hash(self.words)


@dataclass(frozen=True, slots=True)
class Synonyms:
    """Matches documents that hold any of several words or phrases: "utf-8" and "utf8", a slip and the right word. The
    first was typed. They rank as one pseudo-term, whose occurrences are those of all (Pirkola 1998)."""

    ways: tuple[Term | Phrase, ...]

    def __hash__(self) -> int:
        return hash(self.ways)


Leaf = Term | Phrase | Synonyms


def term_of(word: str) -> Term:
    """Return the leaf of one of `analyzer.words`."""
    return Term(word, stems_of(word))


def phrase_of(*words: str) -> Phrase:
    """Return the phrase of several of `analyzer.words`."""
    return Phrase(tuple(map(term_of, words)))


def leaf_of(words: Sequence[str], others: Iterable[Sequence[str]] = ()) -> Leaf:
    """Return the leaf of some of `analyzer.words` that follow each other, and of `others` that mean the same."""
    ways = [term_of(each[0]) if len(each) == 1 else phrase_of(*each) for each in (words, *others)]
    distinct = tuple(dict.fromkeys(ways))
    return distinct[0] if len(distinct) == 1 else Synonyms(distinct)


def ways_of(leaf: Leaf) -> tuple[Term | Phrase, ...]:
    """Return the words and phrases of which any is enough, the first as it was typed."""
    return leaf.ways if isinstance(leaf, Synonyms) else (leaf,)


def words_of(leaf: Leaf) -> tuple[Term, ...]:
    """Return the words of a leaf as it was typed."""
    typed = ways_of(leaf)[0]
    return typed.words if isinstance(typed, Phrase) else (typed,)


@lru_cache(1 << 10)
def forms_of(leaf: Leaf) -> tuple[Form, ...]:
    """Return what documents are asked for; one form of each way where all classes have the same. A document that holds
    any of those of its class matches."""
    if isinstance(leaf, Synonyms):
        merged: dict[tuple[str, ...], int] = {}
        for terms, classes in (form for way in leaf.ways for form in forms_of(way)):
            merged[terms] = merged.get(terms, 0) | classes
        return tuple(Form(*each) for each in merged.items())
    found: dict[tuple[str, ...], int] = {(): ALL_CLASSES}
    for word in words_of(leaf):
        found = _with_next(found, word)
    return tuple(Form(*each) for each in sorted(found.items(), key=_first_class))


def _with_next(found: dict[tuple[str, ...], int], word: Term) -> dict[tuple[str, ...], int]:
    """Return terms and the classes that they are of, each with the word's term of those classes at its end."""
    longer: dict[tuple[str, ...], int] = {}
    for terms, classes in found.items():
        for stem in word.stems:
            if shared := classes & stem.classes:
                classes ^= shared
                grown = (*terms, stem.term)
                longer[grown] = longer.get(grown, 0) | shared
    return longer


def _first_class(found: tuple[tuple[str, ...], int]) -> int:
    classes = found[1]
    return classes & -classes


@lru_cache(1 << 8)
def scripts_of(leaves: tuple[Leaf, ...]) -> int:
    """Return the scripts in which some leaves are written, a bit each (`writing.py`)."""
    found = 0
    for word in (word for leaf in leaves for word in words_of(leaf)):
        found |= scripts_of_word(word.surface)
    return found


@lru_cache(1 << 12)
def terms_in(leaf: Leaf, stem_class: int) -> tuple[tuple[str, ...], ...]:
    """Return what documents of one class are asked for, any of which is enough: a term, or all those of a phrase."""
    every = (way.words if isinstance(way, Phrase) else (way,) for way in ways_of(leaf))
    return tuple(dict.fromkeys(tuple([_term_in(word, stem_class) for word in words]) for words in every))


def _term_in(word: Term, stem_class: int) -> str:
    return next(stem.term for stem in word.stems if stem.classes >> stem_class & 1)
