"""Range-based set reconciliation: two nodes find out what each lacks of the same slots.

Pure: values in, values out. The asker opens with one range a slot; each side answers a range whose fingerprint
differs with finer fingerprints, or with the list of what it has there once that is short, until the asker knows what it
wants and what the peer lacks. The answering side keeps no state. Items are ordered by place = key ‖ kind ‖ id; a
fingerprint is SHA-256 over the marks of a range in that order, so it cannot be steered like a sum can. What is equal is
skipped: equal sets cost one exchange, a few differences among thousands two.
Source: Meyer 2023, "Range-Based Set Reconciliation", sections 3 and 4.
"""

import struct
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from hashlib import sha256
from itertools import pairwise
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta

from dht import DocumentId, Key
from store.errors import BadReplica
from store.record.record import SHORT_BYTES, Kind, ShortVersion

PLACE_BYTES = 41
FORM = 2  # of marks and entries, told in each message: who counts otherwise is refused, not misunderstood
MAX_RANGES = 4096  # in one message
MAX_ENTRIES = 8192  # in one message, about 500 KB
MAX_FOUND = 65_536  # differences that one session gathers; the rest is left to the next
# With 8 and 16, 20,000 records of which 20 differ take 24 kB and two exchanges; with 16 and 32 it was three times that.
BRANCH = 8  # a differing range is split into so many
LEAF = 16  # a range with at most so many items is listed; at least BRANCH, so that no part of a split is empty
END = b"\xff" * (PLACE_BYTES + 1)  # after every place
_MARK = struct.Struct(">B20sQQ8s")


class RangeMode(IntEnum):
    """What a range says; the number is on the wire."""

    SKIP = 0  # nothing more to say here
    FINGERPRINT = 1  # what I have here has this fingerprint
    LIST = 2  # what I have here is this


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


class Range(msgspec.Struct, frozen=True, array_like=True):
    """What one side says of the places from the end of the range before (or the beginning) up to `end`, exclusive."""

    end: Annotated[bytes, Meta(max_length=PLACE_BYTES + 1)]
    mode: RangeMode
    fingerprint: Annotated[bytes, Meta(max_length=32)] = b""
    entries: Annotated[tuple[RangeEntry, ...], Meta(max_length=MAX_ENTRIES)] = ()


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


def answer(between: ItemsBetween, ranges: Sequence[Range]) -> tuple[Range, ...]:
    """Return what the answering side says to a message. Raises BadReplica where the message is malformed."""
    reply = _Reply(len(ranges))
    for first, r in checked_ranges(ranges):
        if r.mode == RangeMode.SKIP:
            reply.skip(r.end)
        elif r.mode == RangeMode.FINGERPRINT:
            reply.compare(between(first, r.end), first, r)
        else:
            mine = between(first, r.end)
            same = [i.entry for i in mine] == list(r.entries)
            reply.skip(r.end) if same else reply.list(mine, r.end)
    return reply.ranges()


def listing(first: bytes, end: bytes) -> tuple[Range, ...]:
    """Return the message that asks what there is from a place up to another: a list of nothing, which the other side
    answers with its own."""
    return Range(first, RangeMode.SKIP), Range(end, RangeMode.LIST)


def listed(ranges: Sequence[Range], first: bytes, end: bytes) -> tuple[list[RangeEntry], bytes]:
    """Return what an answer to `listing` names, and the key before which that is all there is (or `end`). Raises
    BadReplica where it is malformed, or names too little to get on."""
    entries, upto = list[RangeEntry](), end
    for begin, r in checked_ranges(ranges):
        if r.mode == RangeMode.FINGERPRINT:
            upto = min(begin, end)
            break
        entries += r.entries
    entries = [e for e in entries if first <= e.place < upto]
    if upto == end:
        return entries, end
    whole = [e for e in entries if e.key < upto[:20]]  # the kinds of one key stay together
    if len(entries) < MAX_ENTRIES or not whole:
        raise BadReplica("reconciliation", f"a list of {len(entries)} entries that does not end")
    return whole, upto[:20]


class RangeSession:
    """The asking side of one reconciliation.

    Send `open()`, hand every answer to `receive` and send what it returns, until that is empty.

    `spans` are the disjoint parts of the key space to compare, (first, end) in order; `items` ours within them.
    Then `wanted` is newer or only there (nothing without `pull`), `owed` newer or only here.
    """

    def __init__(self, items: Iterable[RangeItem], spans: Sequence[tuple[bytes, bytes]], pull: bool = True) -> None:
        self._items = sorted(items, key=lambda i: i.entry.place)
        self._places = [i.entry.place for i in self._items]
        self._spans, self._pull = spans, pull
        self.wanted: list[RangeEntry] = []
        self.owed: list[RangeEntry] = []
        self.is_full = False  # more differences than one session gathers

    def open(self) -> tuple[Range, ...]:
        """Return the first message."""
        reply, before = _Reply(2 * len(self._spans)), b""
        for first, end in self._spans:
            if first > before:
                reply.skip(first)
            reply.say(self._fingerprint(first, end), end)
            before = end
        return reply.ranges()

    def receive(self, ranges: Sequence[Range]) -> tuple[Range, ...]:
        """Take in an answer and return what to send next, () when done. Raises BadReplica where it is malformed."""
        reply = _Reply(len(ranges))
        for first, r in checked_ranges(ranges):
            if r.mode == RangeMode.FINGERPRINT:
                reply.compare(self._between(first, r.end), first, r)
                continue
            if r.mode == RangeMode.LIST:
                self._learn(self._between(first, r.end), r.entries)
            reply.skip(r.end)
        self.is_full = max(len(self.wanted), len(self.owed)) > MAX_FOUND
        return () if self.is_full else reply.ranges()

    def _between(self, first: bytes, end: bytes) -> Sequence[RangeItem]:
        return self._items[bisect_left(self._places, first) : bisect_left(self._places, end)]

    def _fingerprint(self, first: bytes, end: bytes) -> bytes:
        return fingerprint_of(self._between(first, end))

    def _learn(self, mine: Sequence[RangeItem], theirs: Sequence[RangeEntry]) -> None:
        here = {i.entry.place: i.entry for i in mine}
        there = {e.place: e for e in theirs}
        if self._pull:
            self.wanted += [e for p, e in there.items() if p not in here or e.version > here[p].version]
        self.owed += [e for p, e in here.items() if p not in there or e.version > there[p].version]


class _Reply:
    """A message under construction: skips are merged, the bounds kept. `pending` ranges may still need one each."""

    def __init__(self, pending: int) -> None:
        self._ranges: list[Range] = []
        self._pending = pending
        self._entries = 0

    def ranges(self) -> tuple[Range, ...]:
        while self._ranges and self._ranges[-1].mode == RangeMode.SKIP:
            self._ranges.pop()
        return tuple(self._ranges)

    def skip(self, end: bytes) -> None:
        self._pending -= 1
        if self._ranges and self._ranges[-1].mode == RangeMode.SKIP:
            self._ranges.pop()
        self._ranges.append(Range(end, RangeMode.SKIP))

    def state(self, mine: Sequence[RangeItem], end: bytes) -> None:
        self.say(fingerprint_of(mine), end)

    def say(self, fingerprint: bytes, end: bytes) -> None:
        self._pending -= 1
        self._ranges.append(Range(end, RangeMode.FINGERPRINT, fingerprint))

    def compare(self, mine: Sequence[RangeItem], first: bytes, theirs: Range) -> None:
        """Answer a fingerprint: skip, list or split."""
        if fingerprint_of(mine) == theirs.fingerprint:
            self.skip(theirs.end)
        elif len(mine) <= LEAF:
            self.list(mine, theirs.end)
        elif len(self._ranges) + BRANCH + self._pending > MAX_RANGES:
            self.state(mine, theirs.end)  # no room left: say it again, what came before is settled by then
        else:
            self._split(mine, theirs.end)

    def list(self, mine: Sequence[RangeItem], end: bytes) -> None:
        """Say all that there is here; beyond the bound, the rest by its fingerprint."""
        room = MAX_ENTRIES - self._entries
        if len(mine) > room and (room == 0 or len(self._ranges) + 1 + self._pending > MAX_RANGES):
            self.state(mine, end)
            return
        listed, rest = mine[:room], mine[room:]
        self._entries += len(listed)
        upto = rest[0].entry.place if rest else end
        self._ranges.append(Range(upto, RangeMode.LIST, entries=tuple(i.entry for i in listed)))
        self._pending -= 1
        if rest:
            self._pending += 1
            self.state(rest, end)

    def _split(self, mine: Sequence[RangeItem], end: bytes) -> None:
        self._pending -= 1
        bounds = [len(mine) * n // BRANCH for n in range(BRANCH + 1)]
        for low, high in pairwise(bounds):
            upto = end if high == len(mine) else bound_between(mine[high - 1].entry.place, mine[high].entry.place)
            self._ranges.append(Range(upto, RangeMode.FINGERPRINT, fingerprint_of(mine[low:high])))


def bound_between(place: bytes, next_place: bytes) -> bytes:
    """Return the shortest bound that parts two neighbours: greater than the one, not greater than the other."""
    differs_at = next(n for n, (one, two) in enumerate(zip(place, next_place, strict=True)) if one != two)
    return next_place[: differs_at + 1]


def fingerprint_of(items: Sequence[RangeItem]) -> bytes:
    """Hash the marks of items, in order, to the 32 bytes that stand for all of them."""
    return sha256(b"".join([i.mark for i in items])).digest()


def checked_ranges(ranges: Sequence[Range]) -> Iterable[tuple[bytes, Range]]:
    """Return each range with its beginning; raises BadReplica where order or bounds are broken."""
    first = b""
    if len(ranges) > MAX_RANGES:
        raise BadReplica("reconciliation", f"{len(ranges)} ranges, {MAX_RANGES} allowed")
    for r in ranges:
        if r.end <= first:
            raise BadReplica("reconciliation", "ranges are out of order")
        check_entries(r.entries, first, r.end)
        yield first, r
        first = r.end


def check_entries(entries: Sequence[RangeEntry], first: bytes, end: bytes) -> None:
    """Raise BadReplica where entries are out of order, lie outside of their range or are of no kind."""
    before = b""
    for entry in entries:
        if entry.place <= before or not first <= entry.place < end:
            raise BadReplica("reconciliation", "an entry is out of order or out of its range")
        if not entry.place[20]:
            raise BadReplica("reconciliation", "an entry of kind 0; kinds begin with 1")
        before = entry.place
