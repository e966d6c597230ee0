"""The compiled leaf: the dearest steps of the analysis of text in C, where they could be built.

Its C lies in `index/text/leaf`, and `hatch_build.py` compiles it at install. Each step gives, byte for byte, what the
Python function gives that it stands for. That function is its definition, and serves where nothing was built. The leaf
decides by the tables that are made here alone: it asks Python for every chunk that holds anything else.
"""

import re
import threading
from collections.abc import Callable, Sequence
from enum import IntEnum
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dht import load_leaf
from index.text.analyzer import JOINERS, SPACED, known_chunk, known_word, simplified
from index.text.scripts import IGNORED, LETTER, MARKS, PLAIN_RUN, SIGNS, UNSPACED_RUN, unassigned_spans
from index.text.stem_classes import ascii_stemmer

if TYPE_CHECKING:
    from index.text._leaf import Cutter

MOST_CHUNKS = 1 << 16  # 4 MB; the bundled sample of 440 pages has more than 1 << 15
MOST_TERMS = 1 << 17  # 16 MB with their strings; Chinese pages have 60,000 bigrams that come again
_LETTER = re.compile(f"{LETTER}+")
_BESIDE_WORDS = re.compile(f"['+#{MARKS}]+")  # part of a word, or of its end
_IGNORED = re.compile(f"[{IGNORED}]+")
_PLANE = 1 << 16

Limits = tuple[int, int, int, int, int]  # of a title, of all headings, of an address, of main text, of all else


class _Letter(IntEnum):
    """Names the kinds of code points that the leaf tells apart; leaf.h explains each."""

    ASK = 0
    REST = 1
    JOINER = 2
    GAP = 3
    WORD = 4


class TextLeaf:
    """The steps of the leaf; threads may use it at the same time."""

    def __init__(self, module: ModuleType) -> None:
        self._module, self._turn = module, threading.Lock()
        self.tables_of = module.tables_of  # see forward_index.py
        self.columns_of = module.columns_of  # see sketch.py
        self.measure_leaves = module.measure_leaves  # see top_hits.py
        self.pieces_with = module.pieces_with  # see index/results/first_letters.py
        self.best_mark = module.best_mark  # see snippet.py
        self.sift_chunks = module.sift_chunks  # see surfaces.py
        self.written_lines = module.written_lines  # see tantivy_documents.py

    @cached_property
    def _cutter(self) -> "Cutter":
        """Made when the first text is cut: its table takes 30 ms, which commands that cut none need not spend."""
        tables, callbacks = (SPACED, _letters()), (ascii_stemmer, known_chunk, known_word)
        made: Cutter = self._module.Cutter(*tables, *callbacks, MOST_CHUNKS, MOST_TERMS)
        return made

    def cut_lines(self, lines: Sequence[str], limits: Limits, stem_class: int) -> tuple[list[str], bytes, list[int]]:
        """Do what `field_terms.cut_lines` does."""
        with self._turn:
            return self._cutter.cut(lines, limits, stem_class)

    def characters_in(self, said: str, written: Callable[[int], str]) -> list[str]:
        """Do what `tags.sift_characters` does."""
        return self._cutter.characters_in(said.encode("utf-8", "replace"), written)

    def forget(self) -> None:
        """Forget all terms; they are found again."""
        with self._turn:
            self._cutter.forget()


def _letters() -> bytes:
    """Return for each code point of 16 bits its `_Letter`, or, where folding keeps it in a run, the letter itself."""
    every = "".join(map(chr, range(0xD800))) + "\0" * 0x800 + "".join(map(chr, range(0xE000, _PLANE)))
    written = np.frombuffer(simplified(every).encode("utf-16-le"), "<u2")
    letters = np.full(_PLANE, _Letter.GAP, np.uint16)
    letters[_places(_LETTER, every)] = _Letter.WORD
    letters[_places(_BESIDE_WORDS, every)] = _Letter.REST
    letters[[ord(joiner) for joiner in JOINERS]] = _Letter.JOINER
    for sign, written_as in SIGNS.items():
        if sign < _PLANE:
            letters[sign] = _Letter.JOINER if chr(written_as) in JOINERS else _Letter.REST
    letters[_places(_IGNORED, every) | _places(UNSPACED_RUN, every) | (written != np.arange(_PLANE))] = _Letter.ASK
    for first, last in unassigned_spans():
        letters[first : last + 1] = _Letter.ASK
    is_plain = _places(PLAIN_RUN, every)
    stays = is_plain & is_plain[written]
    letters[stays] = written[stays]
    return letters.tobytes()


def _places(pattern: re.Pattern[str], text: str) -> NDArray[np.bool_]:
    """Where in a text a pattern stands."""
    found = np.zeros(len(text), np.bool_)
    for part in pattern.finditer(text):
        found[part.start() : part.end()] = True
    return found


def load() -> tuple[TextLeaf | None, str]:
    """Return the leaf, where one was compiled from the sources that are here, and for the owner which text it is."""
    module, state = load_leaf("index.text")
    return TextLeaf(module) if module else None, state


leaf, LEAF_STATE = load()
