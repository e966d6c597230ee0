"""A relay passes bytes between peers that do not reach each other.

One has IPv4 only and the other IPv6 only, or both are behind NATs through which no hole can be punched.

A peer asks a relay by HTTP CONNECT on the peers' port, in plain; TLS then runs end to end through it. So the relay
learns who talks to whom and how much, and can do no more than stop. It connects only known members, and only to
endpoints at which a member has answered it. It passes on only streams that begin as TLS does, and bounds bytes, time
and tunnels. A peer behind a NAT that it introduces it has dial itself. This file reads and writes sockets; nothing is
parsed but the head.
"""

import asyncio
import logging
import socket
from collections import Counter
from collections.abc import Awaitable, Callable
from math import inf

from dht.clock import Clock
from dht.errors import DseError
from dht.keys import NodeId
from dht.transport.request_auth import RequestAuthenticator, RequestTarget
from dht.transport.small_packets import bound_packets
from dht.transport.transport import FindRelayed
from dht.wire.contact import Contact, Endpoint

log = logging.getLogger(__name__)

MAX_HEAD_BYTES = 4096
MAX_TUNNELS = 64
MAX_TUNNELS_OF_ONE = 8
MAX_TUNNEL_BYTES = 256 << 20  # a tunnel is opened anew after that
HEAD_S = 5.0
CONNECT_S = 5.0
MEET_S = 0.5  # for a member that was never asked to answer, before its endpoint is refused
TLS = b"\x16"  # how a TLS connection begins
IDLE_S = 60.0  # twice as long as a client keeps an idle connection
QUIET_S = 1.0  # a tunnel in which nothing moved for so long gives way to a new one of its asker
ANSWERED_S = 0.2  # a tunnel whose last bytes came from the peer, which has answered then, gives way after so long
ROOM_STEPS, ROOM_STEP_S = 20, 0.05  # a new tunnel waits so many steps, each so long, until another gives way
ENDING_S = 1.0  # for the other way once one has ended: a peer that froze would hold the tunnel until it is idle
CHUNK_BYTES = 64 * 1024

Moved = Callable[[bool], None]
"""Told of bytes that a tunnel passes: True where they go to the asker, False where they go to the peer."""

HaveDial = Callable[[Contact], Awaitable[socket.socket]]
"""Peer behind a NAT that this node introduces → the connection that it made to this node."""


class Tunnel:
    """One asker's connection through a relay to a peer; it begins when the peer is connected."""

    def __init__(self, client: socket.socket, clock: Clock) -> None:
        self._ends, self._clock = [client], clock
        self.yields_at = inf  # steady: from when on it gives way to another; inf: it has not begun

    def begin(self, server: socket.socket) -> None:
        """Note that the peer is connected."""
        self._ends.append(server)
        self.moved(False)

    def moved(self, is_answer: bool) -> None:
        """Note that bytes move just now, to the asker (an answer) or to the peer."""
        self.yields_at = self._clock().steady + (ANSWERED_S if is_answer else QUIET_S)

    def end(self) -> None:
        """Have both ways end."""
        for sock in self._ends:
            _end(sock, socket.SHUT_RDWR)


class Relay:
    """Opens and bounds the tunnels of one node."""

    def __init__(
        self,
        node_id: NodeId,
        network: str,
        clock: Clock,
        authenticator: RequestAuthenticator,
        have_dial: HaveDial,
    ) -> None:
        self._node_id, self._have_dial = node_id, have_dial
        self._network = network
        self._clock = clock
        self._authenticator = authenticator
        self._open: dict[NodeId, list[Tunnel]] = {}
        self._waiting: Counter[NodeId] = Counter()

    async def serve(self, client: socket.socket, find_relayed: FindRelayed) -> None:
        """Read a CONNECT request from an accepted socket, and pass bytes until one side ends. Closes the socket."""
        with client:
            try:
                async with asyncio.timeout(HEAD_S):
                    head, early = await _read_head(client)
                    asker, endpoint = self._authorise(head)
                    peer = find_relayed(asker, endpoint.host, endpoint.tcp_port)
                    if peer is None:
                        await asyncio.sleep(MEET_S)
                        peer = _permitted(find_relayed, asker, endpoint)
            except (DseError, ValueError, OSError, TimeoutError) as error:
                log.debug("relay refused reason=%s", error)
                await _reply(client, "403 Refused")
                return
            if not await self._wait_for_room(asker):
                await _reply(client, "503 Too many tunnels")
                return
            tunnel = Tunnel(client, self._clock)
            self._open.setdefault(asker, []).append(tunnel)
            try:
                await self._tunnel(client, peer, endpoint, early, tunnel)
            finally:
                self._forget(asker, tunnel)

    async def _wait_for_room(self, asker: NodeId) -> bool:
        """Whether one more tunnel may be opened, at once or in a moment."""
        if self._waiting[asker] >= MAX_TUNNELS_OF_ONE or self._waiting.total() >= MAX_TUNNELS:
            return False
        self._waiting[asker] += 1
        try:
            for _ in range(ROOM_STEPS):
                if self._has_room(asker):
                    return True
                await asyncio.sleep(ROOM_STEP_S)
            return False
        finally:
            self._waiting[asker] -= 1
            self._waiting += Counter()  # forgets those at zero

    def _has_room(self, asker: NodeId) -> bool:
        """Whether one more tunnel may be opened: an asker keeps some that it does not use, and may not know which."""
        own = self._open.get(asker, [])
        if len(own) < MAX_TUNNELS_OF_ONE and sum(map(len, self._open.values())) < MAX_TUNNELS:
            return True
        first = min(own, key=lambda tunnel: tunnel.yields_at, default=None)
        if first is None or self._clock().steady < first.yields_at:
            return False
        first.end()
        self._forget(asker, first)
        return True

    def _forget(self, asker: NodeId, tunnel: Tunnel) -> None:
        own = self._open.get(asker, [])
        if tunnel in own:
            own.remove(tunnel)
        if not own:
            self._open.pop(asker, None)

    def _authorise(self, head: bytes) -> tuple[NodeId, Endpoint]:
        """Read the signed head of a CONNECT; return the asker and the endpoint that it wants. Raises DseError or
        ValueError where the head is unsound or the signature does not prove the asker."""
        first, *lines = head.decode("ascii").split("\r\n")
        method, path, _ = first.split(" ")
        fields = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        target = RequestTarget(self._network, self._node_id, method, path)
        signed = self._authenticator.verify(fields.get("proxy-authorization", ""), target, self._clock(), once=False)
        host, _, port = path.rpartition(":")
        endpoint = Endpoint(host.strip("[]"), int(port), int(port))
        if method != "CONNECT":
            raise ValueError(f"{method} is not CONNECT")
        return signed.asker, endpoint

    async def _tunnel(
        self, client: socket.socket, peer: Contact, endpoint: Endpoint, early: bytes, tunnel: Tunnel
    ) -> None:
        try:
            async with asyncio.timeout(CONNECT_S):
                server = await (self._have_dial(peer) if peer.introducers else _connected(endpoint))
        except (OSError, TimeoutError, DseError):
            await _reply(client, "502 The peer is not there")
            return
        with server:
            tunnel.begin(server)
            await _reply(client, "200 Connected")
            await _pass_on(client, server, early, tunnel.moved)


def _permitted(find_relayed: FindRelayed, asker: NodeId, endpoint: Endpoint) -> Contact:
    peer = find_relayed(asker, endpoint.host, endpoint.tcp_port)
    if peer is None:
        raise ValueError(f"{endpoint.host}:{endpoint.tcp_port} is not where a member answered this node")
    return peer


async def _read_head(client: socket.socket) -> tuple[bytes, bytes]:
    """The head, and what already came after it; raises ValueError where it does not end in time or size."""
    loop = asyncio.get_running_loop()
    data = b""
    while b"\r\n\r\n" not in data:
        chunk = await loop.sock_recv(client, CHUNK_BYTES)
        data += chunk
        if not chunk or len(data) > MAX_HEAD_BYTES:
            raise ValueError("no complete request head")
    head, _, early = data.partition(b"\r\n\r\n")
    return head, early


async def _connected(endpoint: Endpoint) -> socket.socket:
    family = socket.AF_INET6 if endpoint.family == 6 else socket.AF_INET
    server = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
    try:
        bound_packets(server, endpoint.host)
        await asyncio.get_running_loop().sock_connect(server, (endpoint.host, endpoint.tcp_port))
    except BaseException:
        server.close()
        raise
    return server


async def _pass_on(client: socket.socket, server: socket.socket, early: bytes, moved: Moved) -> None:
    """Pass bytes both ways until one has ended, and the other has had a moment, where they begin as TLS does."""
    try:
        async with asyncio.timeout(HEAD_S):
            early = early or await asyncio.get_running_loop().sock_recv(client, CHUNK_BYTES)
    except (OSError, TimeoutError):
        return
    if early[:1] != TLS:
        return
    async with asyncio.TaskGroup() as ways:
        up = ways.create_task(_copy(client, server, early, lambda: moved(False)), name="relay-up")
        down = ways.create_task(_copy(server, client, b"", lambda: moved(True)), name="relay-down")
        _, left = await asyncio.wait({up, down}, return_when=asyncio.FIRST_COMPLETED)
        if left:
            _, left = await asyncio.wait(left, timeout=ENDING_S)
        for way in left:
            way.cancel()


async def _copy(source: socket.socket, sink: socket.socket, early: bytes, moved: Callable[[], None]) -> None:
    """Pass bytes on until the source ends, is silent for too long, or has said enough; then end the sink's way."""
    loop = asyncio.get_running_loop()
    passed = 0
    data = early or b"\0"
    try:
        if early:
            await loop.sock_sendall(sink, early)
        while data and passed < MAX_TUNNEL_BYTES:
            async with asyncio.timeout(IDLE_S):
                data = await loop.sock_recv(source, CHUNK_BYTES)
                await loop.sock_sendall(sink, data)
            moved()
            passed += len(data)
    except (OSError, TimeoutError):
        _end(source, socket.SHUT_RD)
    _end(sink, socket.SHUT_WR)


def _end(sock: socket.socket, way: int) -> None:
    try:
        sock.shutdown(way)
    except OSError:
        return  # the other end was quicker


async def _reply(client: socket.socket, status: str) -> None:
    loop = asyncio.get_running_loop()
    ending = "" if status.startswith("200") else "Content-Length: 0\r\nConnection: close\r\n"
    try:
        async with asyncio.timeout(HEAD_S):
            await loop.sock_sendall(client, f"HTTP/1.1 {status}\r\n{ending}\r\n".encode())
    except (OSError, TimeoutError):
        log.debug("relay client left early")
