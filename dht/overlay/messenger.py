"""Messages to peers and from them: directly, or through a dual-stack peer where the families of address differ."""

from collections.abc import Callable
from hashlib import blake2b

import msgspec

from dht.errors import MALFORMED, BadMessage, InputError, PeerTimeout, RemoteError
from dht.keys import NodeId
from dht.messages import Answer, Asked, Handler, Message
from dht.overlay.dependencies import OverlayDependencies
from dht.ownership.view import OverlayView
from dht.protocol.packet_filter import BLOCKED
from dht.rate_limit import RateLimiter
from dht.transport.dispatcher import Dispatcher
from dht.transport.transport import PeerGone, PeerRefused, Route
from dht.wire.contact import Contact

NAMED = 4  # peers that may share an address and port; more only say so
RELAYS = 2  # tried one after the other
CLOCK_OFF_S = 10.0  # worth a warning; signed requests are refused beyond 120 s
GUESTS_S, GUESTS_BURST = 0.5, 8.0  # tunnels opened for clients, all together: with IDLE_S half of what a relay bears


class Messenger:
    """Asks peers, answers them, and says for whom this node relays. `kick`: has the engine send what it has."""

    def __init__(self, deps: OverlayDependencies, view: OverlayView, kick: Callable[[], None]) -> None:
        self._core, self._transport, self._families = deps.core, deps.transport, deps.settings.families
        self._clock, self._view, self._kick = deps.clock, view, kick
        self._node_id = deps.core.node_id
        self._encoder = msgspec.msgpack.Encoder()
        self._guests = RateLimiter(GUESTS_S, GUESTS_BURST, keys=1)
        self.dispatcher = Dispatcher()

    def serve(self, message: type[Asked], handler: Handler[Asked]) -> None:
        """Answer this type of message with what the handler returns."""
        self.dispatcher.serve(message, lambda asker, decoded, _host: handler(asker, decoded))

    async def ask(self, peer: NodeId, message: Message, answer: type[Answer], *, timeout_s: float) -> Answer:
        """Send one message and return its answer; raises PeerTimeout or BadMessage. Asking oneself costs no message."""
        name, body = type(message).__name__, self._encoder.encode(message)
        if peer == self._node_id:
            return _decode(peer, await self._ask_self(name, body), answer)
        contact = self._view.contact(peer)
        if contact is None:
            raise PeerTimeout(peer.hex(), 0.0)
        return _decode(peer, await self._ask_routes(contact, name, body, timeout_s), answer)

    async def ask_at(self, contact: Contact, message: Message, answer: type[Answer], *, timeout_s: float) -> Answer:
        """Ask whoever is at a contact, without relays; raises PeerTimeout or BadMessage, and silence has no effect."""
        name, body = type(message).__name__, self._encoder.encode(message)
        heard = await self._transport.ask(Route(contact), name, body, timeout_s=timeout_s)
        return _decode(contact.node_id, heard, answer)

    def warnings(self) -> tuple[str, ...]:
        """Return a sentence for the operator where this machine's clock and those of its peers differ too much."""
        ahead_s = self._transport.clock_offset_s()
        if abs(ahead_s) <= CLOCK_OFF_S:
            return ()
        how = "behind" if ahead_s > 0 else "ahead of"
        return (f"this machine's clock is {abs(ahead_s):.0f} s {how} those of its peers; set it, by NTP for example",)

    async def run(self) -> None:
        """Receive messages and relay, until cancelled."""
        await self._transport.run(self.answer, self._may_relay)

    async def answer(self, asker: NodeId, name: str, body: bytes, host: str) -> bytes:
        """Return the encoded answer to one message of a peer, or of this node; raises RemoteError or InputError."""
        if asker in self._core.members.blocked:
            self._core.refused[BLOCKED] += 1
            raise BadMessage(asker.hex(), "the strategy of this network blocks this node")
        return await self.dispatcher.answer(asker, name, body, host)

    async def _ask_self(self, name: str, body: bytes) -> bytes:
        try:
            return await self.answer(self._node_id, name, body, "")
        except (RemoteError, InputError) as error:
            raise PeerRefused(self._node_id.hex(), str(error)) from error

    async def _ask_routes(self, peer: Contact, name: str, body: bytes, timeout_s: float) -> bytes:
        """Directly, or through one relay and then another while time is left."""
        ends = self._clock().steady + timeout_s
        routes = self._routes(peer)
        for route in routes:
            left = ends - self._clock().steady
            try:
                return await self._transport.ask(route, name, body, timeout_s=left)
            except PeerGone:
                if route.relay is None:
                    self._core.suspect(self._clock(), peer.node_id)
                    self._view.refresh()
                    self._kick()
                raise
            except PeerTimeout:
                if route is routes[-1] or self._clock().steady >= ends:
                    raise
        raise PeerTimeout(peer.node_id.hex(), 0.0)

    def _routes(self, peer: Contact) -> list[Route]:
        """How to reach a peer: a relay has both families; which one is asked first stays the same for each peer."""
        if peer.families & self._families:
            return [Route(peer)]
        dual = [self._view.contact(node) for node in self._view.live() - {self._node_id, peer.node_id}]
        fit = [c for c in dual if c is not None and c.families & self._families and c.families & peer.families]
        fit.sort(key=lambda relay: blake2b(relay.node_id + peer.node_id, digest_size=8).digest())
        return [Route(peer, relay) for relay in fit[:RELAYS]]

    def _may_relay(self, asker: NodeId, host: str, port: int) -> bool:
        """Members and, few at a time, clients are served, to endpoints of members that have answered there: anybody
        may name any address."""
        members, now = self._core.members, self._clock()
        if not self._core.rules.policy.allows(host):
            return False
        contacts = [known.opened.contact for _, known in members.known()]
        named = [(c.node_id, e.udp) for c in contacts for e in c.endpoints if (e.host, e.tcp_port) == (host, port)]
        met = any(self._core.verify_address(now, peer, address) for peer, address in named[:NAMED])
        if named and not met:
            self._kick()
        return met and (members.find(asker) is not None or self._guests.take("", now.steady))


def _decode(peer: NodeId, body: bytes, answer: type[Answer]) -> Answer:
    try:
        return msgspec.msgpack.decode(body, type=answer)
    except MALFORMED as error:
        raise BadMessage(peer.hex(), f"its answer is no {answer.__name__}: {error}") from None
