"""Finds the pieces of a text in which wanted words may stand, by the first letters of these.

Pure: the compiled leaf does what `sought_pieces` does, where it was built.
"""

import re
import sys
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache

from index.text.folding import LetterTable
from index.text.text_leaf import TextLeaf

MAX_PLACES = 1000  # of each beginning of a term
_ODD_CASES = ("\u0130", "\u03a3")  # in lower case they are two letters, or one that depends on what follows
_NO_LETTER = "\uffff"  # to the leaf: a letter of more than 16 bits
_CODEC = f"utf-16-{sys.byteorder[0]}e"

Piece = tuple[int, str]  # where it begins, and itself


def pieces_with(text: str, beginnings: frozenset[str], compiled: TextLeaf | None) -> list[Piece]:
    """Return the pieces of a text between spaces that hold any of these first letters of words, with their places."""
    found: list[Piece] | None = None if beginnings else []
    if compiled and (written := _written(beginnings)):
        found = compiled.pieces_with(text, _table(), written, MAX_PLACES)
    return sought_pieces(text, beginnings) if found is None else found


def sought_pieces(text: str, beginnings: Iterable[str]) -> list[Piece]:
    """Do what `pieces_with` does, without the compiled leaf: the definition of what that gives."""
    found, done, text = list[Piece](), 0, text.replace("\n", " ").replace("\t", " ")
    for place in places_of(plain(text), beginnings):
        if place >= done:
            begin, end = text.rfind(" ", done, place) + 1 or done, text.find(" ", place)
            piece = text[begin:] if end < 0 else text[begin:end]
            found.append((begin, piece))
            done = begin + len(piece) + 1
    return found


def places_of(text: str, pieces: Iterable[str]) -> list[int]:
    """Return where any of some pieces stands in a text, ascending; of each the first MAX_PLACES places."""
    places: list[int] = []
    for piece in pieces:
        at = text.find(piece)
        for _ in range(MAX_PLACES):
            if at < 0:
                break
            places.append(at)
            at = text.find(piece, at + len(piece))
    return sorted(places)


def plain(text: str) -> str:
    """Return a text in lower case and without diacritics, letter by letter, so that places stay."""
    if text.isascii():
        return text.lower()
    if not any(map(text.__contains__, _ODD_CASES)) and (found := _lower_bases().of(text)) is not None:
        return found
    low = text.lower()
    if len(low) != len(text):
        return low
    return _ACCENTED.sub(lambda found: _BASES[ord(found[0])], low)


@cache  # made for the first snippet, not at the start: it takes a tenth of a second of a slow machine
def _lower_bases() -> LetterTable:
    """Letters of 16 bits, each with that in lower case and without diacritics which stands for it."""
    codes = (code for code in range(1 << 16) if not 0xD800 <= code < 0xE000 and chr(code) not in _ODD_CASES)
    letters = "".join(map(chr, codes))
    pairs = zip(letters, letters.lower(), strict=True)
    changed = ((ord(each), low) for each, low in pairs if each != low or ord(low) in _BASES)
    return LetterTable({code: ord(_BASES.get(ord(low), low)) for code, low in changed})


@cache
def _table() -> bytes:
    return _lower_bases().as_bytes()


@lru_cache(1 << 6)  # the results of a query share them
def _written(beginnings: frozenset[str]) -> tuple[bytes, ...]:
    """The letters of beginnings as the leaf reads them, nothing where any has more than 16 bits."""
    is_known = all(each and max(each) < _NO_LETTER for each in beginnings)
    return tuple([each.encode(_CODEC, "surrogatepass") for each in beginnings]) if is_known else ()


def _bases() -> dict[int, str]:
    """Letters with diacritics, each with the first one that it is folded to."""
    codes = (*range(0xAA, 0x600), *range(0x1E00, 0x2000))
    letters = {code: unicodedata.normalize("NFD", chr(code))[0] for code in codes if chr(code).isalpha()}
    return {code: base for code, base in letters.items() if ord(base) != code} | {ord("\u00df"): "s"}


_BASES = _bases()
_ACCENTED = re.compile(f"[{''.join(map(chr, _BASES))}]")
