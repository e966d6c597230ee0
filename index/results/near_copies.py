"""Which pages say the same: by the digest of all that they say, or by signatures of their main texts.

Pure: values only. A signature is what the author of a document says of its text (`Text.signature`): enough to fold
pages of one host. Before a page of another host is folded, both signatures are made again from the signed texts: with a
copied signature a fraud could hide the page that it imitates.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from index.change_feed import Text
from index.shard.messages import HitRow
from index.text.field_terms import BODY
from index.text.forward_index import ForwardRecord, content_digest

NEAR_BITS = (
    8  # different bits of 128 at most: what crawl/content/fingerprint.py takes for near, by measured error rates
)
LEAST_TERMS = 24  # of a main text: what says less is a copy only where all of the page is the same
_BANDS = NEAR_BITS + 1  # two signatures with at most so many different bits less one agree in one band
_BAND_BITS = -(-128 // _BANDS)
_MASK = (1 << _BAND_BITS) - 1

Sign = Callable[[str], bytes]
Marks = HitRow | ForwardRecord  # marks of a page tell, without its text, which others are like it


def no_signature(text: str) -> bytes:
    """Sign nothing: for whoever cannot make signatures, pages of two hosts are alike where all that they say is."""
    return b""


class Likeness(NamedTuple):
    """The values by which a page is compared: the digest of all its text, and its signature as a number. The signature
    is None where the page is too short for one or has none."""

    digest: bytes
    signature: int | None


def likeness(marks: Marks) -> Likeness:
    """Return what is compared of a page."""
    is_long = marks.lengths[BODY] >= LEAST_TERMS
    return Likeness(marks.digest, _number(marks.signature) if is_long and marks.signature else None)


def are_near(one: Likeness, other: Likeness) -> bool:
    """Tell whether two pages say the same, as far as their marks tell."""
    return one.digest == other.digest or _agree(one.signature, other.signature)


def say_the_same(one: Text, other: Text, sign: Sign) -> bool:
    """Return whether two documents say the same by their texts, whatever digests and signatures their authors gave.
    `sign` makes the signature of a main text, b"" for none."""
    if content_digest(one) == content_digest(other):
        return True
    first, second = sign(one.body), sign(other.body)
    return bool(first and second) and _agree(_number(first), _number(second))


class NearIndex:
    """Marks in the order in which they are added, and those of them that are near to another: exactly, and without
    comparing all."""

    def __init__(self) -> None:
        self._pages: list[Likeness] = []
        self._digests: dict[bytes, list[int]] = {}
        self._bands: dict[tuple[int, int], list[int]] = {}

    def add(self, marks: Marks) -> None:
        """Add a page after those that were added before."""
        page, place = likeness(marks), len(self._pages)
        self._pages.append(page)
        self._digests.setdefault(page.digest, []).append(place)
        for band in _bands(page):
            self._bands.setdefault(band, []).append(place)

    def near(self, marks: Marks) -> Iterator[int]:
        """Yield the places of those that are near, in order."""
        page = likeness(marks)
        places = set(self._digests.get(page.digest, ()))
        for band in _bands(page):
            places.update(self._bands.get(band, ()))
        return (place for place in sorted(places) if are_near(self._pages[place], page))


def _agree(one: int | None, other: int | None) -> bool:
    return one is not None and other is not None and (one ^ other).bit_count() <= NEAR_BITS


def _number(signature: bytes) -> int:
    return int.from_bytes(signature, "big")


def _bands(page: Likeness) -> list[tuple[int, int]]:
    if page.signature is None:
        return []
    return [(band, page.signature >> (band * _BAND_BITS) & _MASK) for band in range(_BANDS)]
