"""Marked texts of every script, and bad ones, for the compiled leaf of the parser: it must give what Python gives.

As a program it compares both for some seconds, by a leaf that may be built anywhere:

    python leaf_pages.py SECONDS SEED [FILE]
"""

import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from crawl.content import boilerplate, fingerprint, language, page_leaf
from crawl.content.page_leaf import PageLeaf
from crawl.content.raw_html import BREAK, CLOSE, LINK, OPEN
from tests.compiled_leaf import module_of
from tests.index.text import leaf_texts

MARKS = (
    *BREAK * 6, *LINK * 6, OPEN, CLOSE, *"  \n\t\r\v\x1c\x1f", "\x85", "\xa0", "\u1680", "\u2028", "\u3000", "\u180e",
)  # fmt: skip
DAYS = (
    "Monday",
    "Mon",
    "Mon_",
    "Tuesdays",
    "Wednesday1",
    "Sept",
    "Sep",
    "June",
    "Junes",
    "May",
    "MayMay",
    "xDec.",
    "M",
)
PHRASES = (
    *("der die und", "les des est une", "the and of to", "для и не що", "được không của", "och att som", "się na jest"),
    *("a few words that are so many that no menu has them in a line of its own", "x" * 50, "İstanbul", "ΣΑΣ ß", "9٣½"),
)
MOST = (0, 1, 5, 50, 200, 20_000)


def marked(rng: random.Random, pieces: int) -> str:
    """So many words, phrases and marks."""
    kinds = (lambda: leaf_texts.piece(rng), *(lambda each=each: rng.choice(each) for each in (MARKS, DAYS, PHRASES)))
    odds = [rng.random() for _ in kinds]
    gap = rng.choice(("", " ", BREAK))
    parts = (rng.choices(kinds, odds)[0]() for _ in range(pieces))
    return gap.join(f"{LINK}{part}{LINK}" if rng.random() < 0.2 else part for part in parts)


def differences(leaf: PageLeaf, text: str, most: int) -> Iterator[str]:
    """Say which steps of the leaf give something else for a text than Python does."""
    page_leaf.leaf = None
    texts = boilerplate.read_texts(text, most)
    if leaf.read_texts(text, most) != (texts.main, texts.boilerplate, texts.steady):
        yield "read_texts"
    said = text.encode("utf-8", "surrogatepass")
    if leaf.steady_of(said) != fingerprint.steady_of(said):
        yield "steady_of"
    if leaf.sign(said) != fingerprint.sign(said):
        yield "sign"
    sample = text[: language.SAMPLE_CHARS]
    if leaf.count_letters(sample) not in (None, language.count_letters(sample)):
        yield "count_letters"
    lower = sample.lower()
    if leaf.count_votes(lower, language.SMALL_WORDS) not in (None, language.count_votes(lower)):
        yield "count_votes"


def compare(leaf: PageLeaf, rng: random.Random) -> list[str]:
    """Compare one text of chance, and say where it differs."""
    text, most = marked(rng, rng.choice((1, 3, 10, 30, 120, 500))), rng.choice(MOST)
    return [f"{name} of {text!a} at {most}" for name in differences(leaf, text, most)]


def main(seconds: str, seed: str, file: str = "") -> None:
    leaf = PageLeaf(module_of(Path(file))) if file else page_leaf.leaf
    rng, count = random.Random(int(seed)), 0
    assert leaf, page_leaf.PAGE_LEAF_STATE
    until = time.monotonic() + float(seconds)
    while time.monotonic() < until:
        found = compare(leaf, rng)
        assert not found, found
        count += 1
    print(f"{count} texts are the same")


if __name__ == "__main__":
    main(*sys.argv[1:])
