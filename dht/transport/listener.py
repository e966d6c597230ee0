"""The listener takes connections in, as many as the doorway of its port lets stay: of peers and of the web alike.

Their number is bounded by a share of the files that this process may open. So strangers leave handles for the disk and
for the node's own requests.
"""

import asyncio
import errno
import logging
import resource
import socket
import ssl
from collections.abc import Awaitable, Callable

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from dht.clock import Clock
from dht.local_faults import FaultSite, LocalFaults, refused
from dht.transport.bounded_log import BoundedLog
from dht.transport.doorway import PROVE_S, Bounds, Doorway, Visitor

log = logging.getLogger(__name__)

SWEEP_S = 1.0  # between two looks for those who prove nothing
ACCEPT_AGAIN_S = 0.5  # between two tries where this machine has no handles left
WRITES_ON = "socket.send() raised exception."  # what asyncio warns of where the other end has gone amid an answer
_PASSING = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM, errno.ECONNABORTED)

Greet = Callable[[socket.socket, str], Awaitable[None]]
"""Takes over a new connection from an address: it asks the doorway, and closes it or passes it on."""


class Listener:
    """Takes connections of one server; `greet` decides what each is."""

    def __init__(self, bounds: Bounds, clock: Clock) -> None:
        self.doorway = Doorway(bounds.within(_open_files()))
        self._clock = clock
        self._connected: dict[web.RequestHandler, Visitor] = {}

    async def accept(self, listening: socket.socket, faults: LocalFaults, greet: Greet) -> None:
        """Accept connections until cancelled. Where no handle is left new ones wait."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                sock, address = await loop.sock_accept(listening)
            except OSError as error:
                if error.errno not in _PASSING:
                    raise
                faults.begin(FaultSite.HANDLES, refused(f"port {listening.getsockname()[1]}", error))
                await asyncio.sleep(ACCEPT_AGAIN_S)
                continue
            faults.end(FaultSite.HANDLES)
            await greet(sock, str(address[0]))

    async def hand_over(
        self, sock: socket.socket, visitor: Visitor, protocol: web.RequestHandler, tls: ssl.SSLContext | None = None
    ) -> None:
        """Hand a connection to an HTTP server; a handshake has as long as it may take to prove who is there. Raises
        OSError."""
        await asyncio.get_running_loop().connect_accepted_socket(
            lambda: protocol, sock, ssl=tls, ssl_handshake_timeout=PROVE_S if tls else None
        )
        visitor.leave, visitor.is_gone = lambda: _abort(protocol), lambda: protocol.transport is None
        self._connected[protocol] = visitor

    def visitor_of(self, protocol: web.RequestHandler) -> Visitor | None:
        """Return whose connection an HTTP server serves; None where it has ended."""
        return self._connected.get(protocol)

    async def sweep(self) -> None:
        """Disconnect those who have proved nothing for PROVE_S, until cancelled."""
        while True:
            await asyncio.sleep(SWEEP_S)
            self._connected = {p: visitor for p, visitor in self._connected.items() if not visitor.is_gone()}
            self.doorway.end_overdue(self._clock().steady)


def library_log(name: str) -> logging.Logger:
    """Return the logger of a library that serves connections. Garbage from the other ends and broken connections are no
    errors of this node. Their bytes are not logged, since they may be somebody's query. Real errors are logged a few
    times a minute."""
    logger = logging.getLogger(name)
    logger.filters = [_is_ours, BoundedLog()]
    return logger


def _is_ours(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    if record.msg == WRITES_ON:
        return False
    if not isinstance(error, HttpProcessingError | web.RequestPayloadError | ConnectionError | ssl.SSLError):
        return True
    log.debug("connection broken off reason=%s", type(error).__name__)
    return False


def _abort(protocol: web.RequestHandler) -> None:
    """Close a connection at once, whatever waits to be sent: who reads nothing would keep it open."""
    if protocol.transport is not None:
        protocol.transport.abort()


def _open_files() -> int:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return soft if soft != resource.RLIM_INFINITY else 1 << 20
