"""Messages to peers and from them: directly, or through a relay where the direct way does not work.

That is so where the peer has no family of address that works here, and where no connection comes about though the peer
lives. A relay is any live peer that has a family in common with either end; to a peer behind a NAT, one that
introduces it.

One question by several ways, the next one being tried as soon as the one before fails or stays silent for a moment.

A relay that froze takes questions and never brings an answer; nothing tells it from a slow one but another way.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from hashlib import blake2b

import msgspec

from dht.clock import Clock, Now
from dht.errors import MALFORMED, BadMessage, InputError, PeerTimeout, RemoteError
from dht.keys import NodeId
from dht.membership.answer_times import AnswerTimes, LatePeers
from dht.membership.bootstrap_retry import DROPPED_LIMIT
from dht.messages import Answer, Asked, GetStrategy, Handler, Message, StrategyDigest
from dht.overlay.packet_messages import ByChannel, PacketMessages
from dht.ownership.view import OverlayView
from dht.protocol.engine import ProtocolEngine
from dht.protocol.events import DialWanted
from dht.protocol.network_rules import BLOCKED
from dht.rate_limit import RateLimiter
from dht.reachability.broken_ways import BrokenWays
from dht.supervisor import STRICT, Supervisor
from dht.transport.dispatcher import Dispatcher
from dht.transport.transport import CONNECT_S, NoConnection, PeerGone, PeerRefused, Route, Transport
from dht.wire.contact import Address, Contact

NAMED = 4  # peers that may share an address and port; more only say so
RELAYS = 3  # tried one after the other: any two peers may freeze at once
RELAY_PATIENCE_S = 0.5  # until the next one is tried beside those before, for what only reads
LATE_S = 0.5  # without an answer to what only reads, until a peer is late for all
CONNECT_SHARE, CONNECT_LEAST_S = 0.5, 1.5  # of the time for an answer, after which a relay is tried
GUESTS_S, GUESTS_BURST = 0.5, 8.0  # tunnels opened for clients, all together: with IDLE_S half of what a relay bears

STRATEGIES = frozenset({GetStrategy.__name__, StrategyDigest.__name__})
# A second: so often those that were no members may ask for strategies together, and each that a strategy put out.
STRANGERS_S, STRANGERS_BURST = 0.5, 8.0


class Messenger:
    """Asks peers, answers them, and says for whom this node relays. `kick`: has the engine send what it has.
    `packets`: whether small messages travel in packets."""

    def __init__(
        self,
        core: ProtocolEngine,
        transport: Transport,
        view: OverlayView,
        clock: Clock,
        kick: Callable[[], None],
        *,
        packets: bool,
    ) -> None:
        self._core, self._transport, self._families = core, transport, core.families
        self._clock, self._view, self._kick = clock, view, kick
        self._node_id = core.node_id
        self._encoder = msgspec.msgpack.Encoder()
        self._guests = RateLimiter(GUESTS_S, GUESTS_BURST, keys=1)
        self._strangers = RateLimiter(STRANGERS_S, STRANGERS_BURST, keys=1 + DROPPED_LIMIT)
        self._packets = PacketMessages(core, clock, kick, self._note_late) if packets else None
        self._broken, self.late, self.times = BrokenWays(), LatePeers(clock), AnswerTimes(clock)
        self._members: tuple[NodeId, ...] = ()
        self._hosts: dict[str, None] = {}  # at which these members are reached
        self.dispatcher = Dispatcher()

    def serve(self, message: type[Asked], handler: Handler[Asked]) -> None:
        """Answer this type of message with what the handler returns."""
        handle = lambda asker, decoded, _host: handler(asker, decoded)  # noqa: E731
        self.dispatcher.serve(message, handle, only_reads=message.in_packets)
        if self._packets is not None and message.in_packets:
            self._packets.names.add(message.__name__)

    async def ask(self, peer: NodeId, message: Message, answer: type[Answer], *, timeout_s: float) -> Answer:
        """Send one message and return its answer; raises PeerTimeout or BadMessage. Asking oneself costs no message."""
        name, body = type(message).__name__, self._encoder.encode(message)
        if peer == self._node_id:
            return _decode(peer, await self._ask_self(name, body), answer)
        contact = self._view.contact(peer)
        if contact is None:
            raise PeerTimeout(peer.hex(), 0.0)
        by_channel = partial(self._ask_routes, RELAY_PATIENCE_S if message.in_packets else None, contact, name, body)
        late = asyncio.get_running_loop().call_later(LATE_S, self._note_late, peer) if message.in_packets else None
        began, note = self._clock().steady, self.times.waited
        try:
            if self._packets is not None and message.in_packets and not message.is_long:
                heard = await self._packets.ask(contact, name, body, timeout_s, by_channel)
            else:
                heard = await by_channel(timeout_s)
            note = self.times.took
        except PeerRefused:
            self._note_answer(peer)
            raise
        finally:
            if late is not None:
                late.cancel()
                note(peer, self._clock().steady - began)
        self._note_answer(peer)
        return _decode(peer, heard, answer)

    async def ask_at(self, contact: Contact, message: Message, answer: type[Answer], *, timeout_s: float) -> Answer:
        """Ask whoever is at a contact, without relays; raises PeerTimeout or BadMessage, and silence has no effect."""
        name, body = type(message).__name__, self._encoder.encode(message)
        heard = await self._transport.ask(Route(contact), name, body, timeout_s=timeout_s)
        return _decode(contact.node_id, heard, answer)

    def is_direct(self, peer: NodeId) -> bool:
        """Tell whether a peer is asked without a relay, as far as this node knows."""
        contact = self._view.contact(peer)
        is_broken = self._broken.is_broken(peer, self._clock().steady)
        return contact is None or (contact.shares(self._families.towards_peers) and not is_broken)

    def warnings(self) -> tuple[str, ...]:
        """Return a sentence for the operator where no way leads to live peers."""
        families = self._families
        if outage := families.outage():
            return (outage,)
        live = [c for peer in self._view.live() - {self._node_id} if (c := self._view.contact(peer)) is not None]
        away = [contact for contact in live if not contact.shares(families.working)]
        if not away or any(c.shares(families.working) and len(c.families) > 1 for c in live):
            return ()
        family = away[0].endpoints[0].family
        return (
            f"{len(away)} live peers are reached by IPv{family} alone, which does not work here "
            f"({families.reason(family)}), and no live peer with both families is there to relay",
        )

    async def run(self, supervisor: Supervisor = STRICT) -> None:
        """Receive messages and relay, until cancelled. `supervisor`: restarts what fails."""
        means = self._find_relayed, self._reach, self._is_member, supervisor
        async with asyncio.TaskGroup() as tasks:
            supervisor.start(tasks, "channel", partial(self._transport.run, self.answer, *means))
            if self._packets is not None:
                supervisor.start(tasks, "packet-messages", partial(self._packets.run, self.answer, supervisor))

    async def answer(self, asker: NodeId, name: str, body: bytes, host: str) -> bytes:
        """Return the encoded answer to one message of a peer, or of this node; raises RemoteError or InputError."""
        is_for_all = name in STRATEGIES and self._may_have_strategies(asker)
        if asker in self._core.members.blocked and not is_for_all:
            self._core.refused[BLOCKED] += 1
            raise BadMessage(asker.hex(), "the strategy of this network blocks this node")
        if name in STRATEGIES and not is_for_all:
            raise BadMessage(asker.hex(), "too many nodes that are no members ask for strategies; ask again later")
        return await self.dispatcher.answer(asker, name, body, host)

    def _may_have_strategies(self, asker: NodeId) -> bool:
        """Whether a node may ask for strategies: members always, all others together now and then. A mistaken strategy
        may make members refuse each other, and they need the next one: strangers cannot use up what is theirs."""
        if asker == self._node_id or self._core.members.find(asker) is not None:
            return True
        return self._strangers.take(asker if self._core.intake.was_dropped(asker) else "", self._clock().steady)

    async def _ask_self(self, name: str, body: bytes) -> bytes:
        try:
            return await self.answer(self._node_id, name, body, "")
        except (RemoteError, InputError) as error:
            raise PeerRefused(self._node_id.hex(), str(error)) from error

    async def _ask_routes(
        self, patience_s: float | None, peer: Contact, name: str, body: bytes, timeout_s: float
    ) -> bytes:
        """By the direct way, and where no connection comes about through relays while time is left; where the direct
        way is broken, by relays and then by it. After `patience_s` a silent relay is hedged by the next way, None where
        what is asked must not be done twice."""
        ends = self._clock().steady + timeout_s
        directly = partial(self._ask_directly, peer, name, body)
        if not peer.shares(self._families.towards_peers):
            return await self._ask_relays(patience_s, peer, name, body, ends, ())
        if self._broken.is_broken(peer.node_id, self._clock().steady):
            return await self._ask_relays(patience_s, peer, name, body, ends, (directly,))
        try:
            return await directly(timeout_s)
        except NoConnection as error:
            failed = error
        if ends <= self._clock().steady:
            raise failed
        try:
            return await self._ask_relays(patience_s, peer, name, body, ends, ())
        except PeerTimeout as error:
            raise max(failed, error, key=lambda each: each.waited_s) from None

    async def _ask_directly(self, peer: Contact, name: str, body: bytes, timeout_s: float) -> bytes:
        route = Route(peer, connect_s=max(CONNECT_LEAST_S, min(CONNECT_S, CONNECT_SHARE * timeout_s)))
        try:
            answer = await self._transport.ask(route, name, body, timeout_s=timeout_s)
        except PeerGone:
            self._core.suspect(self._clock(), peer.node_id)
            self._view.refresh()
            self._kick()
            raise
        except PeerTimeout:
            self._broken.failed(peer.node_id, self._clock().steady)
            raise
        self._broken.direct(peer.node_id)
        return answer

    async def _ask_relays(
        self, patience_s: float | None, peer: Contact, name: str, body: bytes, ends: float, others: Sequence[ByChannel]
    ) -> bytes:
        """Through relays, each chosen when it is its turn, by then more is known of who is silent, and then by other
        ways, until the steady instant `ends`."""
        asked: list[NodeId] = []

        async def by_next() -> bytes:
            relays = [each for each in self._relays(peer) if each.node_id not in asked]
            if not relays:
                raise NoConnection(peer.node_id.hex(), 0.0)
            asked.append(relays[0].node_id)
            is_last = not others and (len(relays) == 1 or len(asked) == RELAYS)
            route = Route(peer, relays[0], connect_s=CONNECT_S if is_last else CONNECT_LEAST_S)
            return await self._transport.ask(route, name, body, timeout_s=left_s())

        def left_s() -> float:
            return max(0.0, ends - self._clock().steady)

        ways = [by_next] * RELAYS + [lambda way=way: way(left_s()) for way in others]
        answer, by = await first_answer(ways, patience_s)
        if by < RELAYS:
            self._broken.relayed(peer.node_id, self._clock().steady)
        for relay in asked[:by]:
            self._broken.silent(relay, self._clock().steady)
        return answer

    def _note_answer(self, peer: NodeId) -> None:
        self._broken.answered(peer)
        self.late.note_answer(peer)

    def _note_late(self, peer: NodeId) -> None:
        self.late.note_late([peer])

    def _relays(self, peer: Contact) -> list[Contact]:
        """The peers that may relay, the best first: the same for each peer, while it answers. Behind a NAT lead the
        peer's introducers."""
        ours, now = self._families.towards_peers, self._clock().steady
        able = self._view.live() & set(peer.introducers) if peer.introducers else self._view.live()
        live = [self._view.contact(node) for node in able - {self._node_id, peer.node_id}]
        fit = [c for c in live if c is not None and c.shares(ours) and c.shares(peer.families)]
        fit = [c for c in fit if not c.introducers and not self._broken.is_broken(c.node_id, now)]
        fit.sort(key=lambda relay: blake2b(relay.node_id + peer.node_id, digest_size=8).digest())
        fit.sort(key=lambda relay: self._broken.is_silent(relay.node_id, now) or self.late.is_late(relay.node_id))
        fit.sort(key=lambda relay: self._broken.is_failing(relay.node_id))
        return fit

    def dial(self, wanted: DialWanted) -> None:
        """Dial a peer behind a NAT that dials this node at this moment."""
        self._transport.dial(wanted.peer, wanted.endpoint, wanted.any_port)

    def _reach(self, peer: Contact, tcp_port: int) -> bool:
        """Have a peer behind a NAT dial a port of this node."""
        found = self._core.introductions.reach(self._clock(), peer, tcp_port)
        self._kick()
        return found

    def _is_member(self, host: str, peer: NodeId | None) -> bool:
        members = self._view.members()
        if members is not self._members:
            contacts = (self._view.contact(member) for member in members)
            self._members = members
            self._hosts = {e.host: None for c in contacts if c is not None for e in c.endpoints}
        return host in self._hosts if peer is None else peer in members

    def _find_relayed(self, asker: NodeId, host: str, port: int) -> Contact | None:
        """Return the contact of the member at an endpoint, to which this node relays an asker's bytes; None where it
        does not. The member must have answered at that endpoint, since anybody may name any address, or be behind a NAT
        and introduced by this node. Askers are members and, few at a time, clients."""
        members, now = self._core.members, self._clock()
        if not self._core.rules.policy.allows(host):
            return None
        contacts = [known.opened.contact for _, known in members.known()]
        named = [(c, e.udp) for c in contacts for e in c.endpoints if (e.host, e.tcp_port) == (host, port)]
        met = next((peer for peer, address in named[:NAMED] if self._has_met(now, peer, address)), None)
        if named and met is None:
            self._kick()
        is_served = met is not None and (members.find(asker) is not None or self._guests.take("", now.steady))
        return met if is_served else None

    def _has_met(self, now: Now, peer: Contact, address: Address) -> bool:
        if peer.introducers:
            return self._core.introductions.introduces(now, peer.node_id)
        return self._core.verify_address(now, peer.node_id, address)


def _decode(peer: NodeId, body: bytes, answer: type[Answer]) -> Answer:
    try:
        return msgspec.msgpack.decode(body, type=answer)
    except MALFORMED as error:
        raise BadMessage(peer.hex(), f"its answer is no {answer.__name__}: {error}") from None


Way = Callable[[], Awaitable[bytes]]


async def first_answer(ways: Sequence[Way], patience_s: float | None) -> tuple[bytes, int]:
    """Return the first answer and the number of its way, from 0. Ways (at least one) are tried in their order.

    `patience_s`: seconds until the next way starts beside a silent one; None: it starts only after the way before has
    timed out. Any other error ends the search and is raised. Where all ways time out, the last timeout is raised."""
    heard: asyncio.Queue[tuple[bytes | RemoteError, int]] = asyncio.Queue()

    async def ask(way: Way, number: int) -> None:
        try:
            heard.put_nowait((await way(), number))
        except RemoteError as error:
            heard.put_nowait((error, number))

    outcome: bytes | RemoteError | None = None
    by = 0
    async with asyncio.TaskGroup() as tasks:
        asked: list[asyncio.Task[None]] = []
        is_over, open_ = False, 0
        for number, way in enumerate(ways):
            asked.append(tasks.create_task(ask(way, number), name="one-way"))
            open_ += 1
            while open_ and not is_over:
                try:
                    async with asyncio.timeout(patience_s if number + 1 < len(ways) else None):
                        outcome, by = await heard.get()
                except TimeoutError:
                    break
                open_ -= 1
                is_over = not isinstance(outcome, PeerTimeout)
            if is_over:
                break
        for task in asked:
            task.cancel()
    if isinstance(outcome, bytes):
        return outcome, by
    assert outcome is not None
    raise outcome
