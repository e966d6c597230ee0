"""Stop words: which words of a query carry grammar and no subject.

Pure: the lists are those of `dht/language/stop_lists.py`, one for each language. Only lists can tell: how many
documents hold a word never finds those of a language that has a twentieth of the pages. A stop word is no less a word
in a phrase, and in a query of nothing else.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from dht import language_code, stop_lists
from index.text.analyzer import simplified
from index.text.folding import fold, lower

_TONAL = "vi"  # its words without their marks are others
_TONES = re.compile("[ơư\u1ea0-\u1ef9]")  # letters that no other language writes: "du lịch" is not the French "du"
_ALIASES = {"nn": "no", "sr": "hr", "bs": "hr", "sh": "hr"}
# One of these stop words alone identifies a language, since it is hardly an English word. Others need a second stop
# word of their language in the query: "die hard", "dog food" and "via rail" are English. Letters beyond ASCII are
# enough.
_TELLING = (
    "aan alla auf aus avec bei che cu czy das dei del della delle dem der det dla du ein eine einem einen "
    "einer eines el hoe het ist jak jako jest kak kde kdo ktery kuidas le les nao nicht och oder og ook "
    "por przy que qui sind sobre sono sur til und une vom von wie za zum zur"
)
_TELLING_WORDS = frozenset(_TELLING.split())


def languages_of(word: str) -> frozenset[str]:
    """Return the languages (ISO 639-1) in which an unstemmed word is a stop word; most words have none. A word without
    marks is also one that has them: people leave them out. With its marks it is no other word."""
    folded, exact = _languages()
    return (folded if word == fold(word) else exact).get(word, frozenset())


def stop_words(words: Sequence[str], language: str = "") -> frozenset[str]:
    """Return those of a query's words (of `analyzer.words`) that are stop words in the language in which it is written.

    That is the given language (a tag, as in `en` or `de-AT`) where there is a list for it, else Vietnamese where a
    letter shows it. Else it is the one with the most stop words here. English goes before others that have as many.
    Among others, only words count that are stop words in each of them.
    """
    distinct = frozenset(words)
    known = _code(language)
    spoken = frozenset((known,)) if known in list_codes() else _spoken(distinct)
    return frozenset(word for word in distinct if spoken and spoken <= languages_of(word))


def evident_languages(words: Sequence[str]) -> frozenset[str]:
    """Return the languages (ISO 639-1) of which a query's words evidently are, by its stop words; mostly none."""
    distinct = frozenset(words)
    spoken = _spoken(distinct)
    if spoken != frozenset(("en",)):
        return spoken
    counts = Counter(code for word in distinct for code in languages_of(word))
    return frozenset(code for code, count in counts.items() if count == counts["en"])


@cache
def list_codes() -> frozenset[str]:
    """Return the languages that have a list."""
    return frozenset(stop_lists())


def _spoken(words: Iterable[str]) -> frozenset[str]:
    if any(map(_TONES.search, words)):
        return frozenset((_TONAL,))
    counts = Counter(code for word in words for code in languages_of(word))
    most = max(counts.values(), default=0)
    if counts["en"] == most:
        return frozenset(("en",))
    if most == 1 and all(word.isascii() and word not in _TELLING_WORDS for word in words if languages_of(word)):
        return frozenset()
    return frozenset(code for code, count in counts.items() if count == most)


def _code(language: str) -> str:
    code = language_code(language)
    return _ALIASES.get(code, code)


@cache
def _languages() -> tuple[Mapping[str, frozenset[str]], Mapping[str, frozenset[str]]]:
    """Return the languages of each small word, folded, and as it is written."""
    folded, exact = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    for code, words in stop_lists().items():
        for word in words:
            if code != _TONAL or word.isascii():
                folded[simplified(fold(word))].add(code)
            exact[simplified(lower(word))].add(code)
    frozen = [{word: frozenset(codes) for word, codes in found.items()} for found in (folded, exact)]
    return frozen[0], frozen[1]
