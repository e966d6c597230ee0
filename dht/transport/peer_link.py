"""A link carries messages both ways over one TLS connection: each end asks and answers.

Between two nodes behind NATs there is one pair of ports only that both NATs let through, so one connection has to do
for everything. A frame is its length (4 bytes, big-endian) and a msgpack array: number of the question, status (0 asks,
else as in HTTP), message name, body. The identity of the other end is proved before a link is made (`peer_links.py`).
"""

import asyncio
import logging
from contextlib import suppress
from typing import Annotated

import msgspec
from msgspec import Meta

from dht.clock import Clock
from dht.errors import MALFORMED, BadMessage, InputError, PeerTimeout, RemoteError
from dht.keys import NodeId
from dht.transport.transport import MAX_BODY_BYTES, MAX_REASON_BYTES, Answerer, PeerGone, PeerRefused, printable

log = logging.getLogger(__name__)

LENGTH_BYTES = 4
MAX_FRAME_BYTES = MAX_BODY_BYTES + 256
MAX_AT_ONCE = 16  # questions of the peer that are answered at once
IDLE_S = 120.0  # without a frame; NATs keep a connection for longer
MAX_HELD_BYTES = 16 << 20  # of its questions: two of the largest
STALE_S = 5.0  # a link from which nothing came for so long, while a question timed out, is given up
ASKS, ANSWERED, REFUSED, BUSY = 0, 200, 422, 503


class LinkFrame(msgspec.Struct, frozen=True, array_like=True):
    """Holds one question or answer."""

    number: Annotated[int, Meta(ge=0, lt=1 << 32)]
    status: Annotated[int, Meta(ge=0, lt=1000)]
    name: Annotated[str, Meta(max_length=64)]
    body: bytes


_decoder = msgspec.msgpack.Decoder(LinkFrame)
_encoder = msgspec.msgpack.Encoder()


class PeerLink:
    """One connection to one peer, whose key is proved. `run` until it ends; `ask` from anywhere meanwhile."""

    def __init__(
        self, peer: NodeId, host: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, clock: Clock
    ) -> None:
        self.peer = peer
        self._host, self._reader, self._writer, self._clock = host, reader, writer, clock
        self._asked: dict[int, asyncio.Future[LinkFrame]] = {}
        self._number = self._answering = self._held_bytes = 0
        self._sending = asyncio.Lock()
        self._heard_at = clock().steady

    def close(self) -> None:
        """End the connection; who waits for an answer gets PeerGone."""
        self._writer.close()

    async def ask(self, name: str, body: bytes, *, timeout_s: float) -> bytes:
        """Send one message and return the answer's body; raises PeerTimeout, PeerGone or PeerRefused."""
        self._number = number = (self._number + 1) % (1 << 32)
        began = self._clock().steady
        answer: asyncio.Future[LinkFrame] = asyncio.get_running_loop().create_future()
        self._asked[number] = answer
        try:
            async with asyncio.timeout(timeout_s):
                await self._send(LinkFrame(number, ASKS, name, body))
                found = await answer
        except TimeoutError:
            if self._clock().steady - self._heard_at >= STALE_S:
                self.close()
            raise PeerTimeout(self.peer.hex(), timeout_s) from None
        except OSError:
            raise PeerGone(self.peer.hex(), self._clock().steady - began) from None
        finally:
            self._asked.pop(number, None)
        if found.status == ANSWERED:
            return found.body
        if found.status == REFUSED:
            raise PeerRefused(self.peer.hex(), printable(found.body[:MAX_REASON_BYTES]), REFUSED)
        raise PeerTimeout(self.peer.hex(), self._clock().steady - began, "it is busy")

    async def run(self, answerer: Answerer) -> None:
        """Answer the peer until the connection ends or is idle for too long."""
        try:
            async with asyncio.TaskGroup() as tasks:
                with suppress(OSError, TimeoutError, asyncio.IncompleteReadError, BadMessage):
                    while True:
                        async with asyncio.timeout(IDLE_S):
                            frame = await read_frame(self._reader)
                        self._heard_at = self._clock().steady
                        if frame.status == ASKS:
                            tasks.create_task(self._answer(frame, answerer), name=f"link-{frame.name}")
                        elif (waiting := self._asked.get(frame.number)) is not None and not waiting.done():
                            waiting.set_result(frame)
        finally:
            self.close()
            for waiting in self._asked.values():
                if not waiting.done():
                    waiting.set_exception(ConnectionResetError("the link ended"))

    async def _answer(self, frame: LinkFrame, answerer: Answerer) -> None:
        status, body = BUSY, b"too many requests at once; ask again later"
        size = len(frame.body)
        if self._answering < MAX_AT_ONCE and self._held_bytes + size <= MAX_HELD_BYTES:
            self._answering, self._held_bytes = self._answering + 1, self._held_bytes + size
            try:
                status, body = ANSWERED, await answerer(self.peer, frame.name, frame.body, self._host)
            except (RemoteError, InputError) as error:
                status, body = REFUSED, str(error).encode()[:1000]
            finally:
                self._answering, self._held_bytes = self._answering - 1, self._held_bytes - size
        with suppress(OSError):
            await self._send(LinkFrame(frame.number, status, "", body))

    async def _send(self, frame: LinkFrame) -> None:
        async with self._sending:
            self._writer.write(frame_bytes(frame))
            await self._writer.drain()


def frame_bytes(frame: LinkFrame) -> bytes:
    """Return the bytes of a frame; raises BadMessage where they are more than a link carries."""
    data = _encoder.encode(frame)
    if len(data) > MAX_FRAME_BYTES:
        raise BadMessage("", f"frame of {len(data)} bytes, {MAX_FRAME_BYTES} is the limit")
    return len(data).to_bytes(LENGTH_BYTES, "big") + data


async def read_frame(reader: asyncio.StreamReader, limit: int = MAX_FRAME_BYTES) -> LinkFrame:
    """Read one frame; raises BadMessage where it is none, IncompleteReadError at the end."""
    length = int.from_bytes(await reader.readexactly(LENGTH_BYTES), "big")
    if length > limit:
        raise BadMessage("", f"frame of {length} bytes, {limit} is the limit")
    try:
        return _decoder.decode(await reader.readexactly(length))
    except MALFORMED as error:
        raise BadMessage("", f"frame does not decode: {error}") from error
