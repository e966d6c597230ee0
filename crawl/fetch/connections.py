"""Connections to sites, kept for their next turn, and the GET that goes over one.

Wraps aiohttp's connector, which finds, secures and keeps connections, and its parser of responses. The request is
written here: aiohttp's session builds URLs, cookies, tracing and redirects around each, which cost as much again as all
the rest of a fetch. Where the end of an idle connection swallowed a request, it is made once more, as RFC 9112, 9.3.1
allows for GET. Where the connection was new, the site has seen the request, and the host's turn is over.
"""

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, cast
from weakref import WeakSet

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection
from aiohttp.http import HttpResponseParser
from yarl import URL

from crawl.config import CrawlConfig
from crawl.fetch.fetch_meter import FetchMeter
from crawl.fetch.head_parser import TolerantParser
from crawl.fetch.odd_head import MAX_HEAD_LINES
from crawl.fetch.response import JudgeAddress, permitted
from crawl.fetch.sent_request import request_target
from dht import split_url

READ_BYTES = 65_536
FRAMING_BYTES = 524_288  # beside head and body: sizes, extensions and ends of chunks, and what a read brings in advance
MAX_INTERIM = 16  # heads before the answer's own; honest sites send one or two
_REMEMBERED = 4096  # origins: 2 kB each
_UNSAFE = re.compile(r"[^!-~]")  # in a target
_BREAKS = re.compile(r"[\r\n\0]")  # in a field
Sign = Callable[[str], Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Response:
    """A response whose body is still to be read; then its connection is to be kept or dropped. `address`: who answered,
    "" unknown; `sent`: the request's head, without its signature."""

    status: int
    headers: Mapping[str, str]
    body: aiohttp.StreamReader
    address: str
    sent: bytes
    _connection: Connection
    _parser: TolerantParser

    @property
    def is_redirect(self) -> bool:
        """Whether the status and the header say all that counts."""
        return 300 <= self.status < 400

    @property
    def is_short(self) -> bool:
        """Whether the body, as far as it was read, breaks off: the site closed the connection before its end."""
        return self._parser.is_short

    def break_off(self) -> None:
        """Note that no more of the body comes."""
        self._parser.is_short = True

    def keep(self) -> None:
        """Let the connection serve again, where the site and what came over it allow that."""
        if self._parser.is_spent:
            self._connection.close()
        else:
            self._connection.release()

    def drop(self) -> None:
        """Close the connection, since the rest of the body is not wanted."""
        self._connection.close()


class _Swallowed(Exception):
    """A connection that was idle had ended; its cause says how that came out."""


class TooMuchBeside(ValueError):
    """A site sent more beside a body than a response may bring."""


class _BoundedResponse(ResponseHandler):
    """Counts the bytes of one response as they arrive, after TLS. It ends the connection where more than `most_beside`
    of them are not the body: the parser drops most of these, so no reader sees them."""

    def __init__(self, loop: asyncio.AbstractEventLoop, most_beside: int, meter: FetchMeter) -> None:
        super().__init__(loop)
        self._meter = meter
        self._most_beside, self._arrived = most_beside, 0

    def begin(self, read_timeout_s: float, max_head_bytes: int) -> TolerantParser:
        """Count anew, for the response to the next request; returns its parser."""
        self._payload, self._arrived = None, 0
        most, fields = max_head_bytes, MAX_HEAD_LINES
        self.set_response_params(
            read_until_eof=True, auto_decompress=False, read_timeout=read_timeout_s, read_bufsize=READ_BYTES,
            max_line_size=most, max_field_size=most, max_headers=fields,
        )  # fmt: skip
        again = partial(
            HttpResponseParser, self, self._loop, READ_BYTES, payload_exception=aiohttp.ClientPayloadError,
            read_until_eof=True, auto_decompress=False, max_line_size=most, max_field_size=most, max_headers=fields,
        )  # fmt: skip
        parser = TolerantParser(self._parser, again, max_head_bytes)
        self._parser = cast("Any", parser)
        return parser

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._meter.connections += 1
        super().connection_made(transport)

    def connection_lost(self, exc: BaseException | None) -> None:
        self._meter.connections -= 1
        if exc is not None and isinstance(self._parser, TolerantParser):
            self._parser.is_reset = True
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._arrived += len(data)
        self._meter.bytes_in += len(data)
        body = self._payload
        if self._arrived - (0 if body is None else body.total_bytes) > self._most_beside:
            self._refuse(body)

    def _refuse(self, body: aiohttp.StreamReader | None) -> None:
        error = TooMuchBeside(f"more than {self._most_beside} bytes came beside it")
        self.set_exception(error)
        if body is not None:
            body.set_exception(error)
        self._payload = self._parser = None  # the end of the connection would put another error in its place
        if self.transport is not None:
            self.transport.abort()


class Connections:
    """Makes requests over one connector, which belongs to whoever made it. `fields`: sent with each request; `sign`:
    returns those that sign a request for a URL. `deny`: returns what to raise where a rule denies to contact a host at
    an address."""

    def __init__(
        self,
        config: CrawlConfig,
        connector: aiohttp.TCPConnector,
        fields: Mapping[str, str],
        sign: Sign | None = None,
        deny: JudgeAddress = permitted,
        meter: FetchMeter | None = None,
    ) -> None:
        self._meter = meter = meter or FetchMeter()
        self._connector, self._fields, self._sign, self._deny = connector, _written(fields), sign, deny
        self._timeout = aiohttp.ClientTimeout(
            total=None, connect=config.connect_timeout_s, sock_read=config.read_timeout_s
        )
        self._max_head_bytes, most_beside = config.max_head_bytes, config.max_head_bytes + FRAMING_BYTES
        make: Callable[..., ResponseHandler] = _BoundedResponse
        connector._factory = partial(make, connector._loop, most_beside, meter)
        self._served: WeakSet[asyncio.BaseProtocol] = WeakSet()  # those that have brought a response
        self._origin = lru_cache(_REMEMBERED)(self._to_origin)

    async def get(self, url: str, fields: Mapping[str, str]) -> Response:
        """Ask for a canonical URL; raises what aiohttp does, OSError, ValueError or TimeoutError."""
        parts = split_url(url)
        origin = f"{parts.scheme}://{parts.site}"
        request, host = self._origin(origin)
        target = request_target(url)
        if _UNSAFE.search(target):
            raise ValueError("a target that cannot be asked for")
        head = f"GET {target} HTTP/1.1\r\n{host}{self._fields}{_written(fields) if fields else ''}".encode()
        try:
            return await self._exchange(request, head, self._signature(url))
        except _Swallowed:
            pass
        try:
            return await self._exchange(request, head, self._signature(url))
        except _Swallowed as again:
            raise again.__cause__ or again from None

    def _signature(self, url: str) -> bytes:
        return _written(self._sign(url)).encode() if self._sign else b""

    async def _exchange(self, request: aiohttp.ClientRequest, head: bytes, signature: bytes) -> Response:
        """Make one request, up to the end of the response's head; raises _Swallowed where it never arrived."""
        connection, address = await self._connect(request)
        was_idle = connection.protocol in self._served
        try:
            protocol, transport = connection.protocol, connection.transport
            if not isinstance(protocol, _BoundedResponse) or transport is None or transport.is_closing():
                raise aiohttp.ServerDisconnectedError
            parser = protocol.begin(self._timeout.sock_read or 0.0, self._max_head_bytes)
            protocol.start_timeout()
            sent = b"%b%b\r\n" % (head, signature)
            self._meter.bytes_out += len(sent)
            transport.write(sent)
            message, body = await protocol.read()
            interim = 0
            while 100 <= message.code < 200 and message.code != 101:  # what the site says first, before its answer
                interim += 1
                if interim > MAX_INTERIM:
                    raise ValueError(f"more than {MAX_INTERIM} heads before the answer")
                message, body = await protocol.read()
            self._served.add(protocol)
            return Response(message.code, message.headers, body, address, head + b"\r\n", connection, parser)
        except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
            connection.close()
            if was_idle and not isinstance(error, TimeoutError):
                raise _Swallowed from error
            raise
        except BaseException:
            connection.close()
            raise

    async def _connect(self, request: aiohttp.ClientRequest) -> tuple[Connection, str]:
        """Return a connection, and the address at its other end. One that was made before a rule came is closed."""
        while True:
            try:
                connection = await self._connector.connect(request, [], self._timeout)
            except TimeoutError as error:
                raise aiohttp.ConnectionTimeoutError from error
            peer = connection.transport.get_extra_info("peername") if connection.transport else None
            address = str(peer[0]) if peer else ""
            if not address or (denied := self._deny(request.url.host or "", address)) is None:
                return connection, address
            was_idle = connection.protocol in self._served
            connection.close()
            if not was_idle:
                raise denied

    def _to_origin(self, origin: str) -> tuple[aiohttp.ClientRequest, str]:
        """Return what the connector is asked with for each request to an origin, and the Host field."""
        request = aiohttp.ClientRequest("GET", URL(origin, encoded=True), loop=asyncio.get_running_loop())
        return request, _written({"Host": request.headers["Host"]})


def _written(fields: Mapping[str, str]) -> str:
    """Return header fields as they are sent; raises ValueError where one would be more than one."""
    lines = [f"{name}: {value}" for name, value in fields.items()]
    if any(map(_BREAKS.search, lines)):
        raise ValueError("a header field that cannot be sent")
    return "".join([f"{line}\r\n" for line in lines])
