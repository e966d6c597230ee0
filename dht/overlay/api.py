"""The network as the other packages see it: ask a peer, answer peers, and the view of who owns what.

`dht/overlay/service.py` implements it over sockets, the simulator over memory; both around the same core.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from dht.keys import Key, NodeId, Slot
from dht.membership.answer_times import AnswerTimes, LatePeers
from dht.messages import Answer, Asked, Handler, Message
from dht.ownership.ready_peers import LastWord
from dht.strategy.document import Strategy
from dht.wire.contact import Contact
from dht.wire.grant import SignedGrant
from dht.wire.heartbeat import Condition, Load
from dht.wire.room_step import RoomStep


class PeerWordsView(Protocol):
    """The last words of single peers about themselves, heard just now or silent (`dht/ownership/votes.py`)."""

    def is_stable(self, peer: NodeId) -> bool: ...

    def last_word(self, peer: NodeId) -> LastWord | None: ...

    def refuses(self, peer: NodeId) -> bytes: ...

    def due(self, peer: NodeId) -> int: ...

    def silent_s(self, peer: NodeId) -> float | None: ...

    def vanished(self) -> frozenset[NodeId]: ...


class VotesView(Protocol):
    """How votes for leases count (`dht/ownership/votes.py`)."""

    def promised(self, slot: Slot) -> NodeId | None: ...

    def grants(self, slot: Slot) -> Sequence[SignedGrant]: ...

    def stopped(self, signed: SignedGrant) -> frozenset[NodeId]: ...

    def waits_for(self) -> tuple[NodeId, ...]: ...


class View(Protocol):
    """The members of a network and the owners of its slots, as far as this node has heard. It is cheap to ask and never
    blocks."""

    @property
    def node_id(self) -> NodeId: ...

    @property
    def peers(self) -> PeerWordsView: ...

    @property
    def votes(self) -> VotesView: ...

    @property
    def strategy(self) -> Strategy:
        """The strategy in force; slot_bits, replicas and min_acks are its fields."""

    def why_apart(self) -> str:
        """Return why this node must do nothing in its network's name, "" if it may. The reason is that it never met the
        others, that its clock is off, or that another machine runs with its identity. Then it is ready for no slot,
        holds none, and votes not."""

    def former_strategies(self) -> Sequence[Strategy]:
        """Return the strategies in force until a day ago at most, newest first; the same object until that changes."""

    def coming_strategies(self) -> Sequence[Strategy]:
        """Return the accepted strategies that are not in force yet, oldest first."""

    def members(self) -> tuple[NodeId, ...]:
        """Return the peers whose signed heartbeat is younger than their grace, this node among them, sorted."""

    def contact(self, peer: NodeId) -> Contact | None: ...

    def is_live(self, peer: NodeId) -> bool:
        """Tell whether a peer was heard of within 30 s; this node itself always is."""

    def live(self) -> frozenset[NodeId]:
        """Return everybody for whom `is_live` holds; the same object until somebody comes or goes."""

    def owners(self, slot: Slot) -> tuple[NodeId, ...]:
        """Return the r_eff = min(r, members) sticky owners of a slot, highest rendezvous weight first."""

    def owners_by_slot(self) -> Sequence[tuple[NodeId, ...]]:
        """Return `owners` of every slot, by its number; the same object until one changes."""

    def replaced(self) -> frozenset[Slot]:
        """Return the slots all of whose owners became so within an hour, by this node's own view, in place of others;
        the same object until that changes."""

    def candidates(self, slot: Slot) -> tuple[NodeId, ...]:
        """Return the (at most 16) members from whom owners and stand-ins of the slot come, highest weight first."""

    def live_owners(self, slot: Slot) -> tuple[NodeId, ...]:
        """Return the live ones of `owners`, joined by the next in weight while fewer than two are live."""

    def keepers(self, slot: Slot, doubted: frozenset[NodeId] = frozenset()) -> tuple[NodeId, ...]:
        """Return the live candidates that keep copies in place of silent owners: who would own the slot if these were
        forgotten. They have no vote and count in no majority."""

    def count_as_full(self, peers: frozenset[NodeId]) -> None:
        """Let none of these be one of `keepers` from now on, by this node's view."""

    def kept(self) -> frozenset[Slot]:
        """Return the slots of which this node is one of `keepers`."""

    def away(self) -> frozenset[NodeId]:
        """Return the members that do not count, in a network of few, because they said farewell; this node may be
        one."""

    def uncounted(self) -> frozenset[NodeId]:
        """Return the members without which votes, copies and agreement are enough: those that are away, and a silent
        one that this node may outvote, since it breaks ties."""

    def tie_breakers(self) -> frozenset[NodeId]:
        """Return the nodes that some accepted strategy names to break ties."""

    def ready(self, slot: Slot, *, answering: bool = False) -> tuple[NodeId, ...]:
        """Return the live candidates, this node among them, that announce the slot as reconciled and serve reads from
        it; `answering`: those alone that index it, too."""

    def ready_by_slot(self, *, answering: bool = False) -> Sequence[tuple[NodeId, ...]]:
        """Return `ready` of every slot, by its number; the same object until one changes."""

    def is_ready(self, peer: NodeId, slot: Slot) -> bool:
        """Tell whether a live peer, or this node, announces the slot; a former owner may be no candidate."""

    def seasoned(self, peers: Iterable[NodeId]) -> tuple[NodeId, ...]:
        """Return those of some peers that are members for as long as the strategy asks (min_age_days)."""

    def is_known_for_a_day(self, peer: NodeId) -> bool:
        """Tell whether a peer is a member for a day, as its attesters say and this node saw."""

    @property
    def is_leaving(self) -> bool:
        """Whether this node leaves for good."""

    def announced(self, slot: Slot) -> Sequence[NodeId]:
        """Return the live peers, this node never, that say they hold the slot's lease."""

    def owned(self) -> frozenset[Slot]:
        """Return the slots that this node owns or stands in for."""

    def leases(self) -> Mapping[Slot, int]:
        """Return the slots that this node may crawl now, each with its lease epoch; empty once its clock says 20 s."""


class Overlay(Protocol):
    """The network, as everyone above `dht` sees it."""

    @property
    def view(self) -> View: ...

    @property
    def times(self) -> AnswerTimes:
        """How long peers take to answer; every answer to an `ask` that only reads is noted there."""

    @property
    def late(self) -> LatePeers:
        """The peers that are late with an answer just now; every answer to `ask` is noted there."""

    def is_direct(self, peer: NodeId) -> bool:
        """Tell whether a peer is asked without a relay, as far as this node knows."""

    @property
    def takes_part(self) -> bool:
        """Tell whether this node is no client, be it that others have yet to admit it."""

    async def ask(self, peer: NodeId, message: Message, answer: type[Answer], *, timeout_s: float) -> Answer:
        """Send one message and return its answer, through a dual-stack peer where families differ.

        Raises PeerTimeout (dead, unreachable, slow) or BadMessage (answer does not decode or the peer refused).
        Asking one's own id calls the handler directly.
        """

    def serve(self, message: type[Asked], handler: Handler[Asked]) -> None:
        """Answer this type of message; a handler may raise RemoteError or InputError, which the asker sees as text."""

    def announce(
        self, ready: frozenset[Slot], due: int, load: Load | None = None, stored_only: frozenset[Slot] = frozenset()
    ) -> None:
        """Announce in the next heartbeats for which slots this node is ready, and which of them it does not index. Also
        how many URLs are due here, and how busy the machine is (None: as before)."""

    def tell(self, condition: Condition) -> None:
        """Say in the next heartbeats how this node is, which only people read."""

    def take_part_with(self, room_step: RoomStep) -> None:
        """Say in the next heartbeats by which step of room this node takes part: owners are chosen by it."""

    def compared(self, peers: frozenset[NodeId]) -> None:
        """Say with which live members all copies here have been compared since the start."""

    def withhold_votes(self, peers: frozenset[NodeId]) -> None:
        """Give these nodes, and no others, no votes for leases from now on."""

    async def read_point(self, key: Key, most: int) -> list[tuple[NodeId, bytes]]:
        """Return up to `most` small values at a point of the key space, each with its author, those of older members
        first; none where nobody answers."""

    async def write_point(self, key: Key, value: bytes, life_s: float) -> int:
        """Store a small value of this node at a point for so many seconds; return at how many nodes it lies."""

    def refuse(self, hosts: bytes) -> None:
        """Tell peers which hosts this node will not fetch: hashes of four bytes, one after the other."""
