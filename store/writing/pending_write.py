"""One record on its way to its owners, and the caller who waits for it."""

import asyncio
from dataclasses import dataclass, field

from dht import NodeId, SignedGrant
from store.errors import TooFewCopies
from store.record.record import Draft, Record


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
