"""Range-based set reconciliation: two nodes find out what each lacks of the same slots.

Pure: values in, values out. The asker opens with one fingerprint a slot. A range that differs is split into about as
many parts as each then has items, so that two splits reach parts of some dozens among a million. Of such a part the
asker names what it has by marks of five bytes. The answerer says what it has besides, and which of them it lacks. The
answering side keeps no state. Equal sets cost one exchange.

Fingerprints and marks are hashed with the asker's salt, which nobody knows before the session, so that nobody can
choose records that look alike. A part that differs looks equal by chance with a probability of 2**-64. One record looks
like one of the n that the other side has in its part with n * 2**-40. The next session's salt shows the difference.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from hashlib import sha256
from itertools import pairwise
from math import isqrt

from store.errors import BadReplica
from store.record.range_reconciliation import (
    FINGERPRINT_BYTES,
    MARK_BYTES,
    MAX_ENTRIES,
    MAX_MARKS,
    MAX_PARTS,
    ItemsBetween,
    RangeEntry,
    RangeItem,
    RangeMode,
    Ranges,
    SaidPart,
    bound_between,
    chunks,
    decode_parts,
    encode_parts,
    merged,
)

SALT_BYTES = 16
MAX_FOUND = 65_536  # differences that one session gathers; the rest is left to the next
MAX_ASKED = 16_384  # of them in a question, so that its answer has room for as many again
MAX_SKIPS = 4096  # in a question: what lies between two is read at once
MAX_LATER = 131_072  # parts that one session keeps for later messages; the rest is left to the next session.
# With 16, 24, 32 and 48 items, 100,000 records of which 100 differ take 41, 41, 42 and 45 kB and three exchanges. With
# 32 a million records of which a thousand differ make fewer than MAX_ASKED parts, so they take three exchanges, too.
PART = 32  # items of a part, once parts need no other split
NAMED = 96  # a part with at most so many items is named by marks: less than one more exchange is worth
LISTED = 8  # with at most so many it is listed, in as many bytes as NAMED marks take


def answer(between: ItemsBetween, asked: Ranges, salt: bytes) -> Ranges:
    """Return what the answering side says to a question. Raises BadReplica where it is malformed."""
    parts = list(decode_parts(asked))
    if sum([part.mode == RangeMode.SKIP for _, part in parts]) > MAX_SKIPS:
        raise BadReplica("reconciliation", f"more than {MAX_SKIPS} gaps in a question")
    reply = _Answer(len(parts))
    for run in _runs(parts):
        if run[0][1].mode == RangeMode.SKIP:
            reply.skip(run[0][1].end)
            continue
        mine = _Held(between(run[0][0], run[-1][1].end), salt)
        for first, part in run:
            reply.part(mine, *mine.cut(first, part.end), part)
    return encode_parts(reply.parts)


def listing(first: bytes, end: bytes, salt: bytes) -> Ranges:
    """Return the question what there is from a place up to another: of an asker that has nothing there."""
    nothing = _Held((), salt).fingerprint(0, 0)
    return encode_parts([SaidPart(first, RangeMode.SKIP), SaidPart(end, RangeMode.FINGERPRINT, nothing)])


def listed(told: Ranges, first: bytes, end: bytes) -> tuple[list[RangeEntry], bytes]:
    """Return what an answer to `listing` names, and the key before which that is all there is (or `end`). Raises
    BadReplica where it is malformed, or names too little to get on."""
    entries, upto = list[RangeEntry](), end
    for begin, part in decode_parts(told):
        if part.mode == RangeMode.FINGERPRINT:
            upto = min(begin, end)
            break
        entries += part.entries
    entries = [e for e in entries if first <= e.place < upto]
    if upto == end:
        return entries, end
    whole = [e for e in entries if e.key < upto[:20]]  # the kinds of one key stay together
    if len(entries) < MAX_ENTRIES or not whole:
        raise BadReplica("reconciliation", f"a list of {len(entries)} entries that does not end")
    return whole, upto[:20]


class RangeSession:
    """The asking side of one reconciliation.

    Send `open()`, hand every answer to `receive` and send what it returns, until that is None.

    `spans` are the disjoint parts of the key space to compare, (first, end) in order; `items` ours within them.
    Then `wanted` is newer or only there (nothing without `pull`), `owed` newer or only here.
    """

    def __init__(
        self, items: Iterable[RangeItem], spans: Sequence[tuple[bytes, bytes]], salt: bytes, pull: bool = True
    ) -> None:
        """`salt`: SALT_BYTES that nobody could know before."""
        self._items = sorted(items, key=lambda i: i.entry.place)
        self.salt, self._mine = salt, _Held(self._items, salt)
        self._spans, self._pull = spans, pull
        self.wanted: list[RangeEntry] = []
        self.owed: list[RangeEntry] = []
        self.is_full = False  # more differences than one session gathers
        self._asked = b""  # up to here the peer may answer
        self._later: list[SaidPart] = []  # what no message had room for yet, from there on

    def open(self) -> Ranges | None:
        """Return the first question, None where there is nothing to compare."""
        before = b""
        for first, end in self._spans:
            if first > before:
                self._later.append(SaidPart(first, RangeMode.SKIP))
            fingerprint = self._mine.fingerprint(*self._mine.cut(first, end))
            self._later.append(SaidPart(end, RangeMode.FINGERPRINT, fingerprint))
            before = end
        return self._next()

    def receive(self, answer: Ranges) -> Ranges | None:
        """Take in an answer and return what to ask next, None when done. Raises BadReplica where it is malformed."""
        told: list[SaidPart] = []
        for first, part in decode_parts(answer):
            if part.end > self._asked:
                raise BadReplica("reconciliation", "an answer to more than was asked")
            told += self._follow(first, part)
        if self._later and (not told or told[-1].end < self._asked):
            told.append(SaidPart(self._asked, RangeMode.SKIP))
        self._later = told + self._later
        self.is_full = max(len(self.wanted), len(self.owed)) > MAX_FOUND or len(self._later) > MAX_LATER
        return None if self.is_full else self._next()

    def _learn(self, mine: Sequence[RangeItem], theirs: Sequence[RangeEntry]) -> None:
        here = {i.entry.place: i.entry for i in mine}
        there = {e.place: e for e in theirs}
        if self._pull:
            self.wanted += [e for p, e in there.items() if p not in here or e.version > here[p].version]
        self.owed += [e for p, e in here.items() if p not in there or e.version > there[p].version]

    def _follow(self, first: bytes, part: SaidPart) -> list[SaidPart]:
        """Return what to say next of a part, having learned what its answer says."""
        low, high = self._mine.cut(first, part.end)
        match part.mode:
            case RangeMode.FINGERPRINT if self._mine.fingerprint(low, high) != part.said:
                if high - low > NAMED:
                    return self._mine.split(low, high, part.end)
                return [SaidPart(part.end, RangeMode.MARKS, b"".join(self._mine.marks(low, high)))]
            case RangeMode.MARKS:
                raise BadReplica("reconciliation", "an answer that names records by marks")
            case RangeMode.LIST:
                self._learn(self._items[low:high], part.entries)
            case RangeMode.BESIDES:
                lacked = set(chunks(part.said, MARK_BYTES))
                at = zip(self._items[low:high], self._mine.marks(low, high), strict=True)
                self._learn([i for i, mark in at if mark in lacked], part.entries)
        return [SaidPart(part.end, RangeMode.SKIP)]

    def _next(self) -> Ranges | None:
        """Take off what waits as much as one question holds."""
        waiting = merged(self._later)
        room, skips, marks = 0, MAX_SKIPS, MAX_MARKS * MARK_BYTES
        for part in waiting[:MAX_ASKED]:
            skips -= part.mode == RangeMode.SKIP
            marks -= len(part.said) if part.mode == RangeMode.MARKS else 0
            if room and (skips < 0 or marks < 0):
                break
            room += 1
        asked, self._later = waiting[:room], waiting[room:]
        if not asked:
            return None
        self._asked = asked[-1].end
        return encode_parts(asked)


class _Held:
    """Sorted items of ours, and what is said of those from one index up to another."""

    def __init__(self, items: Sequence[RangeItem], salt: bytes) -> None:
        self.items, self._salt, self._begun = items, salt, sha256(salt)
        self._joined = memoryview(b"".join([i.mark for i in items]))

    @cached_property
    def _places(self) -> Sequence[bytes]:
        return [i.entry.place for i in self.items]

    def cut(self, first: bytes, end: bytes) -> tuple[int, int]:
        low = bisect_left(self._places, first)
        return low, bisect_left(self._places, end, low)

    def fingerprint(self, low: int, high: int) -> bytes:
        hashed = self._begun.copy()
        hashed.update(self._joined[low * 32 : high * 32])
        return hashed.digest()[:FINGERPRINT_BYTES]

    def marks(self, low: int, high: int) -> list[bytes]:
        return [sha256(self._salt + i.mark).digest()[:MARK_BYTES] for i in self.items[low:high]]

    def split(self, low: int, high: int, end: bytes) -> list[SaidPart]:
        """Say the fingerprints of the parts of a range."""
        count = parts_of(high - low)
        inner = [self._bound(low + (high - low) * n // count) for n in range(1, count)]
        parts = []
        for one, two in pairwise([low, *inner, high]):
            upto = end if two == high else bound_between(self._place(two - 1), self._place(two))
            parts.append(SaidPart(upto, RangeMode.FINGERPRINT, self.fingerprint(one, two)))
        return parts

    def _bound(self, at: int) -> int:
        """Move on a bound of a part past records of one key, which only a long one parts."""
        return next((n for n in (at, at + 1) if self._place(n - 1)[:20] != self._place(n)[:20]), at)

    def _place(self, at: int) -> bytes:
        return self.items[at].entry.place


class _Answer:
    """An answer under construction, whose bounds are kept. `pending`: parts that may still need one each."""

    def __init__(self, pending: int) -> None:
        self.parts: list[SaidPart] = []
        self._pending = pending
        self._entries = 0

    def skip(self, end: bytes) -> None:
        self._pending -= 1
        self.parts.append(SaidPart(end, RangeMode.SKIP))

    def part(self, mine: _Held, low: int, high: int, theirs: SaidPart) -> None:
        """Answer a part of a question."""
        if theirs.mode == RangeMode.MARKS:
            self._besides(mine, low, high, theirs)
        elif theirs.mode != RangeMode.FINGERPRINT:
            raise BadReplica("reconciliation", "a question that lists records")
        elif mine.fingerprint(low, high) == theirs.said:
            self.skip(theirs.end)
        else:
            self._tell(mine, low, high, theirs.end, is_missing=theirs.said == mine.fingerprint(0, 0))

    def _tell(self, mine: _Held, low: int, high: int, end: bytes, *, is_missing: bool) -> None:
        """Answer what differs: list, split or, for the other side to name or split, say it all. `is_missing`: the other
        side has nothing there."""
        if high - low <= LISTED or is_missing:
            self._give(mine, range(low, high), (low, high), SaidPart(end, RangeMode.LIST))
        elif high - low <= NAMED or parts_of(high - low) > self._room():
            self._state(mine, low, high, end)
        else:
            self._pending -= 1
            self.parts += mine.split(low, high, end)

    def _besides(self, mine: _Held, low: int, high: int, theirs: SaidPart) -> None:
        """Answer marks: say what there is here besides, and which of them are not here."""
        here, there = mine.marks(low, high), chunks(theirs.said, MARK_BYTES)
        known, held = set(there), set(here)
        lacked = [mark for mark in there if mark not in held]
        more = [n for n, mark in enumerate(here, low) if mark not in known]
        if lacked or more:
            self._give(mine, more, (low, high), SaidPart(theirs.end, RangeMode.BESIDES, b"".join(lacked)))
        else:
            self.skip(theirs.end)

    def _give(self, mine: _Held, chosen: Sequence[int], among: tuple[int, int], part: SaidPart) -> None:
        """Say those items; beyond the bound, the rest by its fingerprint."""
        room = MAX_ENTRIES - self._entries
        listed, rest = chosen[:room], chosen[room:]
        if rest and (not room or self._room() < 2):
            self._state(mine, *among, part.end)
            return
        self._entries += len(listed)
        upto = mine.items[rest[0]].entry.place if rest else part.end
        self.parts.append(part._replace(end=upto, entries=tuple([mine.items[n].entry for n in listed])))
        self._pending -= 1
        if rest:
            self._pending += 1
            self._state(mine, rest[0], among[1], part.end)

    def _state(self, mine: _Held, low: int, high: int, end: bytes) -> None:
        self._pending -= 1
        self.parts.append(SaidPart(end, RangeMode.FINGERPRINT, mine.fingerprint(low, high)))

    def _room(self) -> int:
        """How many parts the one that is answered may become."""
        return MAX_PARTS - len(self.parts) - self._pending + 1


def parts_of(count: int) -> int:
    """Return the number of parts into which `count` items are split: twice the root, so that two splits are as fine as
    one of all would be. There are at least 2 parts, at most one for each PART items, and at most MAX_PARTS / 4."""
    return max(2, min(-(-count // PART), 2 * isqrt(count), MAX_PARTS // 4))


def _runs(parts: Sequence[tuple[bytes, SaidPart]]) -> Iterator[list[tuple[bytes, SaidPart]]]:
    """Take together what is read at once: parts between which nothing is skipped, and each skip for itself."""
    run: list[tuple[bytes, SaidPart]] = []
    for each in parts:
        if run and RangeMode.SKIP in (each[1].mode, run[-1][1].mode):
            yield run
            run = []
        run.append(each)
    if run:
        yield run
