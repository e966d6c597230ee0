"""Tables of characters: scripts by which a language is told, and those that are written without spaces.

Pure: tables.
"""

import re

import numpy as np
from numpy.typing import NDArray

PLANE = 1 << 16  # code points that tables know
UNSPACED = ((0x0E00, 0x0EFF), (0x1780, 0x17FF), (0x3040, 0x30FF), (0x3400, 0x9FFF), (0xF900, 0xFAFF))
IS_UNSPACED = np.zeros(PLANE, dtype=np.bool_)  # by code unit
for _first, _last in UNSPACED:
    IS_UNSPACED[_first : _last + 1] = True
SCRIPTS = {  # first and last characters
    "ja": ((0x3040, 0x30FF),),  # kana: Han, which Japanese shares, is counted as Chinese
    "ko": ((0xAC00, 0xD7A3), (0x1100, 0x11FF)),
    "zh": ((0x4E00, 0x9FFF), (0x3400, 0x4DBF)),
    "el": ((0x0370, 0x03FF),),
    "he": ((0x0590, 0x05FF),),
    "th": ((0x0E00, 0x0E7F),),
    "hy": ((0x0530, 0x058F),),
    "ka": ((0x10A0, 0x10FF),),
    "ta": ((0x0B80, 0x0BFF),),
    "hi": ((0x0900, 0x097F),),
    "ar": ((0x0600, 0x06FF),),
    "ru": ((0x0400, 0x04FF),),
}
BEYOND_LATIN = re.compile(r"[^\u0000-\u036f\u1e00-\u2fff]+")
OF_ONE = {  # of the languages of a script (that of SCRIPTS) one alone has these letters; of several, the first counts
    "uk": ("ru", re.compile("[іїєґІЇЄҐ]")),
    "ur": ("ar", re.compile("[ٹڈڑںےہ]")),
    "fa": ("ar", re.compile("[پچژگکی]")),
}
OF_WORD = re.compile(r"[^\W\d_]+")  # what small words consist of, beyond ASCII
_SPACES = re.compile(r"\s+")
_SCRIPT_SHIFT = 8  # above the bits for other things is the number of the script, from 1 on


def letters_table() -> bytes:
    """Make the table of all code points of 16 bits for the leaf, see `Letter` in leaf.h: some milliseconds."""
    every = "".join(map(chr, range(PLANE)))
    letters = np.frombuffer(every.encode("utf-32-le", "surrogatepass"), "<U1")
    table = np.zeros(PLANE, dtype=np.uint16)
    kinds = (
        _places(_SPACES, every),
        IS_UNSPACED,
        np.char.isalpha(letters),
        np.char.isalnum(letters) & ~np.char.isdecimal(letters),  # as OF_WORD
        _places(BEYOND_LATIN, every),
        *(_places(pattern, every) for _, pattern in OF_ONE.values()),
    )
    for bit, places in enumerate(kinds):
        table[places] |= 1 << bit
    for number, spans in enumerate(SCRIPTS.values(), 1):
        for first, last in spans:
            table[first : last + 1] |= number << _SCRIPT_SHIFT
    return table.tobytes()


def _places(pattern: re.Pattern[str], text: str) -> NDArray[np.bool_]:
    """Where in a text a pattern stands."""
    found = np.zeros(len(text), np.bool_)
    for part in pattern.finditer(text):
        found[part.start() : part.end()] = True
    return found
