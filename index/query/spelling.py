"""Finds the words that a misspelled word may have been meant to be: those one edit away, and of long words two.

Pure: words and counts in, words out. A candidate weighs as many documents as hold it, times `SAME_FIRST` where it
begins as the typed word does: people seldom miss the first letter. The counts of the whole network decide whether it is
proposed at all. A word that is written often is right, however rare it is beside its neighbours.
"""

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping

SAME_FIRST = 3
LIKELY_SLIP = 8  # two letters that changed places, one left out, or one written twice
VOWEL_SLIP = 3  # one vowel for another
MIN_TYPED = 4  # letters; shorter words have neighbours everywhere
MAX_TYPED = 24
TWO_EDITS_FROM = 8  # letters
TWO_EDITS_PREFIX = 4  # letters that both words share then, so that few have to be compared
RARER = 300  # times as often a candidate is written than a typed word that is held to be wrong
MIN_DOCUMENTS = 3  # of the network hold a candidate; two pages may share one author's slip
_VOWELS = "aeiouyаеёиоуыэюяαεηιουω"
# Letters that an edit may put in, by the script of the word: the first name in `unicodedata.name` of its letters.
_ALPHABETS = {
    "LATIN": "abcdefghijklmnopqrstuvwxyz",
    "GREEK": "αβγδεζηθικλμνξοπρςστυφχψωάέήίόύώ",
    "CYRILLIC": "абвгдежзийклмнопрстуфхцчшщъыьэюяіїєґўђјљњћџѓќ",
    "HEBREW": "אבגדהוזחטיךכלםמןנסעףפץצקרשת",
    "ARABIC": "ءآأؤإئابةتثجحخدذرزسشصضطظعغفقكلمنهوىيپچژکگی",
    "ARMENIAN": "աբգդեզէըթժիլխծկհձղճմյնշոչպջռսվտրցւփքօֆև",
    "GEORGIAN": "აბგდევზთიკლმნოპჟრსტუფქღყშჩცძწჭხჯჰ",
}


def is_correctable(word: str) -> bool:
    """Tell whether a typed word is of a length that corrections are looked for."""
    return MIN_TYPED <= len(word) <= MAX_TYPED


def one_edit(word: str) -> Iterator[str]:
    """Yield all words that one letter left out, put in, or written otherwise makes of a word, or two that changed
    places; some come twice."""
    letters = _ALPHABETS.get(unicodedata.name(word[0], "").partition(" ")[0], "")
    for at in range(len(word)):
        before, rest = word[:at], word[at + 1 :]
        yield before + rest
        if rest and rest[0] != word[at]:
            yield before + rest[0] + word[at] + rest[1:]
        for letter in letters:
            if letter != word[at]:
                yield before + letter + rest
            yield before + letter + word[at:]
    for letter in letters:
        yield word + letter


def is_within_two_edits(word: str, other: str) -> bool:
    """Tell whether at most two edits make one word of the other."""
    if abs(len(word) - len(other)) > 2:
        return False
    older: list[int] = []
    last = list(range(len(other) + 1))
    for i, letter in enumerate(word, 1):
        row = [i]
        for j, theirs in enumerate(other, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != theirs))
            if i > 1 and j > 1 and letter == other[j - 2] and word[i - 2] == theirs:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
        if min(row) > 2:
            return False
        older, last = last, row
    return last[-1] <= 2


def candidates(
    word: str, count: Callable[[str], int], words_from: Callable[[str], Iterable[tuple[str, int]]], most: int
) -> list[str]:
    """Return up to `most` words that a typed one may have been meant to be, the likeliest first.

    `count`: in how many documents of a vocabulary a word is written; `words_from`: the vocabulary's words with a
    prefix, each with that number, of very many only the commonest."""
    found = {other: df for other in set(one_edit(word)) if (df := count(other))}
    if not found and len(word) >= TWO_EDITS_FROM:
        near = words_from(word[:TWO_EDITS_PREFIX])
        found = {other: df for other, df in near if other != word and is_within_two_edits(word, other)}
    return sorted(found, key=lambda other: (-weight(word, other, found[other]), other))[:most]


def weight(word: str, other: str, documents: int) -> int:
    """Weigh a candidate that so many documents hold."""
    return documents * _likelihood(word, other) * (SAME_FIRST if word[0] == other[0] else 1)


def _likelihood(word: str, other: str) -> int:
    """Say how likely this slip of the `other` word is. An additional or another letter could be any of thirty, so each
    such slip is rare. A letter left out, or two that changed places, have only as many ways as letters."""
    same = next((at for at, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), min(len(word), len(other)))
    typed, meant = word[same:], other[same:]
    if len(word) < len(other):
        return LIKELY_SLIP
    if len(word) > len(other):
        return LIKELY_SLIP if same and typed[0] == word[same - 1] else 1
    if typed[:2] == meant[1::-1]:
        return LIKELY_SLIP
    return VOWEL_SLIP if typed[0] in _VOWELS and meant[0] in _VOWELS else 1


def best_of(word: str, others: Iterable[str], documents: Mapping[str, int]) -> str | None:
    """Return the one to propose for a typed word, by the counts of the whole network; None where it seems right."""
    typed = documents.get(word, 0)
    counted = {other: documents.get(other, 0) for other in others}
    likely = [other for other, df in counted.items() if df >= MIN_DOCUMENTS and df > RARER * typed]
    return min(likely, key=lambda other: (-weight(word, other, counted[other]), other), default=None)
