"""Texts of every script, and bad ones, for the compiled leaf: what it gives must be what Python gives.

As a program it compares both for some seconds, by a leaf that may be built anywhere:

    python leaf_texts.py SECONDS SEED [FILE]
"""

import random
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from index.engine.tantivy_documents import BOILERPLATE, PAIRS_OF, TEXT, written_lines
from index.query.parser import parse_query
from index.results.first_letters import pieces_with, plain, sought_pieces
from index.results.snippet import EDGE, PROSE_SHARE, best_mark
from index.shard.top_hits import LeafFinder
from index.text import text_leaf
from index.text.analyzer import JOINERS
from index.text.field_terms import cut_lines
from index.text.forward_index import RUN, ForwardRecord, positions_of_lines, tables_of
from index.text.sketch import columns_of
from index.text.stem_classes import CLASSES
from index.text.surfaces import MAX_CHARS, MIN_CHARS, sift_chunks, spaced_letters
from index.text.tags import sift_characters, written_code
from index.text.text_leaf import Limits, TextLeaf
from tests.compiled_leaf import module_of

SCRIPTS = {  # first and last code points of letters
    "latin": (0x61, 0x7A),
    "accented": (0xC0, 0x24F),
    "greek": (0x370, 0x3FF),
    "cyrillic": (0x400, 0x52F),
    "armenian": (0x531, 0x58F),
    "hebrew": (0x591, 0x5F4),
    "arabic": (0x600, 0x6FF),
    "devanagari": (0x900, 0x97F),
    "bengali": (0x980, 0x9FE),
    "tamil": (0xB82, 0xBFA),
    "thai": (0xE01, 0xE5B),
    "lao": (0xE81, 0xEDF),
    "myanmar": (0x1000, 0x109F),
    "georgian": (0x10A0, 0x10FF),
    "jamo": (0x1100, 0x11FF),
    "ethiopic": (0x1200, 0x137C),
    "khmer": (0x1780, 0x17F9),
    "vietnamese": (0x1E00, 0x1EFF),
    "polytonic": (0x1F00, 0x1FFE),
    "signs": (0x2000, 0x206F),
    "letterlike": (0x2070, 0x218B),
    "radicals": (0x2E80, 0x2FD5),
    "punctuation": (0x3000, 0x303F),
    "hiragana": (0x3041, 0x309F),
    "katakana": (0x30A0, 0x30FF),
    "enclosed": (0x3200, 0x33FF),
    "rare han": (0x3400, 0x4DBF),
    "han": (0x4E00, 0x9FFF),
    "hangul": (0xAC00, 0xD7A3),
    "private": (0xE000, 0xE0FF),
    "compatible": (0xF900, 0xFAFF),
    "presented": (0xFB00, 0xFDFF),
    "wide": (0xFF00, 0xFFEF),
    "emoji": (0x1F300, 0x1FAFF),
    "rarest han": (0x20000, 0x2A6DF),
    "any": (1, 0x10FFFF),
    "halves": (0xD800, 0xDFFF),
}
SIGNS = (
    *"\u00ad\u2060\ufeff\u200d\u200c\ufe00\u061c\u02bc\u2010\u05be\uff11\u0663",
    *" '._-+#",
    *JOINERS,
    *'/:,;!?()"\n\t\0',
    "\u2019",
    "\u017f",
    "\u0301",
    "\u3002",
    "\uff0c",
    ". ",
    "'s ",
    "--",
)
_KNOWN = """
the running children's houses don't C++ c# .NET utf8 utf-8 IPv6 pg_dump 3.11 2024-11-22 v1.2.3.4.5
x-ray 1a 1a2 e.g. a.b.c.d a.b.c.d.e 12-34 12-a STRASSE straße ﬁle ＡＢＣ İstanbul ΣΊΣΥΦΟΣ l’été
d'Artagnan’s naïve cafe\u0301 北京大学的搜索引擎 軟體網絡 東京タワー ｶﾞｷﾞｸﾞ 한국어 ภาษาไทย កខ្មែរ မြန်မာစာ हिन्दी தமிழ்
العَرَبِيَّة کتاب\u200cها ½②Ⅳ 中文utf-8混合 中-文 abc中 中abc中 １２３中 中。文 漢\u200c字 🀀 𠮷野家
"""
WORDS = _KNOWN.split()
LIMITS: Limits = (64, 512, 64, 20_000, 8_000)
SKETCHED = 20, 0x9E3779B1
_NARROW: tuple[Limits, ...] = ((0, 0, 0, 0, 0), (3, 5, 2, 9, 4), (1, 1, 1, 1, 1))


def piece(rng: random.Random) -> str:
    """A word of one script, a known one, a number, or signs; sometimes far too long a one."""
    kind = rng.random()
    if kind < 0.25:
        return rng.choice(WORDS)
    if kind < 0.45:
        return rng.choice(SIGNS) * rng.choice((1, 1, 1, 2, 70))
    if kind < 0.55:
        return str(rng.randrange(10 ** rng.randrange(1, 24)))
    first, last = SCRIPTS[rng.choice(list(SCRIPTS))]
    size = rng.choice((1, 2, 3, 5, 8, 13, 21, 62, 63, 64, 65, 66, 300))
    word = "".join(chr(rng.randint(first, last)) for _ in range(size))
    return word.upper() if rng.random() < 0.1 else word


def text(rng: random.Random, pieces: int) -> str:
    """So many pieces, with spaces or without."""
    gap = rng.choice((" ", " ", " ", "", "-", "."))
    return gap.join(piece(rng) for _ in range(pieces))


def document(rng: random.Random) -> tuple[str, ...]:
    """A title, headings, an address, a main text and another."""
    headings = (text(rng, rng.randrange(4)) for _ in range(rng.choice((0, 0, 0, 1, 2, 64))))
    return (
        text(rng, 4),
        *headings,
        text(rng, 3),
        text(rng, rng.choice((0, 1, 3, 9, 9, 30, 200))),
        text(rng, rng.randrange(20)),
    )


def differences(leaf: TextLeaf, lines: Sequence[str], limits: Limits, stem_class: int) -> Iterator[str]:
    """Say which steps of the leaf give something else for a document than Python does."""
    cut = cut_lines(lines, limits, stem_class)
    if leaf.cut_lines(lines, limits, stem_class) != cut:
        yield "cut_lines"
    vocabulary, places, positions = cut[0], np.frombuffer(cut[1], np.uint16), positions_of_lines(cut[2])
    made = tables_of(vocabulary, places, positions, RUN)
    if leaf.tables_of(vocabulary, places, positions, RUN) != made:
        yield "tables_of"
    said = f'{" ".join(vocabulary[:3])} "{" ".join(vocabulary[1:3])}" "{" ".join(vocabulary[-2:])}" utf-8'
    finder = LeafFinder(parse_query(said).leaves, leaf)
    forward = ForwardRecord(b"", b"", b"", stem_class, False, 0, 0, 0, -1, (0, 0, 0, 0), *made)
    found, _ = finder.find(forward)
    if finder.measure(forward, found) != finder.measured(forward, found):
        yield "measure_leaves"
    if leaf.columns_of(vocabulary, places, *SKETCHED) != columns_of(vocabulary, places, *SKETCHED):
        yield "columns_of"
    for marks in (("", "", ""), ("\x01A", PAIRS_OF[TEXT], PAIRS_OF[BOILERPLATE])):
        if leaf.written_lines(vocabulary, places, cut[2], *marks) != written_lines(vocabulary, places, cut[2], *marks):
            yield "written_lines"
    said = "".join(lines)
    if leaf.characters_in(said, written_code) != sift_characters(said):
        yield "characters_in"
    spaced = spaced_letters(lines)
    if leaf.sift_chunks(spaced, MIN_CHARS, MAX_CHARS) != sift_chunks(spaced, MIN_CHARS, MAX_CHARS):
        yield "sift_chunks"
    yield from unlike_snippets(leaf, "\n".join(lines), [*vocabulary[:3], *vocabulary[-2:]])


def unlike_snippets(leaf: TextLeaf, body: str, words: Sequence[str]) -> Iterator[str]:
    """Say which steps of a snippet the leaf does otherwise than Python."""
    for letters in (1, 3):
        beginnings = frozenset(plain(word)[:letters] for word in words)
        pieces = sought_pieces(body, beginnings)
        if pieces_with(body, beginnings, leaf) != pieces:
            yield "pieces_with"
        marks = [(begin, begin + len(piece), piece) for begin, piece in pieces]
        for chars in (5, 220):
            if leaf.best_mark(body, marks, chars, EDGE, PROSE_SHARE) != best_mark(body, marks, chars):
                yield "best_mark"


def compare(leaf: TextLeaf, rng: random.Random) -> list[str]:
    """Compare one document of chance, and say where it differs."""
    limits = LIMITS if rng.random() < 0.8 else rng.choice(_NARROW)
    if rng.random() < 0.02:
        leaf.forget()
    lines, stem_class = document(rng), rng.randrange(len(CLASSES))
    return [f"{name} of {lines!a} in class {stem_class}" for name in differences(leaf, lines, limits, stem_class)]


def main(seconds: str, seed: str, file: str = "") -> None:
    leaf, rng, count = TextLeaf(module_of(Path(file))) if file else text_leaf.leaf, random.Random(int(seed)), 0
    assert leaf, text_leaf.LEAF_STATE
    until = time.monotonic() + float(seconds)
    while time.monotonic() < until:
        found = compare(leaf, rng)
        assert not found, found
        count += 1
    print(f"{count} documents are the same")


if __name__ == "__main__":
    main(*sys.argv[1:])
