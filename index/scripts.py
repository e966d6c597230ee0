"""Which characters make words, and which scripts are written without spaces.

Pure: tables computed once from Python's own Unicode data, as regular-expression character classes.
"""

import re
import unicodedata

# Written without spaces (or, Hangul, with endings glued on): cut into bigrams, so that no dictionary must be shared.
UNSPACED = (
    "\u0e01-\u0e4e\u0e81-\u0ecd"  # Thai, Lao
    "\u1000-\u103f\u1780-\u17d3"  # Myanmar, Khmer
    "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff\uffa0-\uffdc"  # Hangul
    "\u3005-\u3007\u3031-\u3035\u303b\u3040-\u309f\u30a0-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # Kana
    "\u2e80-\u2fdf\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)


def _marks() -> str:
    """Combining marks of the basic plane that `\\w` leaves out: without them Indic words would fall apart."""
    unspaced = re.compile(f"[{UNSPACED}]")
    ranges: list[list[int]] = []
    for code in range(0x300, 0xFB1F):
        character = chr(code)
        if unicodedata.category(character) not in ("Mn", "Mc") or unspaced.match(character):
            continue
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


MARKS = _marks()
LETTER = f"[^\\W_{UNSPACED}]"
# A run of unspaced script, or a word: letters and digits, marks inside, and English endings after an apostrophe
# ("don't", "John's"), so that French "l'eau" still gives "eau".
# Endings in both cases (ſ is an s) and not IGNORECASE, which makes all of the pattern three times slower.
_ENDING = "['\u2019](?:[sS\u017f]|[tT]|[rR][eE]|[vV][eE]|[lL][lL]|[dD]|[mM])"
TOKEN = re.compile(f"[{UNSPACED}]+|{LETTER}+(?:[{MARKS}]+{LETTER}*)*(?:{_ENDING}(?!{LETTER}))?")
ASCII_TOKEN = re.compile(
    "[A-Za-z0-9]+(?:'(?:[sStTdDmM]|[rR][eE]|[vV][eE]|[lL][lL])(?![A-Za-z0-9]))?"
)  # of ASCII the same
UNSPACED_RUN = re.compile(f"[{UNSPACED}]+")
PLAIN_RUN = re.compile(
    "[\u3041-\u3094\u30a1-\u30fa\u30fc\u4e00-\u9fff\uac00-\ud7a3]+"
)  # of Kana, Han and Hangul that no folding changes
