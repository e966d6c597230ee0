"""One conversation with one peer: what differs in some slots, and moving it.

The session itself is pure (`store/record/range_session.py`). This file moves its messages, and then the records in
batches. Records are fetched and checked like anything from a peer, or pushed with their authors' own proofs.
"""

import logging
from collections.abc import Awaitable, Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from secrets import token_bytes

from dht import Key, NodeId, Overlay, Slot, slot_of, slot_range, slot_start
from store.catalog.author_table import is_found
from store.catalog.catalog_reader import CatalogReader
from store.catalog.record_store import RecordStore
from store.config import StoreConfig
from store.errors import BadReplica
from store.record.messages import (
    MAX_WANTED,
    FetchRecords,
    FetchReply,
    PutPackage,
    PutReply,
    ReconcileReply,
    ReconcileStep,
    Wanted,
)
from store.record.package import open_package, pack, size_of
from store.record.range_reconciliation import END, FORM, ItemsBetween, RangeEntry, RangeItem, Ranges, item
from store.record.range_session import SALT_BYTES, RangeSession
from store.record.record import Record
from store.record.record_check import RecordCheck
from store.writing.admission import HostWriters, is_import
from store.writing.proof_thread import ProofThread
from store.writing.ruling import Ruling
from store.writing.write_right import WriteRight

log = logging.getLogger(__name__)
LEAST_BYTES_S = 64_000.0  # a share is no less, so that what is urgent ends at all
BURST_S = 1.0  # of the rate may pass at once: small slots need not wait
MAX_STEPS = 256  # exchanges in one session; a peer that goes on beyond is not answering
MAX_ITEMS = 20_000  # of ours in one session, so that building it never holds the event loop for long
MAX_STEP_ITEMS = 262_144  # of ours that one message of a peer may make us look at


Pacing = Callable[[int], Awaitable[None]]


async def unthrottled(moved_bytes: int) -> None:
    """Wait for nothing: what is repaired, and not handed over, is little and urgent."""


class Throttle:
    """Bounds the bytes a second of all sessions of one node together to `bytes_s`.

    Pure: `now` is steady time in seconds. The size of a message is known when it is there, so the pause comes after
    it."""

    def __init__(self, bytes_s: float) -> None:
        self._bytes_s = bytes_s
        self._free_at = float("-inf")

    def delay_s(self, now: float, moved_bytes: int, share: float = 1.0) -> float:
        """Return the seconds to wait after so many bytes were moved, 0.0 within the burst. `share`: the part of
        the rate that this transfer may take, LEAST_BYTES_S at least."""
        bytes_s = max(share * self._bytes_s, min(LEAST_BYTES_S, self._bytes_s))
        self._free_at = max(self._free_at, now - BURST_S) + moved_bytes / bytes_s
        return max(0.0, self._free_at - now)


@dataclass(frozen=True, slots=True)
class SyncResult:
    """Says how a conversation ended: which slots are now level with the peer, and how many records were moved."""

    level: frozenset[Slot]
    pulled: int
    pushed: int


class PeerSync:
    """Holds one node's conversations with its peers."""

    def __init__(
        self,
        overlay: Overlay,
        store: RecordStore,
        check: RecordCheck,
        proofs: ProofThread,
        host_writers: HostWriters,
        right: WriteRight,
    ) -> None:
        self._overlay, self._store, self._config = overlay, store, store.config
        self._check, self._proofs, self._host_writers, self._right = check, proofs, host_writers, right

    async def reconcile(
        self,
        peer: NodeId,
        slots: Sequence[Slot],
        slot_bits: int,
        *,
        pull: bool,
        push: Container[Slot],
        pacing: Pacing = unthrottled,
    ) -> SyncResult:
        """Compare slots (in order) with a peer and move what differs: from there with `pull`, to there in `push` slots.

        Level are the slots in which we now have everything (`pull`), or else the peer has. Only the first slots are
        handled where they hold much. `pacing` is waited for after each package, with its bytes. Raises RemoteError
        where the peer fails or lies.
        """
        today, slots = self._store.today, self._affordable(slots, slot_bits)
        session = await self._store.read_ranges(
            lambda catalog: RangeSession(
                _items_of(catalog, slots, slot_bits, today), spans(slots, slot_bits), fresh_salt(), pull=pull
            )
        )
        is_done = await self.compare(peer, session, today)
        owed = [e for e in session.owed if slot_of(e.key, slot_bits) in push]
        asked = frozenset(slots)  # a peer may answer with ranges, and so with records, of slots that are not ours
        wanted = [e for e in session.wanted if slot_of(e.key, slot_bits) in asked]
        behind = await self.fetch(peer, wanted, slot_bits, pacing)
        pushed = await self.push(peer, self._ours(owed), slot_bits, pacing)
        refused = {slot_of(e.key, slot_bits) for e in owed} if pushed is None else pushed
        if not is_done:
            return SyncResult(frozenset(), len(wanted), len(owed))
        return SyncResult(asked - (behind if pull else refused), len(wanted), len(owed))

    async def compare(self, peer: NodeId, session: RangeSession, today: int) -> bool:
        """Carry on a session with a peer, and return whether it came to its end. Raises RemoteError where the peer
        fails or lies."""
        asked = session.open()
        for _ in range(MAX_STEPS):
            if asked is None:
                break
            told = await self.ask_ranges(peer, asked, session.salt, today)
            asked = await self._follow(session, told)
        return asked is None and not session.is_full

    async def _follow(self, session: RangeSession, told: Ranges) -> Ranges | None:
        """Carry a session on away from the event loop: a peer may say much, and what is compared with it be more."""
        return await self._store.read_ranges(lambda _: session.receive(told))

    async def ask_ranges(self, peer: NodeId, asked: Ranges, salt: bytes, today: int) -> Ranges:
        """Send a peer one question of a session, and return its answer."""
        step = ReconcileStep(today, FORM, salt, asked)
        return (await self._overlay.ask(peer, step, ReconcileReply, timeout_s=self._config.put_timeout_s)).ranges

    async def fetch(
        self,
        peer: NodeId,
        entries: Sequence[RangeEntry],
        slot_bits: int,
        pacing: Pacing = unthrottled,
        *,
        is_kept: bool = True,
    ) -> set[Slot]:
        """Get records, keep those that prove themselves, and return the slots in which not everything came.

        A record that the peer no longer has is no loss: it was replaced or expired since. Where nothing `is_kept`, the
        peer only shows what it has, and it is a loss.
        """
        waiting, short = [Wanted(e.kind, e.id, e.key) for e in entries], set[Slot]()
        while waiting:
            part, waiting = waiting[:MAX_WANTED], waiting[MAX_WANTED:]
            reply = await self._overlay.ask(
                peer, FetchRecords(tuple(part), True), FetchReply, timeout_s=self._config.put_timeout_s
            )
            later = [part[n] for n in sorted(set(reply.later)) if 0 <= n < len(part)]
            if len(later) == len(part):
                raise BadReplica(f"answer of {peer.hex()}", "postpones everything")
            proved = await self.prove(peer, reply, part, content=True)
            proved = [r for r in proved if not self._host_writers.objection(r, by_owner=True)]
            proved = [r for r in proved if not (is_import(r) and self._store.knows(r))]  # it came and counted meanwhile
            rulings = await self._right.judge(peer, proved, reply.grants, counts=is_kept)
            records = [r for r, ruling in zip(proved, rulings, strict=True) if not ruling.reason]
            if not is_kept:
                given = {(r.kind, r.id) for r in records}
                short |= {slot_of(w.key, slot_bits) for w in part if w not in later and (w.kind, w.id) not in given}
                waiting = later + waiting
                continue
            await self._right.put(records, [ruling for ruling in rulings if not ruling.reason])
            short |= self._unproved(peer, proved, rulings, slot_bits)
            for record in records:
                if reason := self._store.refusals([record])[0]:
                    log.warning("replica not kept from=%s id=%s reason=%s", peer.hex(), record.id.hex(), reason)
                    short.add(slot_of(record.key, slot_bits))
            waiting = later + waiting
            await pacing(len(reply.package))
        return short

    async def push(
        self, peer: NodeId, records: Iterable[Record], slot_bits: int, pacing: Pacing = unthrottled
    ) -> set[Slot] | None:
        """Give a peer records, and return the slots in which it refused any.

        None where it took nothing of a whole batch, which ends the push: it is full, or takes no more for now."""
        refused = set[Slot]()
        for batch in batches(records, self._config):
            message = PutPackage(pack(batch), (), self._right.named_by(batch))
            reply = await self._overlay.ask(peer, message, PutReply, timeout_s=self._config.put_timeout_s)
            await pacing(len(message.package))
            if len(reply.refused) >= len(batch):
                return None
            refused |= {slot_of(batch[r.index].key, slot_bits) for r in reply.refused if r.index < len(batch)}
        return refused

    async def prove(self, peer: NodeId, reply: FetchReply, asked: Sequence[Wanted], *, content: bool) -> list[Record]:
        """Return the records of an answer as `checked` does, off the event loop where they are many. A
        record that says what none may is left out, and counted against its author."""
        job = partial(checked, peer, reply, asked, self._check, content=content)
        good, refused = await self._proofs.run(job, len(reply.package))
        for record in refused:
            self._check.refusals.count(record.proof.author, peer)
        return good

    async def write_flaw(self, peer: NodeId, want: Wanted) -> str:
        """Say why the record that a peer gives is one that its author had no right to write, "" where it may have had.
        Raises RemoteError where the peer fails."""
        asked = FetchRecords((want,), True)
        reply = await self._overlay.ask(peer, asked, FetchReply, timeout_s=self._config.put_timeout_s)
        records = await self.prove(peer, reply, [want], content=True)
        rulings = await self._right.judge(peer, records, reply.grants)
        return next((ruling.reason for ruling in rulings if ruling.reason and ruling.is_final), "")

    def may_lack(self, record: Record) -> bool:
        """Tell whether an owner may do without a record: each lets go of found URLs by itself, and takes no more of an
        author than its own room allows."""
        return is_found(record.kind, record.version.epoch) or self._right.budgets.is_beyond(record)

    def _unproved(
        self, peer: NodeId, records: Sequence[Record], rulings: Sequence[Ruling], slot_bits: int
    ) -> set[Slot]:
        """Count what nothing proves, and what is more than its author may import today, and return the slots of what
        may be proved later. A later comparison finds imports beyond the bound again; no slot waits for them."""
        refused = [(record, ruling) for record, ruling in zip(records, rulings, strict=True) if ruling.reason]
        for record, ruling in refused:
            if ruling.is_blamed:
                self._check.refusals.count(record.proof.author, peer)
        if refused:
            log.info("records not taken from=%s count=%d first=%s", peer.hex(), len(refused), refused[0][1].reason)
        return {slot_of(record.key, slot_bits) for record, ruling in refused if not ruling.is_blamed}

    def _ours(self, entries: Sequence[RangeEntry]) -> Iterable[Record]:
        return (r for e in entries if (r := self._store.find(e.kind, e.id)) is not None)

    def _affordable(self, slots: Sequence[Slot], slot_bits: int) -> list[Slot]:
        """Take so many of the slots, one at least, as hold no more than a session should compare."""
        chosen: list[Slot] = []
        total = 0
        for slot in slots:
            summary = self._store.summary(*slot_range(slot, slot_bits))
            total += summary.documents + summary.visits
            if chosen and total > MAX_ITEMS:
                break
            chosen.append(slot)
        return chosen


def items_between(catalog: CatalogReader, today: int) -> ItemsBetween:
    """Return a look-up of our items by place, for one message of a peer; it raises BadReplica when asked for too much.

    It belongs into `RecordStore.read_ranges`, since a range may hold very much.
    """
    looked_at = 0

    def between(first: bytes, end: bytes) -> Sequence[RangeItem]:
        nonlocal looked_at
        low, high = Key(first[:20].ljust(20, b"\0")), Key(end[:20].ljust(20, b"\0"))
        found = _items(catalog, low, high, today)
        looked_at += len(found)
        if looked_at > MAX_STEP_ITEMS:
            raise BadReplica("reconciliation", f"more than {MAX_STEP_ITEMS} records in one step; ask for fewer slots")
        return sorted((i for i in found if first <= i.entry.place < end), key=lambda i: i.entry.place)

    return between


def _items_of(catalog: CatalogReader, slots: Sequence[Slot], slot_bits: int, today: int) -> list[RangeItem]:
    return [i for s in slots for i in _items(catalog, *slot_range(s, slot_bits), today)]


def _items(catalog: CatalogReader, first: Key, last: Key, today: int) -> list[RangeItem]:
    return [item(r.kind, r.id, r.key, r.version) for r in catalog.rows(first, last) if r.expires_day > today]


def checked(
    peer: NodeId, reply: FetchReply, asked: Sequence[Wanted], check: RecordCheck, *, content: bool
) -> tuple[list[Record], list[Record]]:
    """Return the records of an answer that may be kept, and those whose authors signed something invalid. Raises
    BadReplica where any other was not asked for, does not prove itself, or lacks the content that `content` demands.
    Records that the strategy takes back are left out: the peer may not have that strategy yet."""
    records = open_package(reply.package)
    names = {(w.kind, w.id) for w in asked}
    good, refused = list[Record](), list[Record]()
    for record, flaw in zip(records, check.flaws(records), strict=True):
        if flaw.is_denied:
            continue
        reason = "" if flaw.is_authors else flaw.reason
        if not reason and (record.kind, record.id) not in names:
            reason = "was not asked for"
        if not reason and content and record.content is None:
            reason = "content withheld"
        if reason:
            raise BadReplica(f"record {record.id.hex()} from {peer.hex()}", reason)
        (refused if flaw.is_authors else good).append(record)
    return good, refused


def fresh_salt() -> bytes:
    """Return the salt of a new session, which nobody can foresee."""
    return token_bytes(SALT_BYTES)


def spans(slots: Sequence[Slot], slot_bits: int) -> list[tuple[bytes, bytes]]:
    """Return the parts of the key space that slots (in order) make up, as places."""
    last = (1 << slot_bits) - 1
    return [(slot_start(s, slot_bits), END if s == last else slot_start(Slot(s + 1), slot_bits)) for s in slots]


def batches(records: Iterable[Record], config: StoreConfig) -> Iterator[list[Record]]:
    """Divide records into packages of bounded count and bytes."""
    batch: list[Record] = []
    size = 0
    for record in records:
        if batch and (len(batch) >= config.flush_records or size + size_of(record) > config.flush_bytes):
            yield batch
            batch, size = [], 0
        batch.append(record)
        size += size_of(record)
    if batch:
        yield batch
