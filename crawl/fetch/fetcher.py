"""One GET within bounds: nothing that a site sends or withholds costs more than its share.

Wraps aiohttp. Redirects are answers, cookies are not kept, bodies are read up to a bound, and left as they were coded:
whoever opens them has a second bound. The one deadline of a fetch stands at its top; the connector's and the socket's
own time limits end earlier what is plainly dead.
"""

import asyncio
import errno
import re
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import cache, partial
from ipaddress import ip_address
from pathlib import Path

import aiohttp
from aiohttp.http import HttpProcessingError

from crawl.config import CrawlConfig
from crawl.errors import AddressRefused, BadHostsFile, BodyUnreadable, FamilyMissing, FetchFailed
from crawl.fetch.address_filter import refuse_port
from crawl.fetch.bandwidth_limit import BandwidthLimit
from crawl.fetch.connections import READ_BYTES, Connections, Response, TooMuchBeside
from crawl.fetch.content_codings import BadCoding, check_codings
from crawl.fetch.fetch_meter import FetchMeter
from crawl.fetch.request_signer import RequestSigner
from crawl.fetch.resolver import Resolver, parse_hosts
from crawl.fetch.response import BodyShort, Fetched, JudgeAddress, broken_coding
from crawl.fetch.sent_request import FORM, FORMS, read_sent_head
from dht import (
    Address,
    Clock,
    FaultSite,
    LocalFaults,
    MachineRefuses,
    WorkingFamilies,
    refused,
    small_packet_socket,
    split_url,
)

ATTEMPT_EVERY_S = 0.25  # RFC 8305, 5: then the next address is tried beside the one that has not answered
NO_WAY = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EADDRNOTAVAIL, errno.ENETDOWN)  # out of this machine
NO_HANDLES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)  # left on this machine
HANDLE_AGAIN_S = 1.0  # until one is asked for again
ENDS_EARLY = "body: it ends before it is complete"
MAX_FIELD_CHARS = 8_190  # a longer field is dropped (RFC 9110, 5.4): it is a policy, and nothing that a crawler reads
_MAX_REASON_CHARS = 200
_LEGACY_SERVER_CONNECT = 4  # SSL_OP_LEGACY_SERVER_CONNECT, which Python names from 3.12 on
_STRAY = re.compile("[\udc80-\udcff]")  # how "surrogateescape" writes a byte that is no UTF-8


class HttpFetcher:
    """Fetches URLs over connections that are kept; `open_fetcher` makes one."""

    def __init__(
        self,
        config: CrawlConfig,
        connections: Connections,
        resolver: Resolver,
        families: WorkingFamilies,
        clock: Clock,
        faults: LocalFaults,
        meter: FetchMeter,
    ) -> None:
        self._faults, self.meter = faults, meter
        self._config, self._connections, self._resolver, self._clock = config, connections, resolver, clock
        self._families = families
        self.bandwidth = BandwidthLimit(config.max_bytes_s)

    async def fetch(self, url: str, headers: Mapping[str, str], max_bytes: int) -> Fetched:
        """GET a canonical URL; raises FetchFailed (BodyUnreadable where the host did answer), AddressRefused or
        FamilyMissing. Where this machine has no handle left it waits for one, which is no fault of the site's."""
        while True:
            try:
                fetched = await self._fetch(url, headers, max_bytes)
            except MachineRefuses as error:
                self._faults.begin(FaultSite.HANDLES, error)
                await asyncio.sleep(HANDLE_AGAIN_S)
                continue
            except FetchFailed:
                self.meter.note_failure()
                raise
            self._faults.end(FaultSite.HANDLES)
            self.meter.note_answer(fetched.status, fetched.latency_s)
            return fetched

    async def _fetch(self, url: str, headers: Mapping[str, str], max_bytes: int) -> Fetched:
        host, started = split_url(url).host, self._clock().steady
        _check_port(url)
        if _is_literal(host):
            await self._resolver.usable(host)  # it never reaches the resolver by itself
        try:
            async with asyncio.timeout(self._config.total_timeout_s) as deadline:
                return await self._get(url, headers, max_bytes, deadline, started)
        except TimeoutError as error:
            if isinstance(error, aiohttp.ConnectionTimeoutError):
                await self._blame(host, error)
            waited = self._clock().steady - started
            raise FetchFailed(url, f"time: nothing usable within {waited:.0f} s") from error
        except BadCoding as error:
            raise BodyUnreadable(url, broken_coding(error)) from error
        except TooMuchBeside as error:
            raise BodyUnreadable(url, f"body: {error}") from error
        except aiohttp.ClientConnectorError as error:
            if error.errno in NO_HANDLES:
                raise refused("connections to sites", error) from error
            await self._blame(host, error)
            raise FetchFailed(url, _reason(error)) from error
        except (aiohttp.ClientError, HttpProcessingError, OSError, ValueError, EOFError) as error:
            raise FetchFailed(url, _reason(error)) from error

    async def _blame(self, host: str, error: OSError) -> None:
        """Learn from a connection that did not come about; raises FamilyMissing where it was for want of a way out."""
        if isinstance(error, aiohttp.ClientConnectorDNSError):
            return
        addresses, now = await self._resolver.usable(host), self._clock().steady
        tried = {Address(address, 0).family for address in addresses}
        if len(tried) > 1:
            return
        (family,) = tried
        if error.errno in NO_WAY and not self._families.is_proven(family, now):
            raise FamilyMissing(host, family)
        if isinstance(error, aiohttp.ConnectionTimeoutError) or error.errno == errno.ETIMEDOUT:
            self._families.silent(addresses[0], now)

    async def find_way(self, url: str) -> None:
        """Find addresses of a URL's host that this machine has a way to; raises FetchFailed, AddressRefused or
        FamilyMissing as a fetch would."""
        _check_port(url)
        try:
            await self._resolver.usable(split_url(url).host)
        except OSError as error:
            raise FetchFailed(url, _reason(error)) from error

    async def locate(self, url: str) -> str:
        """Return the literal address that a fetch of this URL will try first, "" where none is known; never raises."""
        host = split_url(url).host
        try:
            return (await self._resolver.usable(host))[0]
        except (OSError, AddressRefused, FamilyMissing):  # the fetch will say so
            return ""

    async def _get(
        self, url: str, headers: Mapping[str, str], max_bytes: int, deadline: asyncio.Timeout, started: float
    ) -> Fetched:
        response = await self._connections.get(url, headers)
        if response.address:
            self._families.answered(response.address, self._clock().steady)
        try:
            body, cut, held_s = await self._read(response, max_bytes, deadline)
        except BaseException:
            response.drop()
            raise
        if cut or response.is_short:
            response.drop()
        else:
            response.keep()
        latency_s = max(0.0, self._clock().steady - started - held_s)
        try:
            coding = check_codings(body, response.headers.get("Content-Encoding", ""))
        except BadCoding:
            if 200 <= response.status < 300:
                raise
            body, coding = b"", ""  # a status speaks for itself
        sent = read_sent_head(url, response.sent)
        kept = _kept(response.headers)
        fetched = Fetched(url, response.status, kept, body, cut, latency_s, response.address, coding, sent)
        if response.is_short and not response.is_redirect:
            raise BodyShort(url, ENDS_EARLY, fetched)
        return fetched

    async def _read(self, response: Response, max_bytes: int, deadline: asyncio.Timeout) -> tuple[bytes, bool, float]:
        """Read up to `max_bytes` of the body as sent. Tell whether there was more, and how long our own limit made it
        wait: the deadline moves by that, since it is not the site's fault. A site that falls silent within a body has
        miscounted it, or broken off. The body of a redirect may be missing: nobody reads it."""
        pieces: list[bytes] = []
        size, held_s, at_once = 0, 0.0, self.bandwidth.piece_bytes(READ_BYTES)
        while size <= max_bytes:
            try:
                piece = await response.body.read(at_once)
            except (aiohttp.SocketTimeoutError, aiohttp.ClientPayloadError) as error:
                if not response.is_redirect and not (pieces and isinstance(error, aiohttp.SocketTimeoutError)):
                    raise
                response.break_off()
                piece = b""
            if not piece:
                return b"".join(pieces), False, held_s
            pieces.append(piece)
            size += len(piece)
            if self.bandwidth.is_bounded and (wait_s := self.bandwidth.take(len(piece), self._clock().steady)):
                held_s += wait_s
                deadline.reschedule((deadline.when() or 0.0) + wait_s)
                await asyncio.sleep(wait_s)
        return b"".join(pieces)[:max_bytes], True, held_s

    def judge_addresses(self, judge: JudgeAddress) -> None:
        """Contact hosts from now on only at addresses that `judge` permits."""
        self._resolver.judge = judge

    def late_s(self) -> float:
        """Return the seconds until the bandwidth limit lets another fetch begin."""
        return self.bandwidth.late_s(self._clock().steady)


@asynccontextmanager
async def open_fetcher(
    config: CrawlConfig,
    version: str,
    clock: Clock,
    families: WorkingFamilies | None = None,
    faults: LocalFaults | None = None,
    signer: RequestSigner | None = None,
) -> AsyncIterator[HttpFetcher]:
    """Open a fetcher and its connections, closed at the end. Raises BadHostsFile.

    `version`: that of this program, for User-Agent.
    `families`: those that work on this machine, by default both.
    `faults`: where a lack of file handles is noted.
    `signer`: signs each request; None leaves them unsigned."""
    families = families or WorkingFamilies((4, 6))
    meter = FetchMeter()
    resolver = Resolver(config, _hosts(config.hosts_file), families, clock, meter)
    connector = aiohttp.TCPConnector(
        resolver=resolver,
        use_dns_cache=False,  # the resolver has its own, behind the address filter
        limit=0,  # the crawler bounds open fetches, `node/delegation/` those for peers
        keepalive_timeout=config.keepalive_s,
        happy_eyeballs_delay=ATTEMPT_EVERY_S,
        socket_factory=small_packet_socket,
        ssl=_tls_context(),
    )
    agent = config.user_agent(version)
    sign = partial(signer.fields, user_agent=agent) if signer else None
    fields = {"User-Agent": agent, **dict(FORMS[FORM])}
    connections = Connections(config, connector, fields, sign, resolver.deny, meter)
    try:
        yield HttpFetcher(config, connections, resolver, families, clock, faults or LocalFaults(clock), meter)
    finally:
        await connector.close()
        await resolver.close()


@cache
def _tls_context() -> ssl.SSLContext:
    """Return the rules for TLS. Servers without RFC 5746 are accepted as in browsers, though OpenSSL 3 refuses them:
    a crawler has no session that somebody could take over."""
    context = ssl.create_default_context()
    context.options |= _LEGACY_SERVER_CONNECT
    context.set_alpn_protocols(["http/1.1"])
    return context


def _check_port(url: str) -> None:
    if reason := refuse_port(url):
        raise AddressRefused(split_url(url).host, split_url(url).site, reason)


def _is_literal(host: str) -> bool:
    if ":" not in host and not host[-1:].isdigit():  # a name: the last label of an IPv4 address is a number
        return False
    try:
        return bool(ip_address(host))
    except ValueError:
        return False


def _kept(headers: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return header fields as plain str. aiohttp passes on bytes that are not UTF-8 as lone surrogates: in a URL they
    become escapes, as in browsers, elsewhere they are lost."""
    fields = [(str(name), value) for name, value in headers.items() if len(value) <= MAX_FIELD_CHARS]
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
        return parse_hosts(Path(path).read_text("utf-8-sig"), path)
    except OSError as error:
        raise BadHostsFile(path, 0, error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise BadHostsFile(path, 0, str(error)) from error


def _reason(error: Exception) -> str:
    """Describe a failure in one line whose first word names its kind: what reports count by."""
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return "name: host name not found"
    if isinstance(error, OSError):  # aiohttp's own, too
        kind = "connection"
    elif isinstance(error, aiohttp.ClientPayloadError):
        return ENDS_EARLY
    elif isinstance(error, aiohttp.ClientResponseError | HttpProcessingError):  # its status is no site's
        return f"protocol: {' '.join(error.message.split())}"[:_MAX_REASON_CHARS]
    elif isinstance(error, aiohttp.ServerDisconnectedError):
        return "connection: closed without an answer"
    else:
        kind = "protocol"
    text = " ".join(str(error).split()) or type(error).__name__
    return f"{kind}: {text}"[:_MAX_REASON_CHARS]
