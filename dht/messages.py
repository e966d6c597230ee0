"""The messages that the overlay itself sends over the channel; the other packages define their own.

Pure: values only. Every list is bounded here, so that a longer one is refused before it is decoded.
"""

from typing import Annotated

from msgspec import Meta

from dht.overlay import Message

MAX_CLAIMS = 4096  # in one message; the rest waits for the next round
MAX_CHAIN = 64  # versions in one answer
MAX_RELEASES = 1 << 16  # every slot there can be
MAX_MOVE_S = 3600  # the longest that a move is believed; whoever holds the slot by then may ask for more

_Id = Annotated[bytes, Meta(max_length=20)]


Heir = tuple[Annotated[int, Meta(ge=0, lt=MAX_RELEASES)], _Id, Annotated[int, Meta(ge=0, le=MAX_MOVE_S)]]


class Done(Message, frozen=True):
    """The answer of those who only acknowledge."""


class GetStrategy(Message, frozen=True):
    """Ask for the accepted versions from one on, oldest first."""

    from_version: int


class StrategyChain(Message, frozen=True):
    """Signed strategies as `strategy.encode_signed` writes them; empty: we have nothing from there on."""

    versions: Annotated[tuple[bytes, ...], Meta(max_length=MAX_CHAIN)]


class StrategyDigest(Message, frozen=True):
    """The newest version that the sender knows, and its digest; the answer says the same of the other side."""

    version: Annotated[int, Meta(ge=1, lt=1 << 31)]
    digest: Annotated[bytes, Meta(min_length=32, max_length=32)]


class Claim(Message, frozen=True):
    """One slot that the sender wants to hold. `team`: digest of the live owners as it sees them."""

    slot: int
    epoch: int
    team: Annotated[bytes, Meta(max_length=8)]
    holding: bool  # it holds the slot now, and renews


class LeaseRequest(Message, frozen=True):
    """All the claims of one peer on another's votes."""

    slot_bits: int
    claims: Annotated[tuple[Claim, ...], Meta(max_length=MAX_CLAIMS)]


class Vote(Message, frozen=True):
    """A vote on one claim. Refused: `holder` (empty: nobody) has the vote; `epoch` is the highest seen."""

    slot: int
    granted: bool
    epoch: int
    holder: _Id


class LeaseReply(Message, frozen=True):
    """One vote per claim, in the order of the claims."""

    votes: Annotated[tuple[Vote, ...], Meta(max_length=MAX_CLAIMS)]


class LeaseRelease(Message, frozen=True):
    """The sender holds these no longer, or never did: (slot, epoch). Their votes are free again.

    `heirs`: (slot, node id, seconds): for so long that live owner comes before all others in the slot's order.
    """

    slot_bits: int
    slots: Annotated[tuple[tuple[int, int], ...], Meta(max_length=MAX_RELEASES)]
    heirs: Annotated[tuple[Heir, ...], Meta(max_length=MAX_CLAIMS)] = ()
