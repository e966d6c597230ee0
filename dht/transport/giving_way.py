"""Long bodies leave in pieces and give way to what is small.

A line that is filled keeps queries, heartbeats and all else of the household waiting, and its own acknowledgements.
The kernel measures for each connection how fast its bytes arrive, how long packets take, and the least that they took.
From this follows how much of a long body may be under way at once, so that it waits in queues for TARGET_S. Repair,
hand-overs and what the crawl writes are slow on a slow line, and answers are not; nobody has to know how fast the line
is. Where the kernel does not tell, nothing is held back. Sources: RFC 6817 (LEDBAT); Cardwell and others 2016 (BBR).
"""

import asyncio
import socket
import struct
from collections.abc import Callable
from typing import NamedTuple

from aiohttp.abc import AbstractStreamWriter
from aiohttp.payload import BytesPayload

from dht.rate_limit import remember

LONG_BYTES = 32 << 10  # a shorter body leaves at once
TARGET_S = 0.1  # in queues; voice and games bear it
FIRST_BYTES, FIRST_SEGMENTS = 64 << 10, 4  # under way before anything is known
LEAST_BYTES, MOST_BYTES = 8 << 10, 16 << 20  # under way
PIECES, LARGEST_PIECE_BYTES = 4, 256 << 10  # of what may be under way is a piece
LEAST_PAUSE_S, MOST_PAUSE_S = 0.001, 0.05  # between two looks at what is under way
HOSTS_LIMIT = 1024  # peers of which the least round trip is remembered
# Of Linux' tcp_info: segment size, segments under way, round trip, bytes unsent, least round trip, bytes a second.
INFO = struct.Struct("=16xI4xI40xI72xII8xQ")


class LineState(NamedTuple):
    """The kernel's measurements of one connection.

    `under_way`: bytes sent and not acknowledged, or waiting here.
    `rate`: bytes that arrive a second; 0: unknown.
    `rtt_s`, `least_s`: the round trip, and the least round trip so far.
    `segment`: bytes of a TCP segment."""

    under_way: int
    rate: float
    rtt_s: float
    least_s: float
    segment: int = 1460


def window_of(state: LineState) -> int:
    """Return how many bytes may be under way."""
    if not state.rate:
        return max(FIRST_BYTES, FIRST_SEGMENTS * state.segment)
    queued_s = state.rtt_s - state.least_s
    window = state.rate * (state.least_s + TARGET_S) * min(1.0, TARGET_S / max(queued_s, TARGET_S))
    return max(LEAST_BYTES, min(MOST_BYTES, int(window)))


def room_of(state: LineState) -> int:
    """Return how many bytes may leave now; 0: wait."""
    window = window_of(state)
    return min(LARGEST_PIECE_BYTES, max(LEAST_BYTES, window // PIECES)) if state.under_way < window else 0


def _nothing() -> None:
    """Do nothing: the default call after each piece of a body."""


class GivingWay:
    """Sends the long bodies of one node."""

    def __init__(self) -> None:
        self._least: dict[str, float] = {}  # by host; a connection made while the line is full never sees it empty

    def payload(self, body: bytes, moved: Callable[[], None] = _nothing) -> bytes | BytesPayload:
        """Return a body as aiohttp takes it, in pieces where it is long; `moved` is called when one has left."""
        return body if len(body) <= LONG_BYTES else _Pieces(body, self, moved)

    async def send(self, writer: AbstractStreamWriter, body: bytes, moved: Callable[[], None]) -> None:
        """Write a body; returns when its last piece has left."""
        sent = 0
        while sent < len(body):
            state = self._state_of(writer.transport)
            if room := LARGEST_PIECE_BYTES if state is None else room_of(state):
                await writer.write(body[sent : sent + room])
                sent += room
                moved()
            elif state is not None:
                await asyncio.sleep(min(MOST_PAUSE_S, max(LEAST_PAUSE_S, state.least_s / 4)))

    def _state_of(self, transport: asyncio.BaseTransport | None) -> LineState | None:
        state = _told_of(transport)
        if state is None or transport is None:
            return None
        host = str((transport.get_extra_info("peername") or ("",))[0])
        least_s = min(self._least.get(host, state.least_s), state.least_s)
        remember(self._least, host, least_s, HOSTS_LIMIT)
        return state._replace(least_s=least_s)


class _Pieces(BytesPayload):
    """A long body as aiohttp writes it, for a client and for a server."""

    def __init__(self, body: bytes, line: GivingWay, moved: Callable[[], None]) -> None:
        super().__init__(memoryview(body))
        self._body, self._line, self._moved = body, line, moved

    async def write(self, writer: AbstractStreamWriter) -> None:
        await self._line.send(writer, self._body, self._moved)

    async def write_with_length(self, writer: AbstractStreamWriter, content_length: int | None) -> None:
        await self._line.send(writer, self._body, self._moved)


def _told_of(transport: asyncio.BaseTransport | None) -> LineState | None:
    """Return the kernel's measurements of a connection; None where the kernel gives none."""
    sock = transport.get_extra_info("socket") if transport is not None else None
    if sock is None or not hasattr(socket, "TCP_INFO"):
        return None
    try:
        told = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, INFO.size)
    except OSError:
        return None
    if len(told) < INFO.size:
        return None
    segment, unacknowledged, rtt_us, unsent, least_us, rate = INFO.unpack(told)
    return LineState(segment * unacknowledged + unsent, float(rate), rtt_us / 1e6, least_us / 1e6, segment)
