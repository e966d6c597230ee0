"""Proposals for misspelled words, and suggestions, by the words of the documents that are indexed here.

Blocking, on a reader's thread. `proposals` answers other nodes, and the sums of the whole network decide
(`alternatives.py`).

A suggestion completes what somebody types, and no peer is asked: nobody learns of a question that was never asked. It
completes the last word by words that are written together with those before it, the commonest first. It adds titles
that begin as all of the text does. It corrects a last word with which no known word begins. Each lookup is bounded by
its prefix, and what many words begin with is remembered until the index has grown by a tenth.
"""

import unicodedata
from collections.abc import Sequence
from typing import Protocol

from index.engine.protocol import Engine
from index.query.alternatives import MAX_LIKELY
from index.query.spelling import RARER, best_of, candidates, is_correctable
from index.text.analyzer import terms
from index.text.folding import fold
from index.text.stop_words import languages_of
from index.text.surfaces import WrittenWord, written_words

MAX_WORDS = 8  # of one text that is typed are looked at
LOOKED_AT = 8  # candidates of a word, of which those are left out that are forms of it
SAME_FIRST_BELOW = 5  # letters: a shorter word has neighbours everywhere
LEAST_PART = 3  # letters of each of two words that were written as one
COMPARED = 2000  # words with a common prefix, of which one may be two edits away
MAX_CHARS = 100  # of what is typed; nobody needs help with more
MOST = 10  # suggestions
MIN_PREFIX = 2  # letters of a word that is completed
MIN_TITLE_PREFIX = 3
MIN_DOCUMENTS = 2  # that hold a suggested word: one page's slip is none
SHORT_PREFIX = 3  # letters; what so few begin is remembered
TRIED = 40  # completions that are counted together with the words before them
BESIDE = 3  # words before the last that count
GROWN = 1.1  # times the documents, and what was remembered is forgotten
MAX_KEPT = 4096
DOUBTED = 10  # times as loose as the network's rule: this node holds only a part


class Vocabulary(Protocol):
    """The words of some documents, as they are written; see `Engine`."""

    def word_count(self, word: str) -> int: ...
    def words_from(self, prefix: str, limit: int) -> Sequence[tuple[str, int]]: ...
    def words_together(self, words: Sequence[str]) -> int: ...


def proposals(word: str, vocabulary: Vocabulary, documents: int) -> tuple[str, ...]:
    """Return what a folded word may have been meant to be, at most `MAX_LIKELY`, the likeliest first: a word, or two
    with a space between them. The vocabulary is that of so many documents."""
    here = vocabulary.word_count(word)
    if not is_correctable(word) or here * RARER >= documents * DOUBTED:  # no other can be written so much more often
        return ()
    found = candidates(word, vocabulary.word_count, lambda prefix: vocabulary.words_from(prefix, COMPARED), LOOKED_AT)
    found = [*_split(word, vocabulary), *(other for other in found if _may_be_meant(word, other))]
    return tuple(other for other in found if _count(other, vocabulary) * DOUBTED >= RARER * here)[:MAX_LIKELY]


def _count(written: str, vocabulary: Vocabulary) -> int:
    return vocabulary.words_together(written.split()) if " " in written else vocabulary.word_count(written)


class Proposals:
    """Remembers what was proposed, until the vocabulary has grown by a tenth: most queries repeat words of others."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[str, ...]] = {}
        self._kept_at = 0  # documents

    def of(self, word: str, vocabulary: Vocabulary, documents: int) -> tuple[str, ...]:
        """Return what `proposals` does, or did lately."""
        if not self._kept_at / GROWN <= documents <= self._kept_at * GROWN or len(self._kept) >= MAX_KEPT:
            self._kept, self._kept_at = {}, documents
        if (found := self._kept.get(word)) is None:
            found = self._kept[word] = proposals(word, vocabulary, documents)
        return found


def _split(word: str, vocabulary: Vocabulary) -> list[str]:
    """The two words that stand together in most documents and make this one; of one split at most."""
    cuts = [(word[:at], word[at:]) for at in range(LEAST_PART, len(word) - LEAST_PART + 1)]
    known = [pair for pair in cuts if all(vocabulary.word_count(part) >= MIN_DOCUMENTS for part in pair)]
    together = {pair: vocabulary.words_together(pair) for pair in known}
    best = max(together, key=lambda pair: (together[pair], pair), default=None)
    return [" ".join(best)] if best and together[best] >= MIN_DOCUMENTS else []


def _may_be_meant(word: str, other: str) -> bool:
    """Tell whether somebody who typed a word may have meant another: no small word, no form of the same, and of short
    words none that begins otherwise."""
    is_like = len(word) >= SAME_FIRST_BELOW or word[0] == other[0]
    return is_like and not languages_of(other) and not _is_form(word, other)


def _is_form(word: str, other: str) -> bool:
    """Whether both are forms of one word, so that a search for either finds the same."""
    return (other.startswith(word) or word.startswith(other)) and terms(word) == terms(other)


def _typed_words(text: str) -> list[WrittenWord]:
    """The words of a question that could be misspelled: no stop words, and none that name a field or stand in an
    address. A question with quotation marks or parentheses has none: its words are wanted as they are written."""
    if any(mark in text for mark in '"()'):
        return []
    found = []
    for each in written_words(text):
        begin, end = text.rfind(" ", 0, each.start) + 1, text.find(" ", each.end)
        around = text[begin : each.start] + text[each.end : end if end >= 0 else len(text)]
        if (
            is_correctable(each.word)
            and not languages_of(each.word)
            and not any(mark in around for mark in ":/._@\\*~+-")
        ):
            found.append(each)
    return found


class Suggester:
    """Suggests questions by what begins as the typed text does."""

    def __init__(self) -> None:
        self._kept: dict[str, Sequence[tuple[str, int]]] = {}
        self._kept_at = 0  # documents

    def suggest(self, typed: str, engine: Engine, documents: int) -> list[str]:
        """Return up to `MOST` questions, the likeliest first; none equals the typed text."""
        line = " ".join(unicodedata.normalize("NFKC", typed[: MAX_CHARS + 1]).lower().split())
        if not line or len(line) > MAX_CHARS or not line.isprintable():
            return []
        self._forget(documents)
        head, space, last = line.rpartition(" ")
        is_open = not typed[-1].isspace()
        words = self._words(head, last, engine) if is_open else []
        completed = [f"{head}{space}{word}" for word in words]
        titles = [title for title, _ in engine.titles_from(line, MOST)] if len(line) >= MIN_TITLE_PREFIX else []
        found = [*titles, *completed] if head else [*completed[: MOST // 2], *titles, *completed[MOST // 2 :]]
        return [each for each in dict.fromkeys(found) if each != line][:MOST] or _corrected(line, engine, documents)

    def _words(self, head: str, last: str, engine: Engine) -> list[str]:
        """The words that the last one may become."""
        prefix = fold(last)
        if len(prefix) < MIN_PREFIX or not prefix.isalpha():
            return []
        begun = [word for word, count in self._begun(prefix, engine) if count >= MIN_DOCUMENTS and word != prefix]
        beside = [each.word for each in written_words(head) if engine.word_count(each.word)][-BESIDE:]
        least = 1 if beside else MIN_DOCUMENTS
        counted = {word: engine.words_together([*beside, word]) for word in begun}
        return sorted((word for word in begun if counted[word] >= least), key=lambda word: (-counted[word], word))

    def _begun(self, prefix: str, engine: Engine) -> Sequence[tuple[str, int]]:
        if len(prefix) > SHORT_PREFIX:
            return engine.words_from(prefix, TRIED)
        if (found := self._kept.get(prefix)) is None:
            if len(self._kept) >= MAX_KEPT:
                self._kept.clear()
            found = self._kept[prefix] = engine.words_from(prefix, TRIED)
        return found

    def _forget(self, documents: int) -> None:
        if not self._kept_at / GROWN <= documents <= self._kept_at * GROWN:
            self._kept.clear()
            self._kept_at = documents


def _corrected(line: str, engine: Engine, documents: int) -> list[str]:
    """The text with its misspelled words corrected by what is written here alone."""
    parts, at = [], 0
    for typed in _typed_words(line)[:MAX_WORDS]:
        others = [other for other in proposals(typed.word, engine, documents) if " " not in other]
        counts = {word: engine.word_count(word) for word in (typed.word, *others)}
        if best := best_of(typed.word, others, counts):
            parts += [line[at : typed.start], best]
            at = typed.end
    return ["".join((*parts, line[at:]))] if parts else []
