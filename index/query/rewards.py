"""What a document earns beside its words' frequencies: for words in its title and its address, and for having all.

Pure: values only. A reward is a share of a word's weight that depends on the field and on its length alone, in a few
classes, so that an engine adds it as a constant: what it adds and what the score adds are the same. The more words a
title has beside those of the query, the less it is about them. In an address only short ones count: a front page is
the page of its site's name, whatever else stands below it. What lacks words is multiplied by at most 1, where the words
are few: in a long question hardly any document has all.
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
COVER_FADE = 16


@dataclass(frozen=True, slots=True)
class FieldClass:
    """Fields of a certain length. `most`: the longest, in terms; `typical`: what stands for all of them."""

    field: int  # of forward_index.FIELDS
    most: int
    typical: int
    share: float  # of a word's weight, where the query has as many words as the field

    @property
    def name(self) -> str:
        """The name of an engine's field that holds it."""
        return f"{'title' if self.field == TITLE else 'address'}_{self.most}"


FIELD_CLASSES = (
    FieldClass(TITLE, 4, 3, 0.3),
    FieldClass(TITLE, 10, 7, 0.3),
    FieldClass(TITLE, 64, 14, 0.3),
    FieldClass(URL, 3, 2, 0.3),
    FieldClass(URL, 5, 4, 0.2),
)


def field_class(field: int, length: int) -> int | None:
    """Return the number of the class of a field of so many terms, None where it has none."""
    if not length:
        return None
    return next((n for n, each in enumerate(FIELD_CLASSES) if each.field == field and length <= each.most), None)


@lru_cache(MANY)
def shares(words: int) -> tuple[float, ...]:
    """Return the share of a word's weight that each class earns it in a query of so many words."""
    out = []
    for each in FIELD_CLASSES:
        least = min(words, each.typical)
        root = math.isqrt(least * SHARE_STEPS * SHARE_STEPS // each.typical)  # whole numbers: alike everywhere
        out.append(math.floor(each.share * root) / SHARE_STEPS)
    return tuple(out)


def words_in(leaves: Sequence[Leaf]) -> int:
    """Return of how many words a query speaks, 1 … MANY."""
    return max(1, min(MANY, sum(len(leaf.words) if isinstance(leaf, Phrase) else 1 for leaf in leaves)))


def most_share(words: int) -> float:
    """Return the greatest share that a word can earn in one document."""
    found = list(zip(FIELD_CLASSES, shares(words), strict=True))
    return sum(max(share for each, share in found if each.field == field) for field in (TITLE, URL))


def earned(tfs: Sequence[Counts], lengths: Counts, weights: Sequence[float], words: int) -> tuple[float, ...]:
    """Compute what each word earns a document by its title and by its address."""
    known = shares(words)
    title, address = field_class(TITLE, lengths[TITLE]), field_class(URL, lengths[URL])
    in_title = known[title] if title is not None else 0.0
    in_address = known[address] if address is not None else 0.0
    return tuple(
        weight * (in_title if counts[TITLE] else 0.0) + weight * (in_address if counts[URL] else 0.0)
        for counts, weight in zip(tfs, weights, strict=True)
    )


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
