"""Runs the node's end of one parser process: starts it, and exchanges frames with it over pipes.

Frames are read as they come, several at a time if they are small. So a page costs no task, and only the parts that are
kept are copied.
"""

import asyncio
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import cast

from crawl.config import CrawlConfig
from crawl.content.page import LENGTH_BYTES
from crawl.errors import ParserUnavailable

START_WITHIN_S = 60.0  # a slow disk on a busy machine; measured 0.3 s
MAX_FRAME_BYTES = 64_000_000  # above what the bounds of a task allow
_START = "import sys; p = sys.argv.pop(); sys.path[:] = p.split('\\n'); from crawl.parsing.worker import main; main()"

TakeFrame = Callable[[memoryview], None]
"""Takes one frame, whose memory is valid only during the call; raises ValueError for nonsense."""


class ParserPipe(asyncio.SubprocessProtocol):
    """Sends frames to a parser process and gives those that come back to `take`.

    `ended` is called when the process is gone or talks nonsense; then no frame comes any more."""

    def __init__(self, take: TakeFrame, ended: Callable[[], None]) -> None:
        self._take, self._ended = take, ended
        self._buffer = bytearray()
        self._transport: asyncio.SubprocessTransport | None = None
        self._ready, self._exited = asyncio.Event(), asyncio.Event()
        self.has_ended = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.SubprocessTransport", transport)  # uvloop's says that it is none

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        buffer, at = self._buffer, 0
        buffer += data
        try:
            while len(buffer) >= at + LENGTH_BYTES:
                start = at + LENGTH_BYTES
                size = int.from_bytes(buffer[at:start], "big")
                if size > MAX_FRAME_BYTES:
                    raise ValueError(f"a frame of {size} bytes")
                if len(buffer) < start + size:
                    break
                at = start + size
                self._receive(start, at)
        except ValueError:  # msgspec's errors are ValueErrors
            self._end()
        del buffer[:at]

    def _receive(self, start: int, end: int) -> None:
        if not self._ready.is_set():  # its first frame says that it is ready
            self._ready.set()
        elif not self.has_ended:
            with memoryview(self._buffer) as whole, whole[start:end] as frame:
                self._take(frame)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 1:  # what it had sent before it ended was taken
            self._end()

    def process_exited(self) -> None:
        self._exited.set()

    def _end(self) -> None:
        self.ignore()
        self._ready.set()
        self._ended()

    def ignore(self) -> None:
        """Take no more frames of the process."""
        self.has_ended = True

    def send(self, data: bytes) -> None:
        """Send frames, each with its length before it, without waiting for the process."""
        assert self._transport is not None
        if not self.has_ended:
            cast("asyncio.WriteTransport", self._transport.get_pipe_transport(0)).write(data)

    async def wait_ready(self) -> None:
        """Wait until the process is ready, which its first, empty frame says; raises ParserUnavailable."""
        try:
            async with asyncio.timeout(START_WITHIN_S):
                await self._ready.wait()
        except TimeoutError as error:
            raise ParserUnavailable(f"not ready within {START_WITHIN_S:g} s") from error
        if self.has_ended:
            raise ParserUnavailable(f"it ended at once; {sys.executable} says why on the error output")

    async def kill(self) -> None:
        """Kill the process, and wait until it has gone; one that stalls would not hear anything milder."""
        assert self._transport is not None
        with suppress(ProcessLookupError):
            self._transport.kill()
        await self._exited.wait()
        self._transport.close()


@asynccontextmanager
async def start_parser(config: CrawlConfig, take: TakeFrame, ended: Callable[[], None]) -> AsyncIterator[ParserPipe]:
    """Start a parser process, which is ready inside the block and killed after it; raises ParserUnavailable."""
    limits = (f"{config.parser_stall_s}", f"{config.parser_memory_bytes}")
    command = (sys.executable, "-c", _START, *limits, "\n".join(sys.path))
    try:
        _, pipe = await asyncio.get_running_loop().subprocess_exec(
            lambda: ParserPipe(take, ended), *command, stdin=PIPE, stdout=PIPE, stderr=None
        )
    except OSError as error:
        raise ParserUnavailable(str(error)) from error
    try:
        await pipe.wait_ready()
        yield pipe
    finally:
        await pipe.kill()
