"""Which characters make a word: runs of scripts without spaces, words of letters and digits, a few names with signs.

Signs without width, as the soft hyphen, are part of the word or run in which they stand, and folding leaves them out.
The zero width space is none of them: it separates words.

Pure: patterns, computed from Python's own Unicode data, cut back to Unicode 14.0: a code point assigned later separates
words on every machine, whatever its Python knows.
"""

import re
import sys
import unicodedata
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path

LONG_RUN = 48  # code points, all of them assigned: most scripts have runs of this length.
# Written without spaces (or, Hangul, with endings glued on): cut into bigrams, so that no dictionary must be shared.
UNSPACED = (
    "\u0e01-\u0e4e\u0e81-\u0ecd"  # Thai, Lao
    "\u1000-\u103f\u1780-\u17d3"  # Myanmar, Khmer
    "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff\uffa0-\uffdc"  # Hangul
    "\u3005-\u3007\u3031-\u3035\u303b\u3040-\u309f\u30a0-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # Kana
    "\u2e80-\u2fdf\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
# Default_Ignorable_Code_Point of Unicode 14.0 (UAX #44), but U+200B, and but the fillers in UNSPACED.
IGNORED = (
    "\u00ad\u034f\u061c\u180b-\u180f\u200c-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f\U000e0100-\U000e01ef"
)
FILLERS = "\u115f\u1160\u17b4\u17b5\u3164\uffa0"
APOSTROPHES = "\u00b4\u02b9\u02bb-\u02bf\u02c8\u05f3\u2018\u2019\u201b\u2032"
_HYPHENS = "\u058a\u05be\u2010\u2011\ufe63"
_KEPT = "'._-+#"  # the signs of ASCII that are part of words, or join them


def _signs() -> dict[int, int]:
    """Digits and signs that are written in several ways, and full-width letters, each with that of ASCII."""
    found = {**dict.fromkeys(map(ord, _each(APOSTROPHES)), ord("'")), **dict.fromkeys(map(ord, _HYPHENS), ord("-"))}
    wide = range(0xFF01, 0xFF5F)
    found |= {code: ord(low) for code in wide if (low := chr(code - 0xFEE0).lower()).isalnum() or low in _KEPT}
    digits = re.findall("(?![0-9])\\d", _all(0x20000))
    return found | {ord(digit): ord("0") + unicodedata.decimal(digit) for digit in digits}


def _all(end: int) -> str:
    """Return all characters before a code point."""
    return bytes(array("I", (*range(0xD800), *range(0xE000, end)))).decode(f"utf-32-{sys.byteorder[0]}e")


def _each(characters: str) -> str:
    """Write out the ranges of a class of a pattern."""
    return "".join(re.findall(f"[{characters}]", _all(0x10000)))


def _marks() -> str:
    """Combining marks of the basic plane that `\\w` leaves out: without them Indic words would fall apart."""
    unspaced = re.compile(f"[{UNSPACED}]")
    ranges: list[list[int]] = []
    for code in (*range(0x300, 0x3400), *range(0xA000, 0xAC00), *range(0xF900, 0xFB1F)):  # between are Han and Hangul
        character = chr(code)
        if unicodedata.category(character) not in ("Mn", "Mc") or unspaced.match(character):
            continue
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


def unassigned_spans() -> list[tuple[int, int]]:
    """Return the first and the last of each run of code points that Unicode 14.0 does not assign."""
    ranges = Path(__file__).with_name("unassigned.txt").read_text(encoding="ascii").split()
    spans = (each.partition("-") for each in ranges)
    return [(int(first, 16), int(last or first, 16)) for first, _, last in spans]


def _class_of(spans: Iterable[tuple[int, int]]) -> str:
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in spans)


def _long_runs() -> Iterator[tuple[int, int]]:
    """Long runs of code points without one that is unassigned."""
    begin = 0
    for first, last in unassigned_spans():
        if first - begin >= LONG_RUN:
            yield begin, first - 1
        begin = last + 1


MARKS = _marks()
SIGNS = _signs()
_SIGN = re.compile(f"[{''.join(map(chr, SIGNS))}\u200c]")
_BETWEEN_ARABIC = re.compile(
    "(?<=[\u0600-\u06ff])\u200c(?=[\u0600-\u06ff])"
)  # as a hyphen: in Persian it joins a word and its ending
UNASSIGNED = re.compile(f"[{_class_of(unassigned_spans())}]")
_ASSIGNED = re.compile(f"[{_class_of(_long_runs())}]*+")  # most texts; a class of few runs is found 200 times faster
LETTER = f"[^\\W_{UNSPACED}]"
# A run of unspaced script, or a word: letters and digits, marks inside, and English endings after an apostrophe
# ("don't", "John's"), so that French "l'eau" still gives "eau". Names of programming languages keep their signs.
# Endings in both cases (ſ is an s) and not IGNORECASE, which makes all of the pattern three times slower.
_ENDING = "'(?:[sS\u017f]|[tT]|[rR][eE]|[vV][eE]|[lL][lL]|[dD]|[mM])"
_SIGNED = "(?<![{0}])(?:[cC]\\+\\+|[cCfFjJ]#|\\.[nN][eE][tT])(?![{1}])"  # C++, C#, F#, J#, .NET
TOKEN = re.compile(
    f"[{UNSPACED}][{UNSPACED}{IGNORED}]*+|{_SIGNED.format('0-9A-Za-z', 'A-Za-z')}"
    f"|{LETTER}+(?:[{MARKS}{IGNORED}]+{LETTER}*)*(?:{_ENDING}(?!{LETTER}))?"
)
ASCII_TOKEN = re.compile(  # of ASCII the same
    f"{_SIGNED.format('0-9A-Za-z', 'A-Za-z')}"
    "|[A-Za-z0-9]+(?:'(?:[sStTdDmM]|[rR][eE]|[vV][eE]|[lL][lL])(?![A-Za-z0-9]))?"
)
UNSPACED_RUN = re.compile(f"[{UNSPACED}]+")
BETWEEN_RUNS = re.compile(f"[^{UNSPACED}]+")
FIRST_UNSPACED = "\u0e01"
_PLAIN = "\u3041-\u3094\u30a1-\u30fa\u30fc\u4e00-\u9fff\uac00-\ud7a3"  # Kana, Han and Hangul that no folding changes
PLAIN_RUN = re.compile(f"[{_PLAIN}]+")
ODD_RUN = re.compile(f"(?![{_PLAIN}])[{UNSPACED}{IGNORED}\u3200-\u33ff]")  # what may be folded to other characters
# All of a text; `TOKEN` finds the same in its parts. Plain runs are found faster.
RUN_OR_REST = re.compile(f"[{_PLAIN}]++(?![{UNSPACED}{IGNORED}])|[{UNSPACED}][{UNSPACED}{IGNORED}]*+|[^{UNSPACED}]+")


def plain_signs(text: str) -> str:
    """Return a text of the same length. A space stands for each code point that Unicode 14.0 does not assign. ASCII
    stands for digits of all scripts, full-width letters, apostrophes and hyphens."""
    text = text if _ASSIGNED.fullmatch(text) else UNASSIGNED.sub(" ", text)
    return _BETWEEN_ARABIC.sub("-", text.translate(SIGNS)) if _SIGN.search(text) else text
