"""A leaf of a query is the part that scores: a word, or a phrase of words. Its stem depends on the stem class of the
document.

Pure: values only. A word has a stem for each stem class, and a document can match only that of its own class. So the df
of a leaf, which counts documents, is the sum over all classes.
"""

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
    """Matches two words or more at consecutive positions of one field; it ranks as one pseudo-term. Where they are
    written as one, too ("utf-8", "utf8"), it matches that as well."""

    words: tuple[Term, ...]
    joined: Term | None = None

    def __hash__(self) -> int:
        return hash(self.words)


Leaf = Term | Phrase


def term_of(word: str) -> Term:
    """Return the leaf of one of `analyzer.words`."""
    return Term(word, stems_of(word))


def phrase_of(*words: str, joined: str = "") -> Phrase:
    """Return the phrase of several of `analyzer.words`; `joined` is what they make together, where they do."""
    return Phrase(tuple(map(term_of, words)), term_of(joined) if joined else None)


@lru_cache(1 << 10)
def forms_of(leaf: Leaf) -> tuple[Form, ...]:
    """Return what documents are asked for; one form where all classes have the same, and one more for what is joined.
    A document that holds any of those of its class matches."""
    if isinstance(leaf, Phrase) and leaf.joined:
        return (*forms_of(Phrase(leaf.words)), *forms_of(leaf.joined))
    found: dict[tuple[str, ...], int] = {(): ALL_CLASSES}
    for word in (leaf,) if isinstance(leaf, Term) else leaf.words:
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
    for word in (word for leaf in leaves for word in ((leaf,) if isinstance(leaf, Term) else leaf.words)):
        found |= scripts_of_word(word.surface)
    return found


@lru_cache(1 << 12)
def terms_in(leaf: Leaf, stem_class: int) -> tuple[str, ...]:
    """Return what documents of one class are asked for: one term, or those of a phrase as it is written apart."""
    words = (leaf,) if isinstance(leaf, Term) else leaf.words
    return tuple(next(stem.term for stem in word.stems if stem.classes >> stem_class & 1) for word in words)
