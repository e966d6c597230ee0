"""The ruling on one record: whether it is taken, under which grant, or why it is refused."""

from typing import NamedTuple

from dht import SignedGrant
from store.record.record import Kind
from store.writing.admission import TOO_MUCH
from store.writing.author_budgets import REASONS

TOO_MUCHES = (TOO_MUCH, *REASONS)  # its author's limits: the sender tries again later
WITHOUT = "nothing proves that its author held the slot's lease"
UNKNOWN = "its grant is signed by too few candidates of the slot, and nobody who is ready for it has the record"
ERASES = "it would erase older versions, and most owners of its slot have not signed its grant"
LATER = "too few candidates of the slot signed its grant, and others cannot be asked now; send it again later"


class Ruling(NamedTuple):
    """Says why a record is not taken, "" where it is, then by which grant, if it needs one. `is_final`: asking again
    later would change nothing."""

    reason: str = ""
    grant: SignedGrant | None = None
    is_final: bool = True

    @property
    def is_blamed(self) -> bool:
        """Whether its author is at fault: a refusal that is counted."""
        return bool(self.reason) and (self.is_final or self.reason in TOO_MUCHES)


def needs_grant(kind: Kind, epoch: int) -> bool:
    """Tell whether a version must prove its lease. A found URL and an import, which have epoch 0, need not. A FORMER
    needs the grant of the page in it."""
    return epoch > 0 and kind in (Kind.DOCUMENT, Kind.VISIT, Kind.HOST, Kind.FORMER)
