"""Words that stand for others in a query: `univers*` for all that begin so, and `recieve~` for words that are spelled
nearly so. A Chinese or Korean character by itself stands for the pairs that begin with it.

Pure: texts in, texts out. A pattern is rewritten as alternatives, the words that most documents of the network hold. So
all later steps work without patterns, and nodes with the same word counts find the same documents. An exclusion is
never a pattern: to leave out some of many words would surprise. A character finds what holds it in whatever pair
(`parser.py`); the commonest ones only say how much a page is about it. Beside other words it is no pattern: all its
pairs together would weigh more than they ("第 2 章 Installation").
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from index.query.leaf import Term, term_of
from index.query.query_tree import ReadAs, Reading
from index.query.signs import in_ascii
from index.query.spelling import TWO_EDITS_FROM, TWO_EDITS_PREFIX, is_correctable, is_within_two_edits, one_edit
from index.query.syntax import MAX_PIECE
from index.text.analyzer import is_unspaced, words
from index.text.folding import fold
from index.text.surfaces import MAX_CHARS, MIN_CHARS
from index.text.tags import CHARACTER, is_character

MAX_PATTERNS = 3  # of a query; others are read as words
MAX_ALTERNATIVES = 32  # of all patterns of a query, which share them
PAIR_CHARS = 2
MAX_LISTED = 64  # words of one pattern, of which a node tells in how many documents they are written
COMPARED = 4096  # words with a common beginning, of which one may be two edits away
_PATTERN = re.compile(rf"(?<![^\s(|+])(?:([^\W\d_]+)([*~])(?:[12](?=[\s)|]|$))?|({CHARACTER.pattern}))(?![^\s)|])")
_SIGNS = "+()|*"
_OPERATORS = frozenset(("AND", "OR", "NOT"))
_NEGATED = re.compile(r"(?:-|\bNOT\s+)$")


@dataclass(frozen=True, slots=True)
class WordPattern:
    """One word that stands for others: those that begin so, or, where it is fuzzy, those that are spelled nearly so.
    One character stands for pairs."""

    word: str  # folded
    is_fuzzy: bool

    @property
    def is_character(self) -> bool:
        """Whether it is a character that stands for the pairs that begin with it."""
        return is_character(self.word)

    def __str__(self) -> str:
        return f"{self.word}{'~' if self.is_fuzzy else '*'}"

    def stands_for(self, word: str) -> bool:
        """Tell whether a word, as it is written in a document, is meant; of a character, a pair."""
        if self.is_character:
            return len(word) == PAIR_CHARS and word.startswith(self.word) and is_unspaced(word)
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
    text = in_ascii(text)
    places: list[Place] = []
    told: list[Reading] = []
    characters_alone = _is_all_characters(text)
    for found in _PATTERN.finditer(text):
        if text.count('"', 0, found.start()) % 2 or (found[3] and not characters_alone):
            continue
        pattern = read_pattern(words(found[3])[0] + "*" if found[3] else fold(found[1]) + found[2])
        known = {each.pattern for each in places}
        is_room = pattern in known or len(known) < MAX_PATTERNS
        if pattern and is_room and not _NEGATED.search(text, 0, found.start()):
            places.append(Place(pattern, found.start(), found.end()))
        elif not found[3]:  # beyond the room, one character still finds all that holds it
            told.append(Reading(ReadAs.LITERAL, found[0][:MAX_PIECE]))
    return places, told[:MAX_PATTERNS]


def read_pattern(written: str) -> WordPattern | None:
    """Read a pattern as it travels, None where it is none that can be looked for."""
    word, is_fuzzy = written[:-1], written.endswith("~")
    if is_character(word) and written.endswith("*"):
        return WordPattern(word, is_fuzzy=False)
    is_word = word.isalpha() and not is_unspaced(word) and MIN_CHARS <= len(word) <= MAX_CHARS
    if not is_word or written[-1] not in "*~" or (is_fuzzy and not is_correctable(word)):
        return None
    return WordPattern(word, is_fuzzy)


def listed(
    pattern: WordPattern, count: Callable[[str], int], words_from: Callable[[str, int], Iterable[tuple[str, int]]]
) -> list[str]:
    """List the commonest words of a vocabulary that a pattern stands for, at most `MAX_LISTED`; `count` and
    `words_from` as in `corrections.Vocabulary`, of terms where it is a character."""
    if pattern.is_character:
        pairs = (term for term, _ in words_from(pattern.word, MAX_LISTED + 1) if pattern.stands_for(term))
        return list(islice(pairs, MAX_LISTED))
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
        words, itself = chosen.get(each.pattern, ()), [each.pattern.word] if each.pattern.is_character else []
        parts += [text[at : each.start], f"({'|'.join([*itself, *words])})" if words else each.pattern.word]
        at = each.end
    return "".join((*parts, text[at:]))


def _is_all_characters(text: str) -> bool:
    """Whether a query looks for single characters alone, whatever its filters and what it excludes."""
    pieces = (piece.strip(_SIGNS) for piece in text.replace("|", " ").split() if piece not in _OPERATORS)
    return all(not piece or piece[0] == "-" or ":" in piece or is_character(piece) for piece in pieces)
