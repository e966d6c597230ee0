"""What a document earns beside its words' frequencies: for words in its title, for being the front page of the site
that they name, and for having all.

Pure: values only. A reward is a share of a word's weight that depends on the field and on its length alone, in a few
classes, so that an engine adds it as a constant: what it adds and what the score adds are the same. The more words a
title has beside those of the query, the less it is about them. A front page is the page of its site's name, whatever
else stands below it: its reward is the greater the more of the query its host's name says, and next to nothing where
that is half, because then a page below is meant; an engine adds the whole of it. What lacks words is multiplied by at
most 1, where the words are few: in a long question hardly any document has all.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from index.query.leaf import Leaf, Phrase
from index.text.forward_index import TITLE, URL, Counts

SHARE_STEPS = 1 << 10
COVER_STEPS = 1 << 20  # so coarse that no machine's power function can differ
MANY = 9  # words; from so many on, lacking some costs nothing
COVER_FADE = 20
TITLE_SHARE = 0.3  # of a word's weight, where the query has as many words as the title
FRONT_FIELD = "front"  # an engine's field of what front pages have for an address
FRONT_SHARE = 0.5  # of a word's weight, where the host's name has all words of the query
FRONT_MOST = 6  # terms of such a name: a longer one is stuffed


@dataclass(frozen=True, slots=True)
class TitleClass:
    """Titles of a certain length. `most`: the longest, in terms; `typical`: what stands for all of them."""

    most: int
    typical: int

    @property
    def name(self) -> str:
        """The name of an engine's field that holds them."""
        return f"title_{self.most}"


TITLE_CLASSES = (TitleClass(4, 3), TitleClass(10, 7), TitleClass(64, 14))


def title_class(length: int) -> int | None:
    """Return the number of the class of a title of so many terms, None where it has none."""
    return next((n for n, each in enumerate(TITLE_CLASSES) if 0 < length <= each.most), None)


@lru_cache(MANY)
def shares(words: int) -> tuple[float, ...]:
    """Return the share of a word's weight that each class earns it in a query of so many words."""
    out = []
    for each in TITLE_CLASSES:
        least = min(words, each.typical)
        root = math.isqrt(least * SHARE_STEPS * SHARE_STEPS // each.typical)  # whole numbers: alike everywhere
        out.append(math.floor(TITLE_SHARE * root) / SHARE_STEPS)
    return tuple(out)


def words_in(leaves: Sequence[Leaf]) -> int:
    """Return of how many words a query speaks, 1 … MANY."""
    return max(1, min(MANY, sum(len(leaf.words) if isinstance(leaf, Phrase) else 1 for leaf in leaves)))


def most_share(words: int) -> float:
    """Return the greatest share that a word can earn in one document."""
    return max(shares(words)) + FRONT_SHARE


def earned(
    tfs: Sequence[Counts], lengths: Counts, is_front: bool, weights: Sequence[float], words: int
) -> tuple[float, ...]:
    """Compute what each word earns a document by its title and as a front page."""
    known = shares(words)
    title = title_class(lengths[TITLE])
    in_title = known[title] if title is not None else 0.0
    in_address = _front_share(tfs, weights) if is_front and lengths[URL] <= FRONT_MOST else 0.0
    return tuple(
        weight * (in_title if counts[TITLE] else 0.0) + weight * (in_address if counts[URL] else 0.0)
        for counts, weight in zip(tfs, weights, strict=True)
    )


def _front_share(tfs: Sequence[Counts], weights: Sequence[float]) -> float:
    """The share of a word's weight that a front page earns; weights are whole steps, so that their sums are exact."""
    named = sum(weight for counts, weight in zip(tfs, weights, strict=True) if counts[URL])
    if not named:
        return 0.0
    part = named / sum(weights)
    for _ in range(3):  # the eighth power: alike on every machine, as `pow` is not
        part *= part
    return math.floor(FRONT_SHARE * SHARE_STEPS * part) / SHARE_STEPS


def coverage(tfs: Sequence[Counts], weights: Sequence[float]) -> float:
    """Return what a document's score is multiplied by for the words that it lacks, 0 … 1."""
    return coverage_by([any(counts) for counts in tfs], weights)


def coverage_by(has: Sequence[bool], weights: Sequence[float]) -> float:
    """Return the coverage of a document that has these of the words; the more it has, the greater."""
    if len(weights) >= MANY or len(weights) < 2:
        return 1.0
    every = sum(weights)
    found = sum(weight for is_there, weight in zip(has, weights, strict=True) if is_there)
    if not every or found >= every:
        return 1.0
    kept = math.pow(found / every, (MANY - len(weights)) / COVER_FADE)
    return math.floor(kept * COVER_STEPS + 0.5) / COVER_STEPS
