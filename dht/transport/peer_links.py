"""Opens links to peers behind NATs by TCP hole punching, and accepts theirs.

Both ends dial each other from the ports on which they listen. The first packet of each opens its own NAT, so that
packets of the other come in (Ford, Srisuresh, Kegel 2005, section 4: simultaneous open). An introducer tells the asked
end that it is time. The opener sends one byte (OPENS). The asked end sends DIALS and its id, since its dial may arrive
like any other connection at the opener's port. Then it sends AGREES; it is the TLS server. Where both open at once the
lower id goes on. Inside TLS the opener proves its key by a signed frame.
"""

import asyncio
import logging
import socket
import ssl
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import partial
from random import Random

from aiohttp import ServerFingerprintMismatch

from dht.clock import Clock
from dht.errors import BadMessage, DseError, PeerTimeout
from dht.identity.node_key import Identity
from dht.keys import KEY_BYTES, NodeId
from dht.rate_limit import remember
from dht.supervisor import STRICT, Supervisor
from dht.transport.certificate import PeerKey
from dht.transport.peer_link import ASKS, LinkFrame, PeerLink, frame_bytes, read_frame
from dht.transport.request_auth import NONCE_BYTES, RequestAuthenticator, RequestTarget, sign_request
from dht.transport.small_packets import bound_packets
from dht.transport.transport import Answerer, NoConnection, Reach
from dht.wire.contact import Address, Contact, Endpoint, Family

log = logging.getLogger(__name__)

OPENS, AGREES, DIALS = b"L", b"K", b"D"
OPEN_S = 6.0  # for all tries together, hand-shakes included
TRIES, PAUSE_S = 4, 0.4  # dials after a refusal: some NATs refuse what comes too early
PROVE_S = 5.0
MAX_LINKS = 128
REST_S, REST_MOST_S = 4.0, 64.0  # after a failure, until the next try to the same peer: doubled each time
MAX_FAILURES = 1024  # remembered
HELLO_BYTES = 1024
FAILURES = (OSError, TimeoutError, DseError, ssl.SSLError, ServerFingerprintMismatch, asyncio.IncompleteReadError)

_StartOnce = Callable[[str, Callable[[], Awaitable[None]]], object]
Greet = Callable[[socket.socket, str], Coroutine[None, None, None]]
"""(connection, host at its other end) → serve it as one that was accepted."""


class PeerLinks:
    """Opens, accepts and keeps the links of one node. `ports`: where it listens, by family."""

    def __init__(
        self,
        identity: Identity,
        network: str,
        clock: Clock,
        rng: Random,
        context: ssl.SSLContext,
        authenticator: RequestAuthenticator,
        ports: Mapping[Family, Address],
    ) -> None:
        self._identity, self._network, self._clock, self._rng = identity, network, clock, rng
        self._server_context, self._authenticator, self._ports = context, authenticator, ports
        self._client_context = context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # `PeerKey` checks the key
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        self._links: dict[NodeId, PeerLink] = {}
        self._opening: dict[NodeId, asyncio.Future[PeerLink | None]] = {}
        self._expected: dict[NodeId, asyncio.Future[socket.socket]] = {}
        self._relayed: dict[NodeId, list[asyncio.Future[socket.socket]]] = {}  # who was asked to dial, for others
        self._rests: dict[NodeId, tuple[float, float]] = {}  # steady time of the next try, and how long that is
        self._running: tuple[_StartOnce, Answerer, Reach, Greet] | None = None

    async def run(self, answerer: Answerer, reach: Reach, greet: Greet, supervisor: Supervisor = STRICT) -> None:
        """Answer over links until cancelled. `supervisor`: bears what one link costs."""
        try:
            async with asyncio.TaskGroup() as tasks:
                self._running = partial(supervisor.start_once, tasks), answerer, reach, greet
                await asyncio.get_running_loop().create_future()
        finally:
            self._running = None

    def find(self, peer: NodeId) -> PeerLink | None:
        """Return the open link to a peer."""
        return self._links.get(peer)

    async def open(self, peer: Contact) -> PeerLink:
        """Return a link to a peer behind a NAT, opened now where there is none; raises NoConnection."""
        node_id = peer.node_id
        if (link := self._links.get(node_id)) is not None:
            return link
        rests_until, _ = self._rests.get(node_id, (0.0, 0.0))
        if self._running is None or self._clock().steady < rests_until:
            raise NoConnection(node_id.hex(), 0.0)
        opening = self._opening.get(node_id)
        if opening is None:
            opening = self._opening[node_id] = asyncio.get_running_loop().create_future()
            self._running[0]("link-open", partial(self._open, peer, opening))
        if (found := await asyncio.shield(opening)) is None:
            raise NoConnection(node_id.hex(), OPEN_S)
        return found

    def dial(self, peer: NodeId, endpoint: Endpoint, any_port: bool) -> None:
        """Dial a peer that wants a connection with this node, as an introducer told it; from any port where it lets
        everybody in, since several connections need several ports."""
        if self._running is None or endpoint.family not in self._ports or (peer in self._opening and not any_port):
            return
        source = self._ports[endpoint.family]
        source = source._replace(port=0) if any_port else source
        self._running[0]("link-dial", partial(self._dial_back, source, endpoint))

    async def have_dial(self, peer: Contact) -> socket.socket:
        """Ask a peer behind a NAT that this node introduces to dial it, and return the connection. The caller must
        close it. Raises NoConnection where the request cannot be sent."""
        endpoint = next((e for e in peer.endpoints if e.family in self._ports), None)
        if self._running is None or endpoint is None:
            raise NoConnection(peer.node_id.hex(), 0.0)
        dialled: asyncio.Future[socket.socket] = asyncio.get_running_loop().create_future()
        waiting = self._relayed.setdefault(peer.node_id, [])
        waiting.append(dialled)
        try:
            if not self._running[2](peer, self._ports[endpoint.family].port):
                raise NoConnection(peer.node_id.hex(), 0.0)
            return await dialled
        except BaseException:
            if dialled.done() and not dialled.cancelled():
                dialled.result().close()
            raise
        finally:
            if dialled in waiting:
                waiting.remove(dialled)
            if not waiting:
                self._relayed.pop(peer.node_id, None)

    async def meet(self, sock: socket.socket) -> None:
        """Take a connection whose first byte, yet to be read, is DIALS: its other end was asked to dial this node."""
        async with asyncio.timeout(PROVE_S):
            said = await _read_exactly(sock, 1 + KEY_BYTES)
        peer = NodeId(said[1:])
        waiting = [self._expected.get(peer), *self._relayed.get(peer, ())]
        found = next((each for each in waiting if each is not None and not each.done()), None)
        if found is None:
            sock.close()
        else:
            found.set_result(sock)

    async def accept(self, sock: socket.socket, host: str) -> None:
        """Serve a connection whose first byte, yet to be read, is OPENS, until the link ends."""
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(PROVE_S):
            await loop.sock_recv(sock, 1)
            await loop.sock_sendall(sock, AGREES)
            link = await self._as_server(sock, host)
        await self._serve(link)

    async def _open(self, peer: Contact, opened: "asyncio.Future[PeerLink | None]") -> None:
        """Open a link, tell those who wait for it, and serve it."""
        link: PeerLink | None = None
        try:
            async with asyncio.timeout(OPEN_S):
                link = await self._connect(peer)
        except FAILURES as error:
            if not opened.done():
                log.debug("link not opened peer=%s reason=%s", peer.node_id.hex(), str(error) or type(error).__name__)
                self._note_failure(peer.node_id)
        finally:
            del self._opening[peer.node_id]
            if not opened.done():
                opened.set_result(link)
        if link is not None:
            await self._serve(link)

    def _note_failure(self, peer: NodeId) -> None:
        _, last_s = self._rests.get(peer, (0.0, REST_S / 2))
        rest_s = min(REST_MOST_S, 2 * last_s)
        remember(self._rests, peer, (self._clock().steady + rest_s, rest_s), MAX_FAILURES)

    async def _serve(self, link: PeerLink) -> None:
        assert self._running is not None
        self._rests.pop(link.peer, None)
        former = self._links.pop(link.peer, None)
        self._links[link.peer] = link
        opening, expected = self._opening.get(link.peer), self._expected.get(link.peer)
        if opening is not None and not opening.done():
            opening.set_result(link)
        if expected is not None and not expected.done():
            expected.set_exception(ConnectionAbortedError("the peer's own link came first"))
        if former is not None:
            former.close()
        elif len(self._links) > MAX_LINKS:
            next(iter(self._links.values())).close()
        try:
            await link.run(self._running[1])
        finally:
            if self._links.get(link.peer) is link:
                del self._links[link.peer]

    async def _connect(self, peer: Contact) -> PeerLink:
        """Dial the peer, and have it dial this node, until one connection is there; then prove both ends."""
        endpoint = next((e for e in peer.endpoints if e.family in self._ports), None)
        if self._running is None or endpoint is None:
            raise PeerTimeout(peer.node_id.hex(), 0.0)
        reach, dialled = self._running[2], None
        expected = self._expected[peer.node_id] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.TaskGroup() as tasks:
                dialling = tasks.create_task(self._dial(self._ports[endpoint.family], endpoint), name="link-dial")
                await asyncio.sleep(0)  # the dial goes first: it opens this node's NAT
                is_told = reach(peer, self._ports[endpoint.family].port)
                if is_told:
                    await asyncio.wait({dialling, expected}, return_when=asyncio.FIRST_COMPLETED)
                dialled = dialling.result() if dialling.done() else None
                dialling.cancel()
            if dialled is None and not is_told:
                raise PeerTimeout(peer.node_id.hex(), 0.0)
            sock = dialled or await expected
        finally:
            del self._expected[peer.node_id]
            if not expected.cancel() and expected.exception() is None and dialled is not None:
                expected.result().close()  # both came about: one is enough
        try:
            return await self._prove(sock, peer.node_id, endpoint.host)
        except BaseException:
            sock.close()
            raise

    async def _dial(self, source: Address, endpoint: Endpoint) -> socket.socket | None:
        """Connect from a port of this node, again where that is refused; None where it cannot be."""
        loop = asyncio.get_running_loop()
        for _ in range(TRIES):
            sock = dialling_socket(source)
            bound_packets(sock, endpoint.host)
            try:
                await loop.sock_connect(sock, (endpoint.host, endpoint.tcp_port))
                return sock
            except (ConnectionRefusedError, ConnectionResetError):
                sock.close()
                await asyncio.sleep(PAUSE_S)
            except OSError:  # the other end's dial came first, and has these two ports; or there is no way
                sock.close()
                return None
            except BaseException:
                sock.close()
                raise
        return None

    async def _dial_back(self, source: Address, endpoint: Endpoint) -> None:
        assert self._running is not None
        try:
            async with asyncio.timeout(OPEN_S):
                sock = await self._dial(source, endpoint)
        except TimeoutError:
            return
        if sock is None:
            return
        try:
            await asyncio.get_running_loop().sock_sendall(sock, DIALS + self._identity.node_id)
        except OSError:
            sock.close()
        else:
            await self._running[3](sock, endpoint.host)

    # Hand-shakes

    async def _prove(self, sock: socket.socket, peer: NodeId, host: str) -> PeerLink:
        """Prove both ends of a connection that this node opens."""
        loop = asyncio.get_running_loop()
        await loop.sock_sendall(sock, OPENS)
        first = await _read_exactly(sock, 1)
        if first == DIALS:
            await _read_exactly(sock, KEY_BYTES)
            first = await _read_exactly(sock, 1)
        if first == OPENS and self._identity.node_id > peer:
            link = await self._as_server(sock, host)
            if link.peer != peer:
                link.close()
                raise BadMessage(peer.hex(), f"{link.peer.hex()} is at its address")
            return link
        if first not in (OPENS, AGREES):
            raise BadMessage(peer.hex(), "no link is spoken there")
        reader, writer = await asyncio.open_connection(sock=sock, ssl=self._client_context, server_hostname="")
        PeerKey(peer).check(writer.transport)
        target = RequestTarget(self._network, peer, "LINK", "/")
        pass_ = sign_request(self._identity, target, b"", self._clock(), self._rng.randbytes(NONCE_BYTES))
        writer.write(frame_bytes(LinkFrame(0, ASKS, "Link", pass_.encode())))
        return PeerLink(peer, host, reader, writer, self._clock)

    async def _as_server(self, sock: socket.socket, host: str) -> PeerLink:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(loop=loop)
        protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
        context = self._server_context
        transport, _ = await loop.connect_accepted_socket(lambda: protocol, sock, ssl=context)
        hello = await read_frame(reader, HELLO_BYTES)
        target = RequestTarget(self._network, self._identity.node_id, "LINK", "/")
        signed = self._authenticator.verify(hello.body.decode("ascii", "replace"), target, self._clock())
        return PeerLink(
            signed.asker, host, reader, asyncio.StreamWriter(transport, protocol, reader, loop), self._clock
        )


async def _read_exactly(sock: socket.socket, size: int) -> bytes:
    """Read so many bytes and not one more: TLS may follow. Raises ConnectionResetError at the end."""
    loop, data = asyncio.get_running_loop(), b""
    while len(data) < size:
        chunk = await loop.sock_recv(sock, size - len(data))
        if not chunk:
            raise ConnectionResetError("the other end hung up")
        data += chunk
    return data


def dialling_socket(source: Address) -> socket.socket:
    """Return a socket bound to an address of this node; one on which it listens must allow that (SO_REUSEPORT)."""
    sock = socket.socket(socket.AF_INET6 if source.family == 6 else socket.AF_INET, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if source.family == 6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        sock.setblocking(False)
        sock.bind((source.host, source.port))
    except OSError:
        sock.close()
        raise
    return sock
