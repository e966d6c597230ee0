"""Folding: how letters that people write in several ways become one.

Pure: computed from Python's own Unicode data. NFKC, case, and the diacritics of Latin letters; other alphabets keep
their marks. A table writes each letter as one other.
"""

import unicodedata
from collections.abc import Mapping

import numpy as np

_CODES = 1 << 16
_CODEC = "utf-16-le"
_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ħ": "h", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ı": "i"})


def fold(raw: str) -> str:
    """Fold a token: NFKC, lower case, Latin letters without diacritics; other scripts keep their marks."""
    if raw.isascii():
        return raw.lower()
    try:
        return raw.translate(_folds)
    except _Joined:
        return _fold_together(raw)


def lower(raw: str) -> str:
    """Write a token in lower case and in one way (NFKC), with its diacritics: what stemmers want."""
    if raw.isascii():
        return raw.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", raw).replace("\u2019", "'").lower())


class _Joined(Exception):
    """A character may change with those before it: such text is folded as a whole."""


class _Folds(dict[int, str]):
    """What each letter is folded to, where that does not depend on its neighbours: of the basic plane, so 65,536."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        first = unicodedata.normalize("NFKD", character)[0]
        if code > 0xFFFF or "\u1160" <= first <= "\u11ff" or unicodedata.category(first)[0] == "M":
            raise _Joined
        self[code] = found = _fold_together(character)
        return found


_folds = _Folds()


def _fold_together(raw: str) -> str:
    folded = unicodedata.normalize("NFKC", raw).replace("\u2019", "'").casefold().translate(_LETTERS)
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
