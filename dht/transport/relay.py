"""A relay passes bytes between a peer that has one address family only and one that has the other only.

A relay is asked by HTTP CONNECT on the peers' port, in plain; TLS then runs end to end through it, so it learns who
talks to whom and how much, and can do no more than stop. It connects to endpoints at which a member has answered it
only, for known members only, passes nothing on but what begins as TLS does, and bounds bytes, time and
tunnels. This file reads and writes sockets; nothing is parsed but the head.
"""

import asyncio
import logging
import socket
from collections import Counter

from dht.clock import Clock
from dht.errors import DseError
from dht.keys import NodeId
from dht.transport.request_auth import RequestAuthenticator, RequestTarget
from dht.transport.small_packets import bound_packets
from dht.transport.transport import MayRelay
from dht.wire.contact import Endpoint

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
CHUNK_BYTES = 64 * 1024


class Relay:
    """Opens and bounds the tunnels of one node."""

    def __init__(self, node_id: NodeId, network: str, clock: Clock, authenticator: RequestAuthenticator) -> None:
        self._node_id = node_id
        self._network = network
        self._clock = clock
        self._authenticator = authenticator
        self._open: Counter[NodeId] = Counter()

    async def serve(self, client: socket.socket, may_relay: MayRelay) -> None:
        """Read a CONNECT request from an accepted socket, and pass bytes until one side ends. Closes the socket."""
        with client:
            try:
                async with asyncio.timeout(HEAD_S):
                    head, early = await _read_head(client)
                    asker, endpoint = self._authorise(head)
                    if not may_relay(asker, endpoint.host, endpoint.tcp_port):
                        await asyncio.sleep(MEET_S)
                        _permit(may_relay, asker, endpoint)
            except (DseError, ValueError, OSError, TimeoutError) as error:
                log.debug("relay refused reason=%s", error)
                await _reply(client, "403 Refused")
                return
            if self._open.total() >= MAX_TUNNELS or self._open[asker] >= MAX_TUNNELS_OF_ONE:
                await _reply(client, "503 Too many tunnels")
                return
            self._open[asker] += 1
            try:
                await _tunnel(client, endpoint, early)
            finally:
                self._open[asker] -= 1
                self._open += Counter()  # forgets those at zero

    def _authorise(self, head: bytes) -> tuple[NodeId, Endpoint]:
        """Who asks, and to where; raises DseError or ValueError where that is not proved."""
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


def _permit(may_relay: MayRelay, asker: NodeId, endpoint: Endpoint) -> None:
    if not may_relay(asker, endpoint.host, endpoint.tcp_port):
        raise ValueError(f"{endpoint.host}:{endpoint.tcp_port} is not where a member answered this node")


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


async def _tunnel(client: socket.socket, endpoint: Endpoint, early: bytes) -> None:
    family = socket.AF_INET6 if endpoint.family == 6 else socket.AF_INET
    loop = asyncio.get_running_loop()
    with socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK) as server:
        bound_packets(server, endpoint.host)
        try:
            async with asyncio.timeout(CONNECT_S):
                await loop.sock_connect(server, (endpoint.host, endpoint.tcp_port))
        except (OSError, TimeoutError):
            await _reply(client, "502 The peer is not there")
            return
        await _reply(client, "200 Connected")
        try:
            async with asyncio.timeout(HEAD_S):
                early = early or await loop.sock_recv(client, CHUNK_BYTES)
        except (OSError, TimeoutError):
            return
        if early[:1] != TLS:
            return
        async with asyncio.TaskGroup() as ways:
            ways.create_task(_copy(client, server, early), name="relay-up")
            ways.create_task(_copy(server, client, b""), name="relay-down")


async def _copy(source: socket.socket, sink: socket.socket, early: bytes) -> None:
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
