"""The client is the asking end of the TLS channel between nodes.

Connections are kept and shared; each is checked against the peer's node id before a byte of a request leaves. Where a
route has a relay, aiohttp opens a CONNECT tunnel through it and runs the same check inside. A request that met a
connection closed by the other end is sent once more, so messages must bear being handled twice.
"""

import asyncio
import errno
import random
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, nullcontext, suppress

import aiohttp

from dht.clock import Clock
from dht.errors import BadMessage, PeerTimeout
from dht.identity.node_key import Identity
from dht.keys import NodeId
from dht.membership.working_families import WorkingFamilies
from dht.rate_limit import remember
from dht.transport.certificate import PeerKey
from dht.transport.giving_way import LONG_BYTES, GivingWay
from dht.transport.request_auth import NONCE_BYTES, RequestTarget, sign_request
from dht.transport.small_packets import small_packet_socket
from dht.transport.tls_server import TIME_HEADER
from dht.transport.transport import (
    MAX_BODY_BYTES,
    MAX_REASON_BYTES,
    HearTime,
    NoConnection,
    PeerGone,
    PeerRefused,
    Route,
    printable,
)
from dht.wire.contact import Endpoint

KEEP_S = 30.0
TUNNEL_PASS_S = 60.0  # how long one signed CONNECT header is used again, so that its connections can be
MAX_CONNECTIONS = 256
MAX_CONNECTIONS_TO_ONE = 8
TUNNELS_TO_ONE = 3  # at once through one relay, which bears eight of this node: several peers may be behind it
MAX_PEERS = 4096
NO_WAY = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EADDRNOTAVAIL, errno.ENETDOWN, errno.EACCES, errno.EPERM)
LONGER = 4  # times its timeout a message may take while long bodies move

Moved = Callable[[], None]


class TlsClient:
    """Asks peers over TLS, on connections that are kept and shared."""

    def __init__(
        self,
        identity: Identity,
        network: str,
        clock: Clock,
        rng: random.Random,
        families: WorkingFamilies,
        hear_time: HearTime,
    ) -> None:
        self._identity = identity
        self._network = network
        self._clock = clock
        self._rng = rng
        self._families = families
        self._session: aiohttp.ClientSession | None = None
        self._retired: aiohttp.ClientSession | None = None
        self._line = GivingWay()
        self._closed = False
        self._keys: dict[NodeId, PeerKey] = {}
        self._passes: dict[tuple[NodeId, str], tuple[float, str]] = {}
        self._tunnels: dict[tuple[NodeId, NodeId], asyncio.Semaphore] = {}  # by relay and peer
        self._hear_time = hear_time

    async def close(self) -> None:
        """Close all connections; whatever is asked after that raises PeerTimeout."""
        self._closed = True
        for session in (self._session, self._retired):
            if session is not None:
                await session.close()
        self._session = self._retired = None

    async def renew(self) -> None:
        """Ask over new connections from now on; what is asked over the others may still be answered."""
        if self._retired is not None:
            await self._retired.close()
        self._session, self._retired = None, self._session

    async def ask(self, route: Route, name: str, body: bytes, *, timeout_s: float) -> bytes:
        """Send one message; raises PeerTimeout, NoConnection, PeerGone, BadMessage or PeerRefused. `timeout_s` is for
        silence: while long bodies move it begins anew, for LONGER times as long in all."""
        began = self._clock().steady
        peer = route.peer.node_id
        if len(body) > MAX_BODY_BYTES:
            raise BadMessage(peer.hex(), f"{name} of {len(body)} bytes, at most {MAX_BODY_BYTES} are carried")
        try:
            async with asyncio.timeout(timeout_s) as silence, self._turn(route):
                return await self._try_endpoints(route, name, body, _postponing(silence, timeout_s))
        except aiohttp.ConnectionTimeoutError:
            raise NoConnection(peer.hex(), self._clock().steady - began) from None
        except TimeoutError:
            raise PeerTimeout(peer.hex(), timeout_s) from None
        except aiohttp.ServerFingerprintMismatch as error:
            raise BadMessage(peer.hex(), f"another key answers at {error.host}:{error.port}") from None
        except (aiohttp.ClientProxyConnectionError, aiohttp.ClientHttpProxyError) as error:
            reason = f"the relay passes nothing on ({error})"
            raise PeerTimeout(peer.hex(), self._clock().steady - began, reason) from None
        except (aiohttp.ClientConnectionError, ConnectionError) as error:
            if isinstance(error, OSError) and error.errno in NO_WAY:
                raise NoConnection(peer.hex(), self._clock().steady - began) from None
            raise PeerGone(peer.hex(), self._clock().steady - began) from None
        except aiohttp.ClientError as error:
            raise BadMessage(peer.hex(), f"no proper HTTP answer ({type(error).__name__}: {error})") from None

    async def _try_endpoints(self, route: Route, name: str, body: bytes, moved: Moved) -> bytes:
        """Try the families in turn, and once more where a kept connection proved closed."""
        pairs = list(self._endpoints(route))
        if not pairs or self._closed:
            raise NoConnection(route.peer.node_id.hex(), 0.0)
        for last, (endpoint, proxy) in ((pair is pairs[-1], pair) for pair in pairs):
            for again in (True, False):
                try:
                    return await self._post(route, endpoint, proxy, name, body, moved)
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
        families = self._families.towards_peers
        if route.relay is None:
            yield from ((e, None) for e in route.peer.endpoints if e.family in families)
            return
        ours = [e for e in route.relay.endpoints if e.family in families]
        theirs = [e for e in route.peer.endpoints if e.family in route.relay.families]
        yield from ((e, relay) for e in theirs for relay in ours)

    async def _post(
        self, route: Route, endpoint: Endpoint, proxy: Endpoint | None, name: str, body: bytes, moved: Moved
    ) -> bytes:
        peer, path, now = route.peer.node_id, f"/v1/{name}", self._clock()
        target = RequestTarget(self._network, peer, "POST", path)
        headers = {"Authorization": sign_request(self._identity, target, body, now, self._nonce())}
        through = {"Proxy-Authorization": self._pass(route, endpoint)} if proxy is not None else None
        tunnel_s = route.connect_s if proxy is not None else None  # a relay that froze still takes connections
        async with self._connections().post(
            f"https://{_authority(endpoint)}{path}",
            data=self._line.payload(body, moved),
            headers=headers,
            ssl=self._key(peer),
            proxy=f"http://{_authority(proxy)}" if proxy is not None else None,
            proxy_headers=through,
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(total=None, connect=tunnel_s, sock_connect=route.connect_s),
        ) as response:
            self._note_time(peer, response.headers.get(TIME_HEADER, ""))
            return await self._read(peer, response, now.steady, moved)

    async def _read(self, peer: NodeId, response: aiohttp.ClientResponse, began: float, moved: Moved) -> bytes:
        limit = MAX_BODY_BYTES if response.status == 200 else MAX_REASON_BYTES
        body, heard = bytearray(), 0
        while chunk := await next_piece(response):
            body += chunk
            if len(body) > limit:
                break
            if len(body) > heard + LONG_BYTES:  # not for every byte: a peer could drip
                heard = len(body)
                moved()
        if response.status in (429, 503):
            raise PeerTimeout(peer.hex(), self._clock().steady - began, "it is busy")
        if response.status != 200:
            raise PeerRefused(peer.hex(), printable(bytes(body[:limit])), response.status)
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
                socket_factory=small_packet_socket,
            )
            self._session = aiohttp.ClientSession(
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),
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
            remember(self._passes, (relay, path), (now.steady, header), MAX_PEERS)
        return header

    def _turn(self, route: Route) -> AbstractAsyncContextManager[None]:
        """Return a context in which a question may be asked: one through a relay waits there until fewer than
        TUNNELS_TO_ONE others go to that peer."""
        if route.relay is None:
            return nullcontext()
        ends = route.relay.node_id, route.peer.node_id
        if ends not in self._tunnels:
            remember(self._tunnels, ends, asyncio.Semaphore(TUNNELS_TO_ONE), MAX_PEERS)
        return self._tunnels[ends]

    def _key(self, peer: NodeId) -> PeerKey:
        if peer not in self._keys:
            remember(self._keys, peer, PeerKey(peer), MAX_PEERS)
        return self._keys[peer]

    def _note_time(self, peer: NodeId, text: str) -> None:
        with suppress(ValueError):
            self._hear_time(peer, float(text))

    def _nonce(self) -> bytes:
        return self._rng.randbytes(NONCE_BYTES)


async def next_piece(response: aiohttp.ClientResponse) -> bytes:
    """Read some of a body; raises ConnectionAbortedError where the connection was given up meanwhile (`renew`)."""
    try:
        return await response.content.readany()
    except RuntimeError as error:  # so aiohttp says that it is closed
        raise ConnectionAbortedError(str(error)) from error


def _authority(endpoint: Endpoint) -> str:
    host = f"[{endpoint.host}]" if endpoint.family == 6 else endpoint.host
    return f"{host}:{endpoint.tcp_port}"


def _postponing(silence: asyncio.Timeout, timeout_s: float) -> Moved:
    """Return a function to call when bytes have moved. It postpones the timeout to `timeout_s` from then, but never
    beyond LONGER times `timeout_s` from now."""
    loop = asyncio.get_running_loop()
    ends = loop.time() + LONGER * timeout_s

    def moved() -> None:
        if not silence.expired():
            silence.reschedule(min(loop.time() + timeout_s, ends))

    return moved
