"""Drafts of all callers on their way to their owners: they gather here until a package is full, or it is time.

The next package waits a short time after the last one left, the longer the more peers that one went to. A caller that
writes alone does not wait, and a crawl's records share signatures, messages, commits and syncs.

A record is written under the grant of the slot in which its author made it. A page belongs to the node that held the
lease of its slot when the page was fetched. If its site was spread meanwhile, or moves later, the page is signed for
the old place and lies at the new one. An import keeps the proof of its importer, too, wherever it moves.
"""

import asyncio
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from msgspec.structs import replace

from dht import Clock, Key, NodeId, Overlay, SignedGrant, SiteShards, placement_key, slot_of
from store.config import StoreConfig
from store.errors import NotGranted, NotImporter, TooFewCopies
from store.record.package import Signer, sign_package, url_in
from store.record.record import Draft, Kind, Record
from store.writing.admission import is_import
from store.writing.package_sender import gathering_s
from store.writing.ruling import needs_grant
from store.writing.write_right import WriteRight


class GrantedDraft(NamedTuple):
    """A draft with the grant that it is written under, None where it needs none, and the record where it is signed
    already."""

    draft: Draft
    grant: SignedGrant | None = None
    record: Record | None = None


class DraftProofs:
    """Finds for one node what proves the records that it writes and moves."""

    def __init__(self, overlay: Overlay, right: WriteRight, signer: Signer, places: SiteShards) -> None:
        self._overlay, self._right, self._signer, self._places = overlay, right, signer, places

    def granted(self, drafts: Sequence[Draft]) -> list[GrantedDraft]:
        """Return drafts, in order, with the grants that they are written under, whose epochs they have: of their slots,
        or of those in which their URLs lay before. Raises NotGranted, and NotImporter."""
        return list(map(self._granted, drafts))

    def _granted(self, draft: Draft) -> GrantedDraft:
        if is_import(draft):
            self.check_import_right()
        if not needs_grant(draft.kind, draft.epoch):
            return GrantedDraft(draft)
        if (grant := self._right.written_under(draft)) is not None:
            return _under(draft, grant)
        for key in self._former_keys(draft):
            if (grant := self._right.written_under(replace(draft, key=key))) is not None:
                found = _under(draft, grant)
                (signed,) = sign_package([replace(found.draft, key=key)], self._signer)
                return found._replace(record=_at(signed, draft.key))
        raise NotGranted(slot_of(draft.key, self._overlay.view.strategy.slot_bits))

    def check_import_right(self) -> None:
        """Raise NotImporter where nobody would take an import of this node's."""
        if flaw := self._right.import_flaw(self._signer.public_key):
            raise NotImporter(self._signer.public_key, flaw)

    def sign(self, drafts: Sequence[Draft]) -> list[Record]:
        """Return drafts as records of this node's, under one signature."""
        return sign_package(drafts, self._signer)

    async def keep_grants(self, grants: Iterable[SignedGrant | None]) -> None:
        """Keep what proves records before these are written. Raises MachineRefuses or StoreCorrupt."""
        await self._right.keep_grants(grants)

    def moved(self, record: Record, key: Key) -> GrantedDraft:
        """Return a record at another place of its site: it keeps its author's proof where it needs a grant, and is
        signed anew elsewhere."""
        epoch, at_ms, _ = record.version
        draft = Draft(record.kind, record.id, key, epoch, at_ms, record.expires_day, record.body, record.content or b"")
        if is_import(record):
            return GrantedDraft(draft, record=_at(record, key))
        if not needs_grant(record.kind, epoch):
            return GrantedDraft(draft)
        return GrantedDraft(draft, next(iter(self._right.named_by([record])), None), _at(record, key))

    def rekeyed(self, record: Record, key: Key) -> Record:
        """Return what `moved` does as a record."""
        moved = self.moved(record, key)
        return moved.record or sign_package([moved.draft], self._signer)[0]

    def _former_keys(self, draft: Draft) -> Iterator[Key]:
        """Where a record of this URL lay before, the place of one that was never spread last; a host's never moves."""
        if draft.kind == Kind.HOST:
            return
        url = url_in(draft.body)
        keys = (*self._places.keys_of(url), placement_key(url))
        yield from (key for key in dict.fromkeys(keys) if key != draft.key)


def _under(draft: Draft, grant: SignedGrant) -> GrantedDraft:
    return GrantedDraft(replace(draft, epoch=grant.grant.epoch), grant)


def _at(record: Record, key: Key) -> Record:
    """A record with its author's proof at another place of its site."""
    signed_key = record.signed_key if record.signed_key != key else b""
    return replace(record, key=key, proof=replace(record.proof, key=signed_key))


@dataclass(eq=False, slots=True)
class WriteTicket:
    """One caller's drafts: how many are not safe yet, and what went wrong. `is_patient`: the caller waits until a
    deadline for nodes that are silent."""

    left: int
    done: asyncio.Future[None]
    is_patient: bool = True
    error: TooFewCopies | None = None


@dataclass(eq=False, slots=True)
class PendingWrite:
    """One draft on its way. `record`: it as its author signed it, where that was before; `grant`: what it is written
    under, where it needs one."""

    draft: Draft
    ticket: WriteTicket
    since: float  # steady time
    size: int
    grant: SignedGrant | None = None
    record: Record | None = None
    copies: set[NodeId] = field(default_factory=set)
    asked: set[NodeId] = field(default_factory=set)  # to keep one for owners that do not answer
    refusal: str = ""  # why the last owner that refused it did
    is_settled: bool = False

    def settle(self, error: TooFewCopies | None = None) -> None:
        """Tell the caller, the first time only, that the draft is safe or (`error`) is not. Of several errors the
        caller gets that of the draft with the fewest copies."""
        if not self.is_settled:
            self.is_settled = True
            self.ticket.left -= 1
            if error and (self.ticket.error is None or error.copies < self.ticket.error.copies):
                self.ticket.error = error
            if (not self.ticket.left or error) and not self.ticket.done.done():
                self.ticket.done.set_result(None)


class DraftQueue:
    """Bounds what is under way, and gathers packages."""

    def __init__(self, config: StoreConfig, clock: Clock) -> None:
        self._config, self._clock = config, clock
        self._queue: deque[PendingWrite] = deque()
        self._queued_bytes = 0
        self._flying = 0  # packages under way
        self._left_at = float("-inf")  # when the last one left, steady time
        self._stir = asyncio.Event()  # something was queued or landed
        self._gathers = False  # what is queued waits for more, until it is time or full
        self._room = asyncio.Event()
        self.held_bytes = 0  # of drafts queued or under way
        self.peers = 0  # to which a package of late went

    async def put(self, drafts: Sequence[GrantedDraft], *, is_patient: bool) -> None:
        """Queue drafts, and return when all are settled. Raises TooFewCopies."""
        if not drafts:
            return
        while self.held_bytes > self._config.max_waiting_bytes:
            self._room.clear()
            await self._room.wait()
        done, since = asyncio.get_running_loop().create_future(), self._clock().steady
        ticket = WriteTicket(len(drafts), done, is_patient)
        for draft, grant, record in drafts:
            pending = PendingWrite(draft, ticket, since, _size(draft), grant, record)
            self._queue.append(pending)
            self._queued_bytes += pending.size
            self.held_bytes += pending.size
        if not self._gathers or self._is_full():
            self._stir.set()
        await ticket.done
        if ticket.error:
            raise ticket.error

    def begin(self) -> None:
        """Take note that no package is under way."""
        self._flying = 0

    async def take(self) -> list[PendingWrite]:
        """Return the next package as soon as there is one worth sending, and room to send it."""
        await self._until_worth_it()
        self._flying += 1
        self._left_at = self._clock().steady
        batch: list[PendingWrite] = []
        size = 0
        while self._queue and len(batch) < self._config.flush_records:
            if batch and size + self._queue[0].size > self._config.flush_bytes:
                break
            size += self._queue[0].size
            batch.append(self._queue.popleft())
        self._queued_bytes -= size
        return batch

    def landed(self) -> None:
        """Take note that a package is settled: the next one may leave."""
        self._flying -= 1
        self._stir.set()

    def forget(self, batch: Sequence[PendingWrite]) -> None:
        """Take note that a package is not needed in memory any more."""
        self.held_bytes -= sum(pending.size for pending in batch)
        self._room.set()

    async def _until_worth_it(self) -> None:
        """Wait for drafts, for room to send them, and for a package that is full where another left just now."""
        while not self._queue or self._flying >= self._config.max_flushes:
            self._stir.clear()
            await self._stir.wait()
        end = self._left_at + gathering_s(self._config.flush_after_s, self.peers)
        self._gathers = True
        try:
            while not self._is_full() and (left := end - self._clock().steady) > 0:
                self._stir.clear()
                async with asyncio.timeout(left):
                    await self._stir.wait()
        except TimeoutError:
            pass
        finally:
            self._gathers = False

    def _is_full(self) -> bool:
        return len(self._queue) >= self._config.flush_records or self._queued_bytes >= self._config.flush_bytes


def _size(draft: Draft) -> int:
    return len(draft.body) + len(draft.content) + 1024
