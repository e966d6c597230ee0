"""In which scripts a language is written, and a word: a page in another script than the question's is rarely meant.

Pure: numbers with a bit for each script, 0 where nothing is known.
"""

from functools import lru_cache

from dht import language_code

LATIN, HAN, KANA, HANGUL, CYRILLIC, GREEK, ARABIC, OTHER = (1 << bit for bit in range(8))
_LANGUAGES = {
    LATIN: "en de fr es it pt nl sv no nn da fi hu ro tr ca pl cs sk hr bs sl eu et lt lv id ms ga eo gl vi af "
    "is sq cy tl sw br lb gsw nds",
    HAN: "zh yue wuu lzh",
    HAN | KANA: "ja",
    HANGUL: "ko",
    CYRILLIC: "ru uk be bg mk ky mn tg tt",
    CYRILLIC | LATIN: "sr sh kk uz az",
    GREEK: "el",
    ARABIC: "ar fa ur ps ug sd",
    OTHER: "he yi hi mr ne sa bn pa gu ta te kn ml si th lo my km ka hy am",
}
_SCRIPTS_OF = {code: scripts for scripts, codes in _LANGUAGES.items() for code in codes.split()}
_LAST = (  # letters up to this one, in order, are of this script
    (0x24F, LATIN),
    (0x36F, OTHER),
    (0x3FF, GREEK),
    (0x52F, CYRILLIC),
    (0x5FF, OTHER),
    (0x77F, ARABIC),
    (0x10FF, OTHER),
    (0x11FF, HANGUL),
    (0x1DFF, OTHER),
    (0x1EFF, LATIN),
    (0x1FFF, GREEK),
    (0x2E7F, OTHER),
    (0x303F, HAN),
    (0x30FF, KANA),
    (0x318F, HANGUL),
    (0x31EF, HAN),
    (0x31FF, KANA),
    (0x9FFF, HAN),
    (0xABFF, OTHER),
    (0xD7FF, HANGUL),
    (0xF8FF, OTHER),
    (0xFAFF, HAN),
    (0x1FFFF, OTHER),
    (0x3FFFF, HAN),
)


def scripts_of_language(language: str) -> int:
    """Return the scripts of a language, given as a tag (`zh`, `pt-BR`)."""
    return _SCRIPTS_OF.get(language_code(language), 0)


@lru_cache(1 << 12)
def scripts_of_word(word: str) -> int:
    """Return the scripts of a word's letters; digits and signs have none."""
    found = 0
    for letter in filter(str.isalpha, word):
        found |= next((script for last, script in _LAST if ord(letter) <= last), OTHER)
    return found
