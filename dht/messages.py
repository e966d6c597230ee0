"""Defines the base of messages between peers, and the overlay's own messages; other packages define theirs.

A message is a frozen msgspec Struct (array_like); its class name is its name on the wire, so it is stated once and
renamed never. Every list is bounded, so that a longer one is refused before it is decoded.
Pure: values and protocols only.
"""

from collections.abc import Awaitable, Callable
from typing import Annotated, ClassVar, Protocol, TypeVar

import msgspec
from msgspec import Meta

from dht.keys import NodeId

MAX_CLAIMS = 4096  # in one message; the rest waits for the next round
MAX_PAST_TEAMS = 8  # of a slot that a voter remembers; after more changes within 30 s it just abstains
MAX_TEAM = 16  # owners of a slot, as many as a strategy may ask for
MAX_CHAIN = 64  # versions in one answer
MAX_RELEASES = 1 << 16  # every slot there can be
MAX_MOVE_S = 3600  # the longest that a move is believed; whoever holds the slot by then may ask for more

_Id = Annotated[bytes, Meta(max_length=20)]
_Team = Annotated[tuple[_Id, ...], Meta(max_length=MAX_TEAM)]


class Message(msgspec.Struct, frozen=True, array_like=True):
    """The base of every message between peers; fields may be added at the end with defaults, never removed."""

    in_packets: ClassVar[bool] = False
    """Whether it may travel in packets: it only reads, hence a repeated message changes nothing, and its answer is
    mostly small."""

    @property
    def is_long(self) -> bool:
        """Whether its answer is too long for packets for certain."""
        return False


Asked = TypeVar("Asked", bound=Message)
Answer = TypeVar("Answer", bound=Message)
Handler = Callable[[NodeId, Asked], Awaitable[Message]]  # gets the verified id of the peer that asks


class PeerClient(Protocol):
    """Whatever can ask a peer and wait for its answer."""

    async def ask(self, peer: NodeId, message: Message, answer: type[Answer], *, timeout_s: float) -> Answer: ...


Heir = tuple[Annotated[int, Meta(ge=0, lt=MAX_RELEASES)], _Id, Annotated[int, Meta(ge=0, le=MAX_MOVE_S)]]


class Done(Message, frozen=True):
    """Acknowledge a message that asks for nothing."""


class GetStrategy(Message, frozen=True):
    """Ask for the accepted versions from one on, oldest first."""

    from_version: int


class StrategyChain(Message, frozen=True):
    """Signed strategies as `encode_signed` writes them; empty where the sender has nothing from that version on."""

    versions: Annotated[tuple[bytes, ...], Meta(max_length=MAX_CHAIN)]


class StrategyDigest(Message, frozen=True):
    """The newest version that the sender knows, and its digest; the answer says the same of the other side."""

    version: Annotated[int, Meta(ge=1, lt=1 << 31)]
    digest: Annotated[bytes, Meta(min_length=32, max_length=32)]


class Claim(msgspec.Struct, frozen=True, array_like=True):
    """Names one slot of a `LeaseRequest` that the sender wants to hold. `team`: digest of the live owners as it sees
    them."""

    slot: int
    epoch: int
    team: Annotated[bytes, Meta(max_length=8)]
    holding: bool  # it holds the slot now, and renews
    grant_from: Annotated[int, Meta(ge=0, lt=1 << 40)] = 0  # Unix second from which a signed grant shall count, 0: none


class LeaseRequest(Message, frozen=True):
    """All claims that one peer wants another's votes on."""

    slot_bits: int
    claims: Annotated[tuple[Claim, ...], Meta(max_length=MAX_CLAIMS)]


class Vote(msgspec.Struct, frozen=True, array_like=True):
    """Answers one claim, in a `LeaseReply`. Where it is refused, `holder` (empty: nobody) has the vote.

    `epoch` is the highest seen.
    `signature`: of the grant that the claim asks for, in `dht/wire/grant.py`; empty for none. `company`: a vote that is
    not granted is given all the same, and counts once members of each of these teams vote alike (voter.py)."""

    slot: int
    granted: bool
    epoch: int
    holder: _Id
    signature: Annotated[bytes, Meta(max_length=64)] = b""
    company: Annotated[tuple[_Team, ...], Meta(max_length=MAX_PAST_TEAMS)] = ()

    @property
    def binds(self) -> bool:
        """Whether the voter has promised the slot, be it on a condition."""
        return self.granted or bool(self.company)


class LeaseReply(Message, frozen=True):
    """One vote per claim, in the order of the claims. `voter`: the public key that their signatures name."""

    votes: Annotated[tuple[Vote, ...], Meta(max_length=MAX_CLAIMS)]
    voter: Annotated[bytes, Meta(max_length=32)] = b""


class LeaseRelease(Message, frozen=True):
    """The sender holds these (slot, epoch) no longer, or never did; their votes are free again.

    `heirs`: (slot, node id, seconds): for so long that live owner comes before all others in the slot's order."""

    slot_bits: int
    slots: Annotated[tuple[tuple[int, int], ...], Meta(max_length=MAX_RELEASES)]
    heirs: Annotated[tuple[Heir, ...], Meta(max_length=MAX_CLAIMS)] = ()
