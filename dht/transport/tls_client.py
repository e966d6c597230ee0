"""The client is the asking end of the TLS channel between nodes.

Connections are kept and shared; each is checked against the peer's node id before a byte of a request leaves. Where
peer and node share no family, aiohttp opens a CONNECT tunnel through the relay and runs the same check inside it. A
request that met a connection closed by the other end is sent once more, so messages must bear being handled twice.
"""

import asyncio
import random
import statistics
from collections.abc import Iterator
from itertools import islice
from typing import TypeVar

import aiohttp

from dht.clock import Clock
from dht.errors import BadMessage, PeerTimeout
from dht.identity.node_key import Identity
from dht.keys import NodeId
from dht.transport.certificate import PeerKey
from dht.transport.request_auth import NONCE_BYTES, RequestTarget, sign_request
from dht.transport.tls_server import TIME_HEADER
from dht.transport.transport import MAX_BODY_BYTES, PeerGone, PeerRefused, Route
from dht.wire.contact import Endpoint, Family

KEEP_S = 30.0
CONNECT_S = 3.0
TUNNEL_PASS_S = 60.0  # how long one signed CONNECT header is used again, so that its connections can be
MAX_CONNECTIONS = 256
MAX_CONNECTIONS_TO_ONE = 8
MAX_PEERS = 4096
MAX_REASON_BYTES = 1000
LEAST_CLOCKS, MOST_CLOCKS = 3, 15  # peers, those that answered last, whose clocks ours is compared with

K = TypeVar("K")
V = TypeVar("V")


class TlsClient:
    """Asks peers over TLS, on connections that are kept and shared."""

    def __init__(
        self, identity: Identity, network: str, clock: Clock, rng: random.Random, families: frozenset[Family]
    ) -> None:
        self._identity = identity
        self._network = network
        self._clock = clock
        self._rng = rng
        self._families = families
        self._session: aiohttp.ClientSession | None = None
        self._closed = False
        self._keys: dict[NodeId, PeerKey] = {}
        self._passes: dict[tuple[NodeId, str], tuple[float, str]] = {}
        self._offsets: dict[NodeId, float] = {}

    async def close(self) -> None:
        """Close all connections; whatever is asked after that raises PeerTimeout."""
        self._closed = True
        if self._session is not None:
            await self._session.close()
            self._session = None

    def clock_offset_s(self) -> float:
        """Return how far ahead of this node's wall clock those of its peers are; 0 before enough have answered. It is
        the median of what the last peers said with their answers: one of them with a wrong clock moves it little."""
        last = list(islice(reversed(self._offsets.values()), MOST_CLOCKS))
        return statistics.median(last) if len(last) >= LEAST_CLOCKS else 0.0

    async def ask(self, route: Route, name: str, body: bytes, *, timeout_s: float) -> bytes:
        """Send one message; raises PeerTimeout, PeerGone, BadMessage or PeerRefused."""
        began = self._clock().steady
        peer = route.peer.node_id
        if len(body) > MAX_BODY_BYTES:
            raise BadMessage(peer.hex(), f"{name} of {len(body)} bytes, at most {MAX_BODY_BYTES} are carried")
        try:
            async with asyncio.timeout(timeout_s):
                return await self._try_endpoints(route, name, body)
        except TimeoutError:
            raise PeerTimeout(peer.hex(), timeout_s) from None
        except aiohttp.ServerFingerprintMismatch as error:
            raise BadMessage(peer.hex(), f"another key answers at {error.host}:{error.port}") from None
        except (aiohttp.ClientProxyConnectionError, aiohttp.ClientHttpProxyError):
            raise PeerTimeout(peer.hex(), self._clock().steady - began) from None
        except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError, ConnectionError):
            raise PeerGone(peer.hex(), self._clock().steady - began) from None
        except aiohttp.ClientError as error:
            raise BadMessage(peer.hex(), f"no proper HTTP answer ({type(error).__name__}: {error})") from None

    async def _try_endpoints(self, route: Route, name: str, body: bytes) -> bytes:
        """Try the families in turn, and once more where a kept connection proved closed."""
        pairs = list(self._endpoints(route))
        if not pairs or self._closed:
            raise PeerTimeout(route.peer.node_id.hex(), 0.0)
        for last, (endpoint, proxy) in ((pair is pairs[-1], pair) for pair in pairs):
            for again in (True, False):
                try:
                    return await self._post(route, endpoint, proxy, name, body)
                except (aiohttp.ServerDisconnectedError, ConnectionResetError, BrokenPipeError):
                    if not again and last:
                        raise
                except (aiohttp.ClientConnectorError, aiohttp.ServerTimeoutError):
                    if last:
                        raise
                    break
        raise PeerTimeout(route.peer.node_id.hex(), 0.0)

    def _endpoints(self, route: Route) -> Iterator[tuple[Endpoint, Endpoint | None]]:
        """(endpoint of the peer, endpoint of the relay or None), best first."""
        if route.relay is None:
            yield from ((e, None) for e in route.peer.endpoints if e.family in self._families)
            return
        ours = [e for e in route.relay.endpoints if e.family in self._families]
        theirs = [e for e in route.peer.endpoints if e.family in route.relay.families]
        yield from ((e, relay) for e in theirs for relay in ours)

    async def _post(self, route: Route, endpoint: Endpoint, proxy: Endpoint | None, name: str, body: bytes) -> bytes:
        peer, path, now = route.peer.node_id, f"/v1/{name}", self._clock()
        target = RequestTarget(self._network, peer, "POST", path)
        headers = {"Authorization": sign_request(self._identity, target, body, now, self._nonce())}
        through = {"Proxy-Authorization": self._pass(route, endpoint)} if proxy is not None else None
        async with self._connections().post(
            f"https://{_authority(endpoint)}{path}",
            data=body,
            headers=headers,
            ssl=self._key(peer),
            proxy=f"http://{_authority(proxy)}" if proxy is not None else None,
            proxy_headers=through,
            allow_redirects=False,
        ) as response:
            self._note_time(peer, response.headers.get(TIME_HEADER, ""))
            return await self._read(peer, response, now.steady)

    async def _read(self, peer: NodeId, response: aiohttp.ClientResponse, began: float) -> bytes:
        limit = MAX_BODY_BYTES if response.status == 200 else MAX_REASON_BYTES
        body = bytearray()
        while chunk := await response.content.readany():
            body += chunk
            if len(body) > limit:
                break
        if response.status in (429, 503):
            raise PeerTimeout(peer.hex(), self._clock().steady - began)
        if response.status != 200:
            raise PeerRefused(peer.hex(), _printable(bytes(body[:limit])), response.status)
        if len(body) > limit:
            raise BadMessage(peer.hex(), f"answer longer than {limit} bytes")
        return bytes(body)

    def _connections(self) -> aiohttp.ClientSession:
        if self._session is None:
            connector = aiohttp.TCPConnector(
                limit=MAX_CONNECTIONS,
                limit_per_host=MAX_CONNECTIONS_TO_ONE,
                keepalive_timeout=KEEP_S,
                use_dns_cache=False,
            )
            self._session = aiohttp.ClientSession(
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S),
                auto_decompress=False,
                trust_env=False,
                skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding"),
                max_line_size=2048,
                max_field_size=2048,
            )
        return self._session

    def _pass(self, route: Route, endpoint: Endpoint) -> str:
        """The signed header of a CONNECT to an endpoint through the route's relay."""
        assert route.relay is not None
        relay, path, now = route.relay.node_id, _authority(endpoint), self._clock()
        made_at, header = self._passes.get((relay, path), (-TUNNEL_PASS_S, ""))
        if now.steady - made_at >= TUNNEL_PASS_S:
            target = RequestTarget(self._network, relay, "CONNECT", path)
            header = sign_request(self._identity, target, b"", now, self._nonce())
            _bounded_set(self._passes, (relay, path), (now.steady, header))
        return header

    def _key(self, peer: NodeId) -> PeerKey:
        if peer not in self._keys:
            _bounded_set(self._keys, peer, PeerKey(peer))
        return self._keys[peer]

    def _note_time(self, peer: NodeId, text: str) -> None:
        try:
            offset = float(text) - self._clock().wall
        except ValueError:
            return
        if abs(offset) < 1e9:
            _bounded_set(self._offsets, peer, offset)

    def _nonce(self) -> bytes:
        return self._rng.randbytes(NONCE_BYTES)


def _bounded_set(memory: dict[K, V], key: K, value: V) -> None:
    """Remember a value, forgetting the oldest above MAX_PEERS."""
    memory.pop(key, None)
    if len(memory) >= MAX_PEERS:
        del memory[next(iter(memory))]
    memory[key] = value


def _authority(endpoint: Endpoint) -> str:
    host = f"[{endpoint.host}]" if endpoint.family == 6 else endpoint.host
    return f"{host}:{endpoint.tcp_port}"


def _printable(body: bytes) -> str:
    """A peer's text, safe to show in one line."""
    text = body.decode("utf-8", "replace")
    return "".join(c if c.isprintable() else " " for c in text)
