"""The items that range reconciliation compares: the records of a node, each as an item with a place and a mark.

Pure: values in, values out. Items are ordered by place = key ‖ kind ‖ id. Two nodes compare ranges of places, and so
find out what each lacks of the same slots: `range_session.py` has both sides, `range_message.py` their messages.
Source: Meyer 2023, "Range-Based Set Reconciliation", sections 3 and 4.
"""

import struct
from bisect import bisect_left
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta

from dht import DocumentId, Key
from store.errors import BadReplica
from store.record.record import SHORT_BYTES, Kind, ShortVersion

PLACE_BYTES = 41
FORM = 1  # of marks and entries, told in each message: who counts otherwise is refused, not misunderstood
END = b"\xff" * (PLACE_BYTES + 1)  # after every place
_MARK = struct.Struct(">B20sQQ8s")


class RangeEntry(msgspec.Struct, frozen=True, array_like=True):
    """Names one version of a record, as the other side needs to know it."""

    place: Annotated[bytes, Meta(min_length=PLACE_BYTES, max_length=PLACE_BYTES)]
    epoch: Annotated[int, Meta(ge=0, lt=1 << 48)]
    at_ms: Annotated[int, Meta(ge=0, lt=1 << 48)]
    digest: Annotated[bytes, Meta(min_length=SHORT_BYTES, max_length=SHORT_BYTES)]

    @property
    def version(self) -> ShortVersion:
        """The version that it names."""
        return ShortVersion(self.epoch, self.at_ms, self.digest)

    @property
    def key(self) -> Key:
        """The first part of the place."""
        return Key(self.place[:20])

    @property
    def kind(self) -> Kind:
        """The second part of the place."""
        return Kind(self.place[20])

    @property
    def id(self) -> DocumentId:
        """The last part of the place."""
        return DocumentId(self.place[21:])


class RangeItem(NamedTuple):
    """One record of ours, with the mark that stands for it."""

    entry: RangeEntry
    mark: bytes


ItemsBetween = Callable[[bytes, bytes], Sequence[RangeItem]]
"""Our items from a place on up to another, in order of place."""


def mark(kind: int, id: bytes, version: ShortVersion) -> bytes:
    """Hash one version of one record to the 32 bytes that stand for it."""
    return sha256(_MARK.pack(kind, id, version.epoch, version.at_ms, version.digest)).digest()


def item(kind: Kind, id: DocumentId, key: Key, version: ShortVersion) -> RangeItem:
    """Make the item that stands for a record of ours in a session."""
    return RangeItem(RangeEntry(key + bytes([kind]) + id, *version), mark(kind, id, version))


def among(items: Sequence[RangeItem]) -> ItemsBetween:
    """Return a look-up in items that are sorted by place."""
    places = [i.entry.place for i in items]
    return lambda first, end: items[bisect_left(places, first) : bisect_left(places, end)]


def bound_between(place: bytes, next_place: bytes) -> bytes:
    """Return the shortest bound that parts two neighbours: greater than the one, not greater than the other."""
    differs_at = next(n for n, (one, two) in enumerate(zip(place, next_place, strict=True)) if one != two)
    return next_place[: differs_at + 1]


def check_entries(entries: Sequence[RangeEntry], first: bytes, end: bytes) -> None:
    """Raise BadReplica where entries are out of order, lie outside of their range or are of no kind."""
    before = b""
    for entry in entries:
        if entry.place <= before or not first <= entry.place < end:
            raise BadReplica("reconciliation", "an entry is out of order or out of its range")
        if not entry.place[20]:
            raise BadReplica("reconciliation", "an entry of kind 0; kinds begin with 1")
        before = entry.place
