"""Folding: how letters that people write in several ways become one.

Pure: computed from Python's own Unicode data. NFKC and case, and no marks, as at the first level of the Unicode
Collation Algorithm (UTS #10). So points of Hebrew and Arabic, accents of Greek and stress in Cyrillic fall away.
Marks that make another letter stay, as in й and in Indic scripts. A table writes each letter as one other.
"""

import re
import unicodedata
from collections.abc import Mapping

import numpy as np

from index.text.scripts import FILLERS, IGNORED, SIGNS

_CODES = 1 << 16
_CODEC = "utf-16-le"
_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ħ": "h", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ı": "i"})
_NO_WIDTH = re.compile(f"[{IGNORED}{FILLERS}]")
# Letters that are written as others in their script. Greek: final sigma. Hebrew: ligatures of Yiddish. Arabic: forms of
# alef, yeh, kaf and heh, as in Lucene's normalizers. Devanagari: likewise. Malayalam: chillu letters.
_SPELLINGS = (
    "ς:σ װ:וו ױ:וי ײ:יי ٱ:ا ٲ:ا ٳ:ا ى:ي ی:ي ې:ي ک:ك ڪ:ك ہ:ه ۀ:ه ۃ:ه ة:ه ـ: ۥ: ۦ: ߺ: "
    "ँ:ं ऍ:ए ऑ:ओ ॅ:े ॉ:ो ़: ൺ:ണ് ൻ:ന് ർ:ര് ൽ:ല് ൾ:ള് ൿ:ക്"
)
_DEAD_NA = "\u0928\u094d"  # in Hindi the same sound as an anusvara before the next letter
_FIRST_PLAIN, _CYRILLIC, _NOT_CYRILLIC = "\u0300", "\u0400", "\u0530"
_NO_LETTERS_OF_THEIR_OWN = "ѐёѝ"  # of Cyrillic letters with a mark


def fold(raw: str) -> str:
    """Fold a token: as `lower`, and Latin letters without diacritics."""
    if raw.isascii():
        return raw.lower()
    try:
        return raw.translate(_folds)
    except _Joined:
        return _fold_together(raw)


def lower(raw: str) -> str:
    """Write a token in lower case and in one way, Latin letters with their diacritics: what stemmers want."""
    if raw.isascii():
        return raw.lower()
    one_way = unicodedata.normalize("NFKC", _NO_WIDTH.sub("", raw)).lower()
    found = unicodedata.normalize("NFKC", one_way).translate(_spellings)
    return found.replace(_DEAD_NA, "\u0902") if _DEAD_NA in found else found


class _Spellings(dict[int, str]):
    """How each letter is written that people write in several ways."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        found = unicodedata.normalize("NFD", character)
        if character >= _FIRST_PLAIN and not _is_letter_of_its_own(found):
            found = "".join(part for part in found if not _is_ignorable(part))
        found = unicodedata.normalize("NFC", found)
        self[code] = found = "".join(self.get(ord(part), part) for part in found)
        return found


def _is_letter_of_its_own(decomposed: str) -> bool:
    """Tell whether it is a Latin letter, which keeps its marks for the stemmers, or a Cyrillic one."""
    first, whole = decomposed[0], unicodedata.normalize("NFC", decomposed)
    is_cyrillic = _CYRILLIC <= first < _NOT_CYRILLIC and whole not in _NO_LETTERS_OF_THEIR_OWN
    return len(decomposed) > 1 and (first < _FIRST_PLAIN or is_cyrillic)


def _is_ignorable(mark: str) -> bool:
    """Tell by its combining class whether a mark says nothing at the first level of UTS #10. Such are points of Hebrew,
    Arabic and Syriac (10 … 36), and marks above and below (from 200 on)."""
    place = unicodedata.combining(mark)
    return 10 <= place <= 36 or place >= 200


_spellings = _Spellings({ord(each[0]): each[2:] for each in _SPELLINGS.split()})
_spellings.update({code: chr(sign) for code, sign in SIGNS.items()})


class _Joined(Exception):
    """A character may change with those before it: such text is folded as a whole."""


class _Folds(dict[int, str]):
    """Gives the fold of each letter that does not depend on its neighbours: of the basic plane, so 65,536."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        first = unicodedata.normalize("NFKD", character)[0]
        if code > 0xFFFF or "\u1160" <= first <= "\u11ff" or unicodedata.category(first)[0] == "M":
            raise _Joined
        self[code] = found = _fold_together(character)
        return found


_folds = _Folds()


def _fold_together(raw: str) -> str:
    folded = lower(raw).casefold().translate(_LETTERS)
    decomposed = unicodedata.normalize("NFD", folded)
    kept: list[str] = []
    latin = False
    for character in decomposed:
        if unicodedata.combining(character):
            if latin:
                continue
        else:
            latin = character < "\u0250"
        kept.append(character)
    return unicodedata.normalize("NFC", "".join(kept))


class LetterTable:
    """Knows which letter stands for which, by their numbers; all others stay as they are.

    To look up all letters of a page at once takes a tenth of the time that `str.translate` does."""

    def __init__(self, letters: Mapping[int, int]) -> None:
        self._table = np.arange(_CODES, dtype="<u2")
        self._table[list(letters)] = list(letters.values())

    def as_bytes(self) -> bytes:
        """Return the table as the compiled leaf reads it."""
        return self._table.astype(np.uint16).tobytes()

    def of(self, text: str) -> str | None:
        """Return the text by this table, None where it holds a letter of more than 16 bits, or half of one."""
        codes = np.frombuffer(text.encode(_CODEC, "surrogatepass"), "<u2")
        if len(codes) != len(text):
            return None
        try:
            found = self._table.take(codes).tobytes().decode(_CODEC)
        except UnicodeDecodeError:
            return None
        return found if len(found) == len(text) else None  # two halves may make one letter
