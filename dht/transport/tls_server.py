"""The server is the answering end of the TLS channel: one TCP listener a family on the peers' port.

The first byte of a connection shows its kind. 0x16 begins a TLS handshake and goes to aiohttp's server protocol, "C"
begins a CONNECT for the relay, "L" and "D" a link. Any other connection is closed. A request proves its sender before
its body is read; who proves nothing within PROVE_S is disconnected. Bodies, connections, requests a peer and bytes in
memory are bounded.
"""

import asyncio
import logging
import re
import socket
from collections import Counter
from functools import partial
from hashlib import sha256
from random import Random

from aiohttp import web

from dht.clock import Clock
from dht.errors import BadMessage, BadSignature, InputError, LocalError, PortMissing, RemoteError
from dht.identity.node_key import Identity
from dht.keys import NodeId
from dht.local_faults import LocalFaults
from dht.rate_limit import RateLimiter
from dht.supervisor import STRICT, Supervisor
from dht.transport.certificate import server_context
from dht.transport.doorway import PEERS, Visitor
from dht.transport.giving_way import GivingWay
from dht.transport.listener import Listener, library_log
from dht.transport.peer_links import DIALS, OPENS, PeerLinks
from dht.transport.relay import Relay
from dht.transport.request_auth import RequestAuthenticator, RequestTarget, VerifiedRequest
from dht.transport.transport import MAX_BODY_BYTES, Answerer, FindRelayed, IsMember, Reach
from dht.wire.contact import Address

log = logging.getLogger(__name__)

PATH = re.compile(r"/v1/([A-Za-z][A-Za-z0-9]{0,63})")
TIME_HEADER = "Dse-Time"

MAX_REQUESTS_OF_ONE = 16  # answered at once for one peer
MAX_BYTES_HELD = 64 << 20  # of request bodies at once
MAX_BYTES_HELD_OF_ONE = 16 << 20  # two of the largest bodies: one identity cannot shut the others out
REQUESTS_S, REQUESTS_BURST = 200.0, 400.0  # taken from one peer a second
ANSWER_S = 60.0
STOP_S = 1.0  # for the requests in progress when the node stops
KEEP_S = 75.0  # longer than the client keeps a connection, so that no request meets a closing one


class TlsServer:
    """Listens for requests, proves who asks, and hands each message to the answerer."""

    def __init__(
        self,
        identity: Identity,
        network: str,
        clock: Clock,
        addresses: tuple[Address, ...],
        rng: Random,
        faults: LocalFaults,
    ) -> None:
        """`addresses`: what to listen on, at most one a family."""
        self._faults, self._node_id = faults, identity.node_id
        self._network = network
        self._clock = clock
        self._addresses = addresses
        self._context, self._authenticator = server_context(identity), RequestAuthenticator()
        ports = {address.family: address for address in addresses}
        self.links = PeerLinks(identity, network, clock, rng, self._context, self._authenticator, ports)
        self._relay = Relay(identity.node_id, network, clock, self._authenticator, self.links.have_dial)
        self._line = GivingWay()
        self._buckets = RateLimiter(REQUESTS_S, REQUESTS_BURST)
        self._busy: Counter[NodeId] = Counter()
        self._bytes_held: Counter[NodeId] = Counter()
        self._listener = Listener(PEERS, clock)
        self._is_member: IsMember = lambda host, peer: False
        self._bound: list[socket.socket] = []  # until `run` accepts on them

    def bind(self) -> None:
        """Take the ports, as `run` does otherwise, so that a taken one ends a start early. Raises PortMissing."""
        self._bound = self._bound or [_listen(address) for address in self._addresses]

    async def run(
        self,
        answerer: Answerer,
        find_relayed: FindRelayed,
        reach: Reach,
        is_member: IsMember,
        supervisor: Supervisor = STRICT,
    ) -> None:
        """Listen until cancelled; raises LocalError where a port is taken, or where answering broke this node."""
        broken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._is_member = is_member
        server = self._make_server(answerer, broken)
        self.bind()
        listeners, self._bound = self._bound, []

        async def greet(sock: socket.socket, host: str) -> None:
            await self._greet(sock, host, server, find_relayed)

        try:
            async with asyncio.TaskGroup() as tasks:
                start = partial(supervisor.start, tasks)

                async def take(sock: socket.socket, host: str) -> None:
                    supervisor.start_once(tasks, "channel-greet", partial(greet, sock, host))

                for listener in listeners:
                    start("channel-accept", partial(self._listener.accept, listener, self._faults, take))
                start("channel-links", partial(self.links.run, answerer, reach, greet, supervisor))
                start("channel-sweep", self._listener.sweep)
                await broken
        finally:
            for listener in listeners:
                listener.close()
            server.pre_shutdown()
            await server.shutdown(timeout=STOP_S)

    def _make_server(self, answerer: Answerer, broken: "asyncio.Future[None]") -> web.Server:
        """Make what speaks HTTP on the connections; where answering breaks this node, `broken` has the error."""

        async def handle(request: web.BaseRequest) -> web.StreamResponse:
            try:
                return await self._respond(request, answerer)
            except LocalError as error:
                if not broken.done():
                    broken.set_exception(error)
                return self._answer(500, b"this node is stopping")

        return web.Server(
            handle,
            keepalive_timeout=KEEP_S,
            access_log=None,
            logger=library_log("dht.transport.requests"),
            auto_decompress=False,
            max_line_size=2048,
            max_field_size=2048,
            lingering_time=1.0,
        )

    async def _greet(self, sock: socket.socket, host: str, server: web.Server, find_relayed: FindRelayed) -> None:
        """Find out what a new connection is, and pass it on. A relayed one, or a link, is served here until it ends."""
        task = asyncio.current_task()
        assert task is not None
        visitor = Visitor(host, self._clock().steady, task.cancel, task.done, self._is_member(host, None))
        if not self._listener.doorway.enter(visitor):
            sock.close()
            return
        is_passed_on, first = False, b""
        try:
            sock.setblocking(False)
            first = await _peek(sock)
            if first == b"C":
                visitor.has_proved = True  # the relay and the links have bounds of their own
                await self._relay.serve(sock, find_relayed)
            elif first == OPENS:
                visitor.has_proved = True
                await self.links.accept(sock, host)
            elif first == DIALS:
                await self.links.meet(sock)
            elif first == b"\x16":
                await self._listener.hand_over(sock, visitor, server(), self._context)
                is_passed_on = True
            else:
                sock.close()
        except (OSError, TimeoutError, RemoteError, asyncio.IncompleteReadError) as error:
            log.debug("connection given up from=%s reason=%s", host, error)
            sock.close()
        finally:
            if not first:  # else it is another's to close
                sock.close()
            if not is_passed_on:
                self._listener.doorway.left(visitor)

    async def _respond(self, request: web.BaseRequest, answerer: Answerer) -> web.Response:
        """Answer one request; every way that it can be wrong is a status and a line of text."""
        try:
            named = PATH.fullmatch(request.path)
            if request.method != "POST" or named is None:
                return self._answer(404, b"POST /v1/<MessageName>")
            target = RequestTarget(self._network, self._node_id, "POST", request.path)
            signed = self._authenticator.verify(request.headers.get("Authorization", ""), target, self._clock())
        except (BadMessage, BadSignature) as error:
            return self._answer(401, str(error).encode())
        if (visitor := self._listener.visitor_of(request.protocol)) is not None:
            visitor.has_proved = True
            visitor.is_member = visitor.is_member or self._is_member(visitor.host, signed.asker)
        length = request.content_length
        if length is None or length > MAX_BODY_BYTES:
            return self._answer(413, f"a body has a length, at most {MAX_BODY_BYTES} bytes".encode())
        if not self._admits(signed.asker, length):
            return self._answer(429, b"too many requests at once; ask again later")
        self._busy[signed.asker] += 1
        self._bytes_held[signed.asker] += length
        try:
            async with asyncio.timeout(ANSWER_S):
                return await self._fulfil(request, named[1], signed, answerer)
        except (RemoteError, InputError) as error:
            return self._answer(422, str(error).encode()[:1000])
        except TimeoutError:
            return self._answer(503, b"this took too long")
        finally:
            self._bytes_held[signed.asker] -= length
            self._busy[signed.asker] -= 1
            for counter in (self._bytes_held, self._busy):
                if not counter[signed.asker]:
                    del counter[signed.asker]

    def _admits(self, asker: NodeId, length: int) -> bool:
        return (
            self._busy[asker] < MAX_REQUESTS_OF_ONE
            and self._bytes_held[asker] + length <= MAX_BYTES_HELD_OF_ONE
            and self._bytes_held.total() + length <= MAX_BYTES_HELD
            and self._buckets.take(asker, self._clock().steady)
        )

    async def _fulfil(
        self, request: web.BaseRequest, name: str, signed: VerifiedRequest, answerer: Answerer
    ) -> web.Response:
        body = bytearray()
        while chunk := await request.content.readany():
            body += chunk
            if len(body) > MAX_BODY_BYTES:
                return self._answer(413, b"the body is longer than it said")
        data = bytes(body)
        if sha256(data).digest() != signed.digest:
            return self._answer(401, b"the body is not the one that was signed")
        return self._answer(200, await answerer(signed.asker, name, data, request.remote or ""))

    def _answer(self, status: int, body: bytes) -> web.Response:
        kind = "application/msgpack" if status == 200 else "text/plain"
        headers = {TIME_HEADER: f"{self._clock().wall:.3f}", "Content-Type": kind}
        return web.Response(status=status, body=self._line.payload(body), headers=headers)


def _listen(address: Address) -> socket.socket:
    """A listening socket of one family; raises PortMissing."""
    family = socket.AF_INET6 if address.family == 6 else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        sock.setblocking(False)
        sock.bind((address.host, address.port))
        sock.setsockopt(
            socket.SOL_SOCKET, socket.SO_REUSEPORT, 1
        )  # from now on: `peer_links` dials from this port, too
        sock.listen(256)
    except OSError as error:
        sock.close()
        raise PortMissing.of_peers("TCP", address.host, address.port, error) from None
    return sock


async def _peek(sock: socket.socket) -> bytes:
    """The first byte of a connection, left unread; b"" at its end."""
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    try:
        loop.add_reader(sock, readable.set)
    except RuntimeError as error:  # uvloop: somebody closed the handle of another connection, whose number this one got
        sock.detach()  # that connection closes it: closed here, it would be closed twice, and hit a third one
        log.warning("a connection is lost: its handle was that of another, closed under it: %s", error)
        raise ConnectionAbortedError(str(error)) from error
    try:
        await readable.wait()
    finally:
        loop.remove_reader(sock)
    return sock.recv(1, socket.MSG_PEEK)
