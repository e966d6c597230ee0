"""Which pages say the same: by the digest of all that they say, or by signatures of their main texts.

Pure: values only. A signature is what the author of a document says of its text (`Text.signature`): enough to fold
pages of one host. Before a page of another host is folded, both signatures are made again from the signed texts: with a
copied signature a fraud could hide the page that it imitates.
"""

from collections.abc import Callable, Iterator
from typing import Protocol

from index.change_feed import Text
from index.text.forward_index import BODY, Counts, content_digest

NEAR_BITS = 8  # different bits of 128 at most: what crawl/content/similarity.py takes for near, by measured error rates
LEAST_TERMS = 24  # of a main text: what says less is a copy only where all of the page is the same
_BANDS = NEAR_BITS + 1  # two signatures with at most so many different bits less one agree in one band
_BAND_BITS = -(-128 // _BANDS)
_MASK = (1 << _BAND_BITS) - 1

Sign = Callable[[str], bytes]


class Marks(Protocol):
    """What tells of a page, without its text, which others are like it."""

    @property
    def digest(self) -> bytes:
        """16 bytes, equal where title, main text and boilerplate are."""

    @property
    def signature(self) -> bytes:
        """16 bytes that are nearly equal where main texts are; b"" unknown."""

    @property
    def lengths(self) -> Counts:
        """Terms by field."""


def no_signature(text: str) -> bytes:
    """Sign nothing: for whoever cannot make signatures, pages of two hosts are alike where all that they say is."""
    return b""


def are_near(one: Marks, other: Marks) -> bool:
    """Tell whether two pages say the same, as far as their marks tell."""
    return one.digest == other.digest or bool(
        _is_long(one) and _is_long(other) and are_near_signatures(one.signature, other.signature)
    )


def are_near_signatures(one: bytes, other: bytes) -> bool:
    """Tell whether two signatures belong to nearly the same text; never where one is unknown."""
    return bool(one and other) and (_number(one) ^ _number(other)).bit_count() <= NEAR_BITS


def say_the_same(one: Text, other: Text, sign: Sign) -> bool:
    """Tell whether two documents say the same by their own texts, whatever their authors say of them."""
    return content_digest(one) == content_digest(other) or are_near_signatures(sign(one.body), sign(other.body))


class NearIndex:
    """Marks in the order in which they are added, and those of them that are near to another: exactly, and without
    comparing all."""

    def __init__(self) -> None:
        self._marks: list[Marks] = []
        self._digests: dict[bytes, list[int]] = {}
        self._bands: dict[tuple[int, int], list[int]] = {}

    def add(self, marks: Marks) -> None:
        """Add a page after those that were added before."""
        place = len(self._marks)
        self._marks.append(marks)
        self._digests.setdefault(marks.digest, []).append(place)
        for band in _bands(marks):
            self._bands.setdefault(band, []).append(place)

    def near(self, marks: Marks) -> Iterator[int]:
        """Yield the places of those that are near, in order."""
        places = set(self._digests.get(marks.digest, ()))
        for band in _bands(marks):
            places.update(self._bands.get(band, ()))
        return (place for place in sorted(places) if are_near(self._marks[place], marks))


def _is_long(marks: Marks) -> bool:
    return marks.lengths[BODY] >= LEAST_TERMS


def _number(signature: bytes) -> int:
    return int.from_bytes(signature, "big")


def _bands(marks: Marks) -> list[tuple[int, int]]:
    if not marks.signature or not _is_long(marks):
        return []
    number = _number(marks.signature)
    return [(band, number >> (band * _BAND_BITS) & _MASK) for band in range(_BANDS)]
