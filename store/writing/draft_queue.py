"""Drafts of all callers on their way to their owners: they gather here until a package is full, or it is time.

The next package waits a short time after the last one left, the longer the more peers that one went to. A caller that
writes alone does not wait, and a crawl's records share signatures, messages, commits and syncs.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from dht import Clock, NodeId, SignedGrant
from store.config import StoreConfig
from store.errors import TooFewCopies
from store.record.record import Draft, Record
from store.writing.draft_proofs import GrantedDraft
from store.writing.peer_history import gathering_s


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
