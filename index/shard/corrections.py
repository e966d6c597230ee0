"""Did-you-mean: the asker's own vocabulary proposes, and the counts of the whole network decide.

`propose` reads the vocabulary of the documents that are indexed here, on a reader's thread; what it proposes travels
with the question for statistics, so that no message is added. Nothing replaces what was typed: an answer names the
question that may have been meant.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from index.query.spelling import RARER, best_of, candidates, is_correctable
from index.text.analyzer import terms
from index.text.stop_words import languages_of
from index.text.surfaces import WrittenWord, written_words

MAX_WORDS = 8  # of one question are looked at
MAX_CANDIDATES = 3  # of each word
MAX_LIKELY = 8  # of which those are left out that are forms of the typed word
MAX_SPELLINGS = MAX_WORDS * (1 + MAX_CANDIDATES)
COMPARED = 2000  # words with a common prefix, of which one may be two edits away
DOUBTED = 10  # times as loose as the network's rule: this node holds only a part


class Vocabulary(Protocol):
    """The words that are written in the documents of an engine."""

    def word_count(self, word: str) -> int:
        """Tell about how many documents hold a word in this form."""

    def words_from(self, prefix: str, limit: int) -> Sequence[tuple[str, int]]:
        """Return the `limit` commonest words that begin so, each with its count."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """One typed word, and what it may have been meant to be, the likeliest first."""

    typed: WrittenWord
    others: tuple[str, ...]


def propose(text: str, vocabulary: Vocabulary, documents: int) -> list[Proposal]:
    """Return the words of a question that may be misspelled, at most `MAX_WORDS`; the vocabulary is that of so many
    documents."""
    found: list[Proposal] = []
    for typed in _typed_words(text)[:MAX_WORDS]:
        others = _others(typed.word, vocabulary, documents)
        if others:
            found.append(Proposal(typed, others))
    return found


def spellings(proposals: Sequence[Proposal]) -> tuple[str, ...]:
    """Return the words whose counts the network is asked for, each once."""
    return tuple(dict.fromkeys(word for each in proposals for word in (each.typed.word, *each.others)))


def correct(text: str, proposals: Sequence[Proposal], documents: Mapping[str, int]) -> list[str]:
    """Return what the question may have been meant to be: one corrected question, or none. `documents`: in how many
    documents of the network each of the spellings is written."""
    parts, at = [], 0
    for each in proposals:
        best = best_of(each.typed.word, each.others, documents)
        if best is not None:
            parts += [text[at : each.typed.start], best]
            at = each.typed.end
    return ["".join((*parts, text[at:]))] if parts else []


def _others(word: str, vocabulary: Vocabulary, documents: int) -> tuple[str, ...]:
    here = vocabulary.word_count(word)
    if here * RARER >= documents * DOUBTED:  # no other can be written so much more often
        return ()
    found = candidates(word, vocabulary.word_count, lambda prefix: vocabulary.words_from(prefix, COMPARED), MAX_LIKELY)
    likely = (other for other in found if not here or vocabulary.word_count(other) * DOUBTED > RARER * here)
    return tuple(other for other in likely if not _is_form(word, other))[:MAX_CANDIDATES]


def _is_form(word: str, other: str) -> bool:
    """Whether both are forms of one word, so that a search for either finds the same."""
    return (other.startswith(word) or word.startswith(other)) and terms(word) == terms(other)


def _typed_words(text: str) -> list[WrittenWord]:
    """The words of a question that could be misspelled: no stop words, and none that name a field or stand in an
    address."""
    found = []
    for each in written_words(text):
        begin = max(text.rfind(" ", 0, each.start), text.rfind('"', 0, each.start), text.rfind("(", 0, each.start)) + 1
        end = text.find(" ", each.end)
        around = text[begin : each.start] + text[each.end : end if end >= 0 else len(text)]
        if (
            is_correctable(each.word)
            and not languages_of(each.word)
            and not any(mark in around for mark in ":/._@\\*~+-")
        ):
            found.append(each)
    return found
