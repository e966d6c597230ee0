"""Which pages say the same: by the digest of all that they say, or by signatures of their main texts.

Pure: values only. A signature is what the author of a document says of its text (`Text.signature`): enough to fold
pages of one host. Before a page of another host is folded, both signatures are computed anew from the signed texts.
Otherwise a fraud could copy the signature of a page that it imitates, and hide it.

Near copies whose titles differ in a number or in a word of the query are not folded. A reader asked for one of them,
and release notes are alike in all else.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from index.change_feed import Text
from index.shard.messages import HitRow
from index.text.field_terms import BODY, TITLE
from index.text.forward_index import Counts, ForwardRecord, content_digest

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
    """The values by which a page is compared: digest, signature as a number, the numbers in its title, and how often
    the title has each leaf of the query. The signature is None where the page is too short or has none."""

    digest: bytes
    signature: int | None
    titled: tuple[int, tuple[int, ...]]


def likeness(marks: Marks, tfs: Sequence[Counts]) -> Likeness:
    """Return what is compared of a page; `tfs`: occurrences of each leaf of the query by field."""
    is_long = marks.lengths[BODY] >= LEAST_TERMS
    titled = marks.title_numbers, tuple([counts[TITLE] for counts in tfs])
    return Likeness(marks.digest, _number(marks.signature) if is_long and marks.signature else None, titled)


def are_near(one: Likeness, other: Likeness) -> bool:
    """Tell whether two pages say the same, as far as their marks tell. Where they do not have all of their text in
    common, their main texts count, and titles must differ in no number and in no word of the query."""
    return one.digest == other.digest or (one.titled == other.titled and _agree(one.signature, other.signature))


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

    def add(self, hit: HitRow) -> None:
        """Add a page after those that were added before."""
        page, place = likeness(hit, hit.tfs), len(self._pages)
        self._pages.append(page)
        self._digests.setdefault(page.digest, []).append(place)
        for band in _bands(page):
            self._bands.setdefault(band, []).append(place)

    def near(self, hit: HitRow) -> Iterator[int]:
        """Yield the places of those that are near, in order."""
        page = likeness(hit, hit.tfs)
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
