"""Characters that are words by themselves: of Chinese, and syllables of Korean.

Pure: a text in, characters out. The analyzer cuts runs of these scripts into pairs, so that a character inside a run is
no term; a document bears a tag for each (`tags.py`), by which one alone is found wherever it stands.
"""

import re

import numpy as np

from index.text.analyzer import words

CHARACTER = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\U00020000-\U0003ffff]")
_FIRST = 0x2E80  # before it, none is folded to such a character


class _Written(dict[str, str]):
    """The output of the analyzer for each character of the world by itself; "" where that is no word of these
    scripts."""

    def __missing__(self, character: str) -> str:
        found = words(character)
        self[character] = written = found[0] if len(found) == 1 and is_character(found[0]) else ""
        return written


_written = _Written()


def is_character(word: str) -> bool:
    """Tell whether a word of `analyzer.words` is one such character."""
    return CHARACTER.fullmatch(word) is not None


def characters_in(*texts: str) -> list[str]:
    """Return the distinct characters of some texts as the analyzer writes them, ascending."""
    said = "".join(text for text in texts if not text.isascii())
    if np.frombuffer(said.encode("utf-16-le", "replace"), "<u2").max(initial=0) < _FIRST:  # of most pages
        return []
    codes = np.frombuffer(said.encode("utf-32-le", "replace"), "<u4")  # ten thousand a page: not one by one in Python
    return sorted({_written[chr(code)] for code in np.unique(codes[codes >= _FIRST]).tolist()} - {""})
