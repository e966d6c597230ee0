"""Reads again all that lies on the disk, so that damage is found while other owners still have the record.

Every frame of every segment is read and checked, dead ones, too. Each live record is looked up in the index, which must
lead to it. A record that does not fit is in doubt as if a reader had met it: it is judged, dropped and fetched from
other owners. A segment in which bytes are damaged is rewritten once its records are judged, so that nothing damaged
stays.

The next bytes are due evenly over a period, gently, and never faster than a bound: `now` is Unix time. A pass reads
every segment once, the oldest first, and what is written meanwhile, too. When its period is over and all is read the
next one begins. A pass that was asked for reads at the bound all that lies here, and spreads what is written later over
the rest of its period.
"""

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import NamedTuple

import msgspec

from store.catalog.catalog_reader import CatalogReader
from store.catalog.ledger import Ledger
from store.catalog.record_reader import MOST, UnreadableRecords
from store.catalog.recovery import rows_of
from store.catalog.row_table import CatalogRow
from store.catalog.store_upkeep import Compaction
from store.segments.frame import Frame
from store.segments.segments import MAGIC, Segments

DAY_S = 86_400
SHORTEST_S, SPREAD_S = 25 * DAY_S, 10 * DAY_S  # of a pass: errors that nobody reads turn up within about a month
STEP_BYTES = 1 << 19  # read at once: some 10 ms of a thread that nobody waits for, 30 where all are visits
MOST_BYTES_S = 2 << 20  # a node that was away for long catches up with 20 GiB in three hours
LONGEST_REST_S, SHORTEST_REST_S = 600.0, STEP_BYTES / MOST_BYTES_S


class ScrubPass(msgspec.Struct, frozen=True, array_like=True):
    """Says how far a pass is; it is kept in the index, so that a restart goes on where it was."""

    begun_at: float
    segment: int = 0  # all before this segment and offset is read
    offset: int = 0
    read_bytes: int = 0
    found: int = 0  # records that turned out damaged
    ended_at: float = 0.0  # when the pass before ended, 0.0 where there was none
    found_before: int = 0  # by it
    read_records: int = 0  # former versions included
    asked_at: float = 0.0  # when an operator asked for this pass, 0.0 where its turn had come
    read_at: float = 0.0  # when a pass that was asked for had read everything, 0.0 before

    @property
    def hurries(self) -> bool:
        """Whether it was asked for and has not read everything yet."""
        return self.asked_at > 0.0 and not self.read_at


def period_of(node_id: bytes) -> float:
    """Return the seconds that a node's passes take: 25 to 35 days, depending on its id. So the owners of a slot do not
    read the same records in the same hours for ever."""
    return SHORTEST_S + SPREAD_S * int.from_bytes(node_id[:4], "big") / 2**32


def rest_s(state: ScrubPass, left_bytes: int, period_s: float, now: float) -> float:
    """Return in how many seconds the next step is due, 0.0 for now."""
    if state.hurries and left_bytes:
        return 0.0
    elapsed = min(1.0, max(0.0, (now - state.begun_at) / period_s))
    whole = state.read_bytes + left_bytes
    if left_bytes and (elapsed >= 1.0 or state.read_bytes < whole * elapsed):
        return 0.0
    due_at = state.begun_at + period_s * (state.read_bytes / whole if left_bytes else 1.0)
    return min(LONGEST_REST_S, max(SHORTEST_REST_S, due_at - now))


def is_over(state: ScrubPass, left_bytes: int, period_s: float, now: float) -> bool:
    """Tell whether a pass has read everything and its period is over."""
    return not left_bytes and now >= state.begun_at + period_s


def asked_pass(state: ScrubPass, now: float) -> ScrubPass:
    """Return the pass to go on with after an operator asked for one: a new one, unless such a pass is under way."""
    if state.hurries:
        return state
    return ScrubPass(now, ended_at=state.ended_at, found_before=state.found_before, asked_at=now)


def next_pass(state: ScrubPass, now: float) -> ScrubPass:
    """Return the pass that follows one."""
    return ScrubPass(now, ended_at=now, found_before=state.found)


NOTE = "scrub"  # in the index
_pass = msgspec.msgpack.Decoder(ScrubPass)


class ScrubStatus(NamedTuple):
    """Says how far the scrub is and what was damaged. `share`: of what lies here; times are Unix seconds."""

    begun_at: float
    share: float
    ended_at: float  # of the pass before, 0.0 where there was none
    found: int  # damaged records in this pass
    found_before: int
    lost: int  # records that turned out damaged since the start, whoever met them
    healed: int  # those of them that came back from other owners
    read_records: int  # in this pass, former versions included
    asked_at: float  # when an operator asked for this pass, 0.0 where nobody did
    read_at: float  # when a pass that was asked for had read everything, 0.0 before
    damaged: int  # records that turned out damaged since this pass was asked for, or since the start if that was later
    came_back: int  # those of them that came back from other owners
    open: int  # records in doubt, or waiting for other owners


class ScrubFinding(NamedTuple):
    """The findings of reading a part of a segment."""

    end: int  # up to here it was read
    damaged_bytes: int
    record_count: int
    doubted: list[CatalogRow]


class Scrub:
    """Reads one store through, step by step; `step` belongs to the event loop."""

    def __init__(
        self,
        ledger: Ledger,
        compaction: Compaction,
        unreadable: UnreadableRecords,
        read: Callable[[Callable[[CatalogReader], ScrubFinding]], Awaitable[ScrubFinding]],
        write: Callable[[Callable[[], None]], Awaitable[None]],
    ) -> None:
        """`read` runs a job in a thread that reads, `write` one in the thread that writes."""
        self._ledger, self._compaction, self._unreadable = ledger, compaction, unreadable
        self._read, self._write = read, write
        note = ledger.catalog.note(NOTE)
        self._pass = _pass.decode(note) if isinstance(note, bytes) else ScrubPass(0.0)
        self._lost_before = self._healed_before = 0  # when a pass was asked for

    def ask(self, now: float) -> bool:
        """Have everything read at once, at the bound; return False where that goes on already. A restart forgets a pass
        of which nothing was read yet."""
        if self._pass.hurries:
            return False
        self._pass = asked_pass(self._pass, now)
        self._lost_before, self._healed_before = self._unreadable.lost_count, self._unreadable.healed_count
        return True

    async def step(self, period_s: float, now: float) -> float:
        """Read some more where that is due and return the seconds to rest. Raises MachineRefuses or StoreCorrupt."""
        left = self._left_bytes()
        state = self._pass
        if not state.begun_at or now < state.begun_at:  # a clock that was set back starts no race
            state = msgspec.structs.replace(state, begun_at=now)
        if is_over(state, left, period_s, now):
            state = next_pass(state, now)
            self._pass, left = state, self._left_bytes()
        if state.hurries and not left:
            state = msgspec.structs.replace(state, read_at=now)
        self._pass = state
        if len(self._unreadable) > MOST // 2:
            return SHORTEST_REST_S  # what was found is judged first
        if rest := rest_s(state, left, period_s, now):
            return rest
        await self._inspect(now)
        return max(SHORTEST_REST_S, rest_s(self._pass, self._left_bytes(), period_s, now))

    def status(self) -> ScrubStatus:
        """Return how far the scrub is."""
        state, left = self._pass, self._left_bytes()
        share = state.read_bytes / max(1, state.read_bytes + left)
        lost, healed = self._unreadable.lost_count, self._unreadable.healed_count
        return ScrubStatus(
            state.begun_at, share, state.ended_at, state.found, state.found_before, lost, healed,
            state.read_records, state.asked_at, state.read_at,
            lost - self._lost_before, healed - self._healed_before, len(self._unreadable),
        )  # fmt: skip

    def _left_bytes(self) -> int:
        segments, state = self._ledger.segments, self._pass
        ahead = [n for n in segments.numbers if n >= state.segment]
        whole = sum(end_of(segments, n) for n in ahead)
        return max(0, whole - (state.offset if ahead and ahead[0] == state.segment else 0))

    async def _inspect(self, now: float) -> None:
        segments, state = self._ledger.segments, self._pass
        segment, offset = state.segment, state.offset
        if segment not in segments.numbers or offset >= end_of(segments, segment):
            segment, offset = min((n for n in segments.numbers if n > segment), default=0), 0
        if not segment:
            return
        found = await self._read(lambda catalog: inspect(segments, catalog, segment, offset))
        if state is not self._pass:
            return  # another pass was asked for meanwhile, which reads this again
        self._pass = done = msgspec.structs.replace(
            state,
            segment=segment,
            offset=found.end,
            read_bytes=state.read_bytes + found.end - offset,
            found=state.found + len(found.doubted),
            read_records=state.read_records + found.record_count,
        )
        if done.hurries and not self._left_bytes():
            self._pass = done = msgspec.structs.replace(done, read_at=now)
        self._unreadable.doubt(found.doubted)
        await self._write(lambda: self._note(done, segment if found.damaged_bytes else 0))

    def _note(self, state: ScrubPass, damaged_segment: int) -> None:
        if damaged_segment:
            self._compaction.renew(damaged_segment)
        with self._ledger.catalog.transaction():
            self._ledger.catalog.write_note(NOTE, msgspec.msgpack.encode(state))


def end_of(segments: Segments, segment: int) -> int:
    """Return where a segment ends; what a refused write left behind the newest one is no part of it."""
    return segments.end if segment == segments.newest else segments.size(segment)


def inspect(segments: Segments, catalog: CatalogReader, segment: int, offset: int) -> ScrubFinding:
    """Read frames of a segment from an offset on, STEP_BYTES or some more, and compare them with the index."""
    end = stop = end_of(segments, segment)
    held: list[CatalogRow] = []
    sound = max(offset, len(MAGIC)) - offset
    for frame in segments.frames(segment, offset):
        if frame.place.offset >= stop:
            break
        sound += frame.place.end - frame.place.offset
        held += _held(frame)
        if frame.place.end - offset >= STEP_BYTES:
            end = frame.place.end
            break
    doubted = _misled(catalog, segment, offset, end, held)
    return ScrubFinding(end, max(0, end - offset - sound), len(held), doubted)


def _held(frame: Frame) -> list[CatalogRow]:
    try:
        return rows_of(frame)
    except ValueError:
        return []  # whatever leads there is misled


def _misled(catalog: CatalogReader, segment: int, first: int, end: int, held: list[CatalogRow]) -> list[CatalogRow]:
    """Return the rows of the index that lead into a part of a segment and not to what lies there."""
    there = {row[:6] for row in held}
    found = catalog.named([(row.kind, row.id) for row in held])
    led = Counter(row.frame for row in found if row is not None and row[:6] in there)
    short = [frame for frame, live in catalog.frames(segment, first, end) if led[frame] < live]
    return [row for row in catalog.of_frames(short) if row[:6] not in there] if short else []
