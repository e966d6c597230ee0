"""Parser processes under a watchdog: a page that stalls or kills a parser costs only itself.

Each process gets a batch of pages at once and answers in order, so the page that it hangs on is always the first one
unanswered: the process is killed, that page goes to the second HTML engine, and if that fails too it is given up; the
rest of the batch is sent to a new process. Processes are started afresh (no fork), so no lock leaks into them.
"""

import asyncio
import logging
import sys
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import msgspec
from msgspec.structs import replace

from crawl.config import CrawlConfig
from crawl.errors import BodyUnfit, PageUnreadable, ParserUnavailable
from crawl.inline import InlineParsers
from crawl.parsed import Parsed, Parsers, Task
from crawl.parserworker import LENGTH_BYTES, Answer

log = logging.getLogger(__name__)

START_WITHIN_S = 60.0  # a slow disk on a busy machine; measured 0.3 s
START_TRIES = 4  # in a row; what cannot start after seconds of pauses cannot start on this machine
START_AGAIN_S = 0.5  # the first pause; each is longer by as much
MAX_BATCH_BYTES = 8_388_608  # what is sent at once; two pages of the largest size
MAX_ANSWER_BYTES = 64_000_000  # above what the bounds of a task allow
_START = "import sys; p = sys.argv.pop(); sys.path[:] = p.split('\\n'); from crawl.parserworker import main; main()"


@dataclass(slots=True)
class _Job:
    task: Task
    result: asyncio.Future[Parsed]


class ProcessParsers:
    """`run` keeps the processes; `parse` waits for one."""

    def __init__(self, config: CrawlConfig) -> None:
        self._config = config
        self._jobs: asyncio.Queue[_Job] = asyncio.Queue(maxsize=2 * config.parser_batch)
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = msgspec.msgpack.Decoder(Answer)

    async def parse(self, task: Task) -> Parsed:
        """See `crawl.parsed.Parsers`."""
        job = _Job(task, asyncio.get_running_loop().create_future())
        await self._jobs.put(job)
        return await job.result

    async def run(self) -> None:
        """Serve until cancelled; raises ParserUnavailable."""
        async with asyncio.TaskGroup() as tasks:
            for number in range(self._config.parser_processes):
                tasks.create_task(self._serve(), name=f"parser-{number}")

    async def _serve(self) -> None:
        """One process after the other, each until it is killed. That one does not start may be the want of a moment:
        the system kills the youngest where memory is short."""
        left: deque[_Job] = deque()
        starts = 0
        while True:
            try:
                async with _started(self._config) as process:
                    starts = 0
                    while await self._work(process, left):
                        pass
            except ParserUnavailable as error:
                starts += 1
                if starts == START_TRIES:
                    raise
                log.warning("parser did not start, trying again: %s", error.reason)
                await asyncio.sleep(START_AGAIN_S * starts)

    async def _work(self, process: Process, left: deque[_Job]) -> bool:
        """One batch, with what an earlier process left of its own; False where this process has to go."""
        if not left:
            left.append(await self._jobs.get())
        size = sum(len(job.task.body) for job in left)
        while len(left) < self._config.parser_batch and size < MAX_BATCH_BYTES and not self._jobs.empty():
            left.append(self._jobs.get_nowait())
            size += len(left[-1].task.body)
        self._send(process, left)
        while left:
            answer = await self._answer(process)
            if isinstance(answer, str):
                self._blame(left, answer)
                return False
            self._settle(process, left, answer)
        return True

    async def _answer(self, process: Process) -> Answer | str:
        """The next answer, or what became of the process instead."""
        try:
            async with asyncio.timeout(self._config.parser_stall_s):
                return self._decoder.decode(await _receive(process))
        except TimeoutError:
            return f"parser: stalled for {self._config.parser_stall_s:g} s"
        except (EOFError, OSError):
            return "parser: crashed"

    def _settle(self, process: Process, left: deque[_Job], answer: Answer) -> None:
        """The first page has its answer; where the first engine only failed, the page joins the end for the second."""
        if answer.is_final:
            self._give_up(left, BodyUnfit(left[0].task.url, answer.reason))
            return
        if answer.parsed is None:
            if self._blame(left, answer.reason):
                left.rotate(-1)
                self._send(process, [left[-1]])
            return
        job = left.popleft()
        if not job.result.done():  # else nobody waits for it any more
            job.result.set_result(answer.parsed)

    def _blame(self, left: deque[_Job], reason: str) -> bool:
        """The first page broke its parser. True: it stays, for the other engine; False: it was given up."""
        job = left[0]
        log.info("parser failed url=%s engine=%s: %s", job.task.url, job.task.engine, reason)
        if job.task.engine == "lexbor":
            job.task = replace(job.task, engine="lxml")
            return True
        self._give_up(left, PageUnreadable(job.task.url, reason))
        return False

    @staticmethod
    def _give_up(left: deque[_Job], error: PageUnreadable) -> None:
        """The first page is not read."""
        job = left.popleft()
        if not job.result.done():
            job.result.set_exception(error)

    def _send(self, process: Process, jobs: Iterable[_Job]) -> None:
        """Queue pages for a process. The pipe holds one batch at most, so there is no need to wait for it."""
        assert process.stdin is not None
        frames = [self._encoder.encode(job.task) for job in jobs]
        process.stdin.write(b"".join(len(f).to_bytes(LENGTH_BYTES, "big") + f for f in frames))


@asynccontextmanager
async def open_parsers(config: CrawlConfig) -> AsyncIterator[Parsers]:
    """Parsers as configured, ended at the end; a process that cannot start cancels the block: ParserUnavailable."""
    if config.parser_processes == 0:
        inline = InlineParsers()
        try:
            yield inline
        finally:
            inline.close()
        return
    parsers = ProcessParsers(config)
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(parsers.run(), name="parsers")
        try:
            yield parsers
        finally:
            running.cancel()


@asynccontextmanager
async def _started(config: CrawlConfig) -> AsyncIterator[Process]:
    """A process that is ready; killed at the end, since a stalled one does not hear anything milder."""
    limits = (f"{config.parser_stall_s}", f"{config.parser_memory_bytes}")
    command = (sys.executable, "-c", _START, *limits, "\n".join(sys.path))
    try:
        process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)
    except OSError as error:
        raise ParserUnavailable(str(error)) from error
    try:
        await _ready(process)
        yield process
    finally:
        await _killed(process)


async def _ready(process: Process) -> None:
    """Wait for its first, empty frame; raises ParserUnavailable."""
    try:
        async with asyncio.timeout(START_WITHIN_S):
            await _receive(process)
    except TimeoutError as error:
        raise ParserUnavailable(f"not ready within {START_WITHIN_S:g} s") from error
    except (EOFError, OSError) as error:
        raise ParserUnavailable(f"it ended at once; {sys.executable} says why on the error output") from error


async def _killed(process: Process) -> None:
    with suppress(ProcessLookupError):
        process.kill()
    await process.wait()


async def _receive(process: Process) -> bytes:
    """The next frame; raises EOFError where the process has ended or talks nonsense."""
    assert process.stdout is not None
    size = int.from_bytes(await process.stdout.readexactly(LENGTH_BYTES), "big")
    if size > MAX_ANSWER_BYTES:
        raise EOFError(f"an answer of {size} bytes")
    return await process.stdout.readexactly(size)
