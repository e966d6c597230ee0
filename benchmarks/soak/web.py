"""Writes the web that a soak crawls: hosts whose pages change several times an hour, and words to ask for.

Pure but for `write`, which makes the files that `node/extras/demo/sample_web.py` serves.
"""

from pathlib import Path
from random import Random

CHANGES = "churn_per_hour = 4.0\nchurn_share = 0.5\nvanish_per_hour = 0.2\nvanish_share = 0.1\n"
_SYLLABLES = [first + second for first in "bcdfglmnprst" for second in "aeiou"]


def vocabulary(seed: int, count: int = 5000) -> list[str]:
    """Return made-up words, the same for a seed."""
    rng = Random(seed)
    return ["".join(rng.choices(_SYLLABLES, k=rng.randint(2, 4))) for _ in range(count)]


def pick(rng: Random, words: list[str]) -> str:
    """Return a word, those at the beginning far more often than others."""
    return words[int(len(words) * rng.random() ** 2.5)]


def write(root: Path, seed: int, hosts: int, pages: int) -> list[str]:
    """Write the sites below `root`; return the names of their hosts."""
    rng, words = Random(seed), vocabulary(seed)
    names = [f"soak{n}.example" for n in range(hosts)]
    for name in names:
        folder = root / name
        folder.mkdir(parents=True)
        (folder / "_site.toml").write_text(CHANGES)
        for number in range(pages):
            (folder / ("index.html" if number == 0 else f"{number}.html")).write_text(_page(rng, words, number, pages))
    return names


def _page(rng: Random, words: list[str], number: int, pages: int) -> str:
    text = " ".join(pick(rng, words) for _ in range(rng.randint(150, 900)))
    ways = [(number + 1) % pages, *(rng.randrange(pages) for _ in range(4))]
    links = " ".join(f'<a href="/{way}.html">{pick(rng, words)}</a>' for way in ways if way)
    title = f"{pick(rng, words)} {pick(rng, words)} {number}"
    return f"<html><head><title>{title}</title></head><body><h1>{title}</h1><p>{text}</p>{links}</body></html>"
