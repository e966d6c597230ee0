"""Words that stand for others in a query: `univers*` for all that begin so, `recieve~` for what is spelled nearly so.

Pure: texts in, texts out. A pattern is written anew as alternatives, the words that most documents of the network hold;
so all that follows knows nothing of patterns, and who knows the network's words finds the same. What is excluded is
never a pattern: to leave out some of many words would surprise.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from index.query.leaf import Term, term_of
from index.query.query_tree import ReadAs, Reading
from index.query.spelling import TWO_EDITS_FROM, TWO_EDITS_PREFIX, is_correctable, is_within_two_edits, one_edit
from index.query.syntax import MAX_PIECE
from index.text.analyzer import is_unspaced
from index.text.folding import fold
from index.text.surfaces import MAX_CHARS, MIN_CHARS

MAX_PATTERNS = 3  # of a query; others are read as words
MAX_ALTERNATIVES = 32  # of all patterns of a query, which share them
MAX_LISTED = 64  # words of one pattern, of which a node tells in how many documents they are written
COMPARED = 4096  # words with a common beginning, of which one may be two edits away
_PATTERN = re.compile(r"(?<![^\s(|+])([^\W\d_]+)([*~])(?:[12](?=[\s)|]|$))?(?![^\s)|])")
_NEGATED = re.compile(r"(?:-|\bNOT\s+)$")


@dataclass(frozen=True, slots=True)
class WordPattern:
    """One word that stands for others: those that begin so, or, where it is fuzzy, those that are spelled nearly so."""

    word: str  # folded
    is_fuzzy: bool

    def __str__(self) -> str:
        return f"{self.word}{'~' if self.is_fuzzy else '*'}"

    def stands_for(self, word: str) -> bool:
        """Tell whether a word, as it is written in a document, is meant."""
        if not self.is_fuzzy:
            return word.startswith(self.word)
        if word == self.word or (abs(len(word) - len(self.word)) < 2 and word in set(one_edit(self.word))):
            return True
        is_long = len(self.word) >= TWO_EDITS_FROM and word[:TWO_EDITS_PREFIX] == self.word[:TWO_EDITS_PREFIX]
        return is_long and is_within_two_edits(self.word, word)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a pattern stands in a query."""

    pattern: WordPattern
    start: int
    end: int


def find_patterns(text: str) -> tuple[list[Place], list[Reading]]:
    """Find the patterns of a query outside of its quotations, and say which are read as words instead."""
    places: list[Place] = []
    told: list[Reading] = []
    for found in _PATTERN.finditer(text):
        if text.count('"', 0, found.start()) % 2:
            continue
        pattern = read_pattern(fold(found[1]) + found[2])
        known = {each.pattern for each in places}
        is_room = pattern in known or len(known) < MAX_PATTERNS
        if pattern and is_room and not _NEGATED.search(text, 0, found.start()):
            places.append(Place(pattern, found.start(), found.end()))
        else:
            told.append(Reading(ReadAs.LITERAL, found[0][:MAX_PIECE]))
    return places, told[:MAX_PATTERNS]


def read_pattern(written: str) -> WordPattern | None:
    """Read a pattern as it travels, None where it is none that can be looked for."""
    word, is_fuzzy = written[:-1], written.endswith("~")
    is_word = word.isalpha() and not is_unspaced(word) and MIN_CHARS <= len(word) <= MAX_CHARS
    if not is_word or written[-1] not in "*~" or (is_fuzzy and not is_correctable(word)):
        return None
    return WordPattern(word, is_fuzzy)


def listed(
    pattern: WordPattern, count: Callable[[str], int], words_from: Callable[[str, int], Iterable[tuple[str, int]]]
) -> list[str]:
    """List the commonest words of a vocabulary that a pattern stands for, at most `MAX_LISTED`; `count` and
    `words_from` as in `corrections.Vocabulary`."""
    if not pattern.is_fuzzy:
        return [word for word, _ in words_from(pattern.word, MAX_LISTED)]
    found = {word: count(word) for word in {pattern.word, *one_edit(pattern.word)}}
    if len(pattern.word) >= TWO_EDITS_FROM:
        near = words_from(pattern.word[:TWO_EDITS_PREFIX], COMPARED)
        found |= {word: df for word, df in near if is_within_two_edits(pattern.word, word)}
    return sorted((word for word, df in found.items() if df), key=lambda word: (-found[word], word))[:MAX_LISTED]


def alternatives(documents: Mapping[str, int], most: int) -> list[str]:
    """Choose the words that most documents hold, one of each that are found as one; in the order of the alphabet."""
    chosen: dict[Term, str] = {}
    for word in sorted(documents, key=lambda word: (-documents[word], word)):
        if documents[word] and len(chosen) < most:
            chosen.setdefault(term_of(word), word)
    return sorted(chosen.values())


def write_out(text: str, places: Sequence[Place], chosen: Mapping[WordPattern, Sequence[str]]) -> str:
    """Write a query with alternatives in the place of its patterns; one that stands for nothing stays a word."""
    parts, at = [], 0
    for each in places:
        words = chosen.get(each.pattern, ())
        parts += [text[at : each.start], f"({'|'.join(words)})" if words else each.pattern.word]
        at = each.end
    return "".join((*parts, text[at:]))
