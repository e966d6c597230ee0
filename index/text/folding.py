"""Folding: how letters that people write in several ways become one.

Pure: computed from Python's own Unicode data. NFKC, case, and the diacritics of Latin letters; other alphabets keep
their marks.
"""

import unicodedata

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
