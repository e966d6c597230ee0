"""One record on its way to its owners, and the caller who waits for it."""

import asyncio
from dataclasses import dataclass, field

from dht import NodeId, RemoteError, SignedGrant
from store.record.record import Draft, Record


@dataclass(eq=False, slots=True)
class WriteTicket:
    """One caller's drafts: how many are not safe yet, and what went wrong."""

    left: int
    done: asyncio.Future[None]
    error: RemoteError | None = None


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
    terms: Record | None = None  # what travels beside it
    copies: set[NodeId] = field(default_factory=set)
    asked: set[NodeId] = field(default_factory=set)  # to keep one for owners that do not answer
    refusal: str = ""  # why the last owner that refused it did
    is_settled: bool = False

    def settle(self, error: RemoteError | None = None) -> None:
        """Tell the caller, the first time only, that the draft is safe or (`error`) is not."""
        if not self.is_settled:
            self.is_settled = True
            self.ticket.left -= 1
            self.ticket.error = self.ticket.error or error
            if (not self.ticket.left or error) and not self.ticket.done.done():
                self.ticket.done.set_result(None)
