"""One GET within bounds: nothing that a site sends or withholds costs more than its share.

Wraps aiohttp. Redirects are answers, cookies are not kept, bodies are read up to a bound, and left as they were coded:
whoever opens them has a second bound. The one deadline of a fetch stands at its top; the connector's and the socket's
own time limits end earlier what is plainly dead.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from ipaddress import ip_address
from pathlib import Path

import aiohttp
from aiohttp.http import HttpProcessingError

from crawl.config import CrawlConfig
from crawl.errors import AddressRefused, BadHostsFile, BodyUnreadable, FamilyMissing, FetchFailed
from crawl.fetch.bandwidth_limit import BandwidthLimit
from crawl.fetch.connections import READ_BYTES, Connections
from crawl.fetch.content_codings import OFFERED, BadCoding, check_codings
from crawl.fetch.hosts_file import parse_hosts
from crawl.fetch.resolver import Resolver, usable_addresses
from crawl.fetch.response import Fetched, broken_coding
from dht import Clock, split_url

ACCEPT = "text/html,application/xhtml+xml;q=0.9,text/plain;q=0.8,application/pdf;q=0.7,*/*;q=0.1"
ATTEMPT_EVERY_S = 0.25  # RFC 8305, 5: then the next address is tried beside the one that has not answered
_MAX_REASON_CHARS = 200
_STRAY = re.compile("[\udc80-\udcff]")  # how "surrogateescape" writes a byte that is no UTF-8


class HttpFetcher:
    """Fetches URLs over connections that are kept; `open_fetcher` makes one."""

    def __init__(self, config: CrawlConfig, connections: Connections, resolver: Resolver, clock: Clock) -> None:
        self._config, self._connections, self._resolver, self._clock = config, connections, resolver, clock
        self._bandwidth = BandwidthLimit(config.max_bytes_s)

    async def fetch(self, url: str, headers: Mapping[str, str], max_bytes: int) -> Fetched:
        """GET a canonical URL; raises FetchFailed (BodyUnreadable where the host did answer), AddressRefused or
        FamilyMissing."""
        self._check_literal(url)
        started = self._clock().steady
        try:
            async with asyncio.timeout(self._config.total_timeout_s) as deadline:
                return await self._get(url, headers, max_bytes, deadline, started)
        except TimeoutError as error:
            waited = self._clock().steady - started
            raise FetchFailed(url, f"time: nothing usable within {waited:.0f} s") from error
        except BadCoding as error:
            raise BodyUnreadable(url, broken_coding(error)) from error
        except (aiohttp.ClientError, HttpProcessingError, OSError, ValueError, EOFError) as error:
            raise FetchFailed(url, _reason(error)) from error

    async def locate(self, url: str) -> str:
        """Return the literal address that a fetch of this URL will try first, "" where none is known; never raises."""
        host = split_url(url).host
        try:
            return await self._resolver.first(host)
        except (OSError, AddressRefused, FamilyMissing):  # the fetch will say so
            return ""

    async def _get(
        self, url: str, headers: Mapping[str, str], max_bytes: int, deadline: asyncio.Timeout, started: float
    ) -> Fetched:
        response = await self._connections.get(url, headers)
        try:
            body, cut, held_s = await self._read(response.body, max_bytes, deadline)
        except BaseException:
            response.drop()
            raise
        if cut:
            response.drop()
        else:
            response.keep()
        latency_s = max(0.0, self._clock().steady - started - held_s)
        try:
            coding = check_codings(body, response.headers.get("Content-Encoding", ""))
        except BadCoding:
            if response.status == 200:
                raise
            body, coding = b"", ""  # a status speaks for itself
        return Fetched(url, response.status, _kept(response.headers), body, cut, latency_s, response.address, coding)

    async def _read(
        self, stream: aiohttp.StreamReader, max_bytes: int, deadline: asyncio.Timeout
    ) -> tuple[bytes, bool, float]:
        """Read up to `max_bytes` of the body as sent. Tell whether there was more, and how long our own limit made it
        wait: the deadline moves by that, since it is not the site's fault."""
        pieces: list[bytes] = []
        size, held_s, at_once = 0, 0.0, self._bandwidth.piece_bytes(READ_BYTES)
        while size <= max_bytes:
            piece = await stream.read(at_once)
            if not piece:
                return b"".join(pieces), False, held_s
            pieces.append(piece)
            size += len(piece)
            if self._bandwidth.is_bounded and (wait_s := self._bandwidth.take(len(piece), self._clock().steady)):
                held_s += wait_s
                deadline.reschedule((deadline.when() or 0.0) + wait_s)
                await asyncio.sleep(wait_s)
        return b"".join(pieces)[:max_bytes], True, held_s

    def late_s(self) -> float:
        """Return the seconds until the bandwidth limit lets another fetch begin."""
        return self._bandwidth.late_s(self._clock().steady)

    def _check_literal(self, url: str) -> None:
        """Judge an address in a URL, which never reaches the resolver."""
        host = split_url(url).host
        if ":" not in host and not host[-1:].isdigit():  # a name: the last label of an IPv4 address is a number
            return
        try:
            address = str(ip_address(host))
        except ValueError:
            return
        usable_addresses(host, [address], self._config)


@asynccontextmanager
async def open_fetcher(config: CrawlConfig, version: str, clock: Clock) -> AsyncIterator[HttpFetcher]:
    """Open a fetcher and its connections, closed at the end. `version`: ours, for User-Agent. Raises BadHostsFile."""
    resolver = Resolver(config, _hosts(config.hosts_file), clock)
    connector = aiohttp.TCPConnector(
        resolver=resolver,
        use_dns_cache=False,  # the resolver has its own, behind the address filter
        limit=0,  # the crawler bounds open fetches, `node/delegation/` those for peers
        keepalive_timeout=config.keepalive_s,
        happy_eyeballs_delay=ATTEMPT_EVERY_S,
    )
    fields = {"User-Agent": config.user_agent(version), "Accept": ACCEPT, "Accept-Encoding": OFFERED}
    try:
        yield HttpFetcher(config, Connections(config, connector, fields), resolver, clock)
    finally:
        await connector.close()
        await resolver.close()


def _kept(headers: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return header fields as plain str. aiohttp passes on bytes that are not UTF-8 as lone surrogates: in a URL they
    become escapes, as in browsers, elsewhere they are lost."""
    fields = [(str(name), value) for name, value in headers.items()]
    if "".join([value for _, value in fields]).isascii():  # names always are
        return tuple(fields)
    return tuple((name, _plain(name, value)) for name, value in fields)


def _plain(name: str, value: str) -> str:
    if name.lower() == "location":
        return _STRAY.sub(lambda found: f"%{ord(found[0]) - 0xDC00:02X}", value)
    return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _hosts(path: str) -> Mapping[str, tuple[str, ...]]:
    if not path:
        return {}
    try:
        return parse_hosts(Path(path).read_text("utf-8"), path)
    except (OSError, UnicodeDecodeError) as error:
        raise BadHostsFile(path, 0, getattr(error, "strerror", None) or str(error)) from error


def _reason(error: Exception) -> str:
    """Describe a failure in one line whose first word names its kind: what reports count by."""
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return "name: the host has no known address"
    if isinstance(error, aiohttp.ClientConnectorError):
        kind = "connection"
    elif isinstance(error, aiohttp.ClientPayloadError):
        return "body: it ends before it is complete"
    elif isinstance(error, aiohttp.ClientResponseError | HttpProcessingError):  # its status is no site's
        return f"protocol: {' '.join(error.message.split())}"[:_MAX_REASON_CHARS]
    elif isinstance(error, aiohttp.ServerDisconnectedError):
        return "connection: closed without an answer"
    else:
        kind = "protocol"
    text = " ".join(str(error).split()) or type(error).__name__
    return f"{kind}: {text}"[:_MAX_REASON_CHARS]
