"""Keeps parser processes under a watchdog: a page that stalls or kills a parser costs only itself.

Each process gets a batch of pages at once and answers in order, so the page that it hangs on is always the first one
unanswered. The pool then kills the process and gives that page to the second HTML engine. If that fails too, the page
is given up. The rest of the batch is sent to a new process. Processes are started afresh (no fork), so no lock leaks
into them. Each starts when there is a page for it, the first when a page is about to be fetched. It ends when there was
none for minutes: it takes a quarter of an idle node's memory.
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import msgspec
from msgspec.structs import replace

from crawl.config import CrawlConfig
from crawl.content.page import LENGTH_BYTES, ParseResult, ParserReply, Parsers, ParseTask
from crawl.errors import BodyUnfit, PageUnreadable, ParserUnavailable
from crawl.parsing.pipe import ParserPipe, start_parser
from dht import STRICT, Supervisor

log = logging.getLogger(__name__)

START_TRIES = 4  # in a row; then the owner reads of it, and it is tried ever more seldom
START_AGAIN_S = 0.5  # the first pause; each is longer by as much
IDLE_S = 300.0  # without a page; a start takes half a second of the processor, 0.2 % of that
MAX_BATCH_BYTES = 8_388_608  # what is sent at once; two pages of the largest size
_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(ParserReply)


@dataclass(slots=True)
class _Job:
    task: ParseTask
    result: asyncio.Future[ParseResult]


class ProcessParsers:
    """Parses in processes, which `run` keeps alive; `parse` waits for one of them."""

    def __init__(self, config: CrawlConfig) -> None:
        self._config = config
        self._jobs: asyncio.Queue[_Job | None] = asyncio.Queue(maxsize=2 * config.parser_batch)  # None: one is to come
        self._started = 0  # processes that run, or are about to
        self._left = [deque[_Job]() for _ in range(config.parser_processes)]  # pages that an earlier run took

    async def parse(self, task: ParseTask) -> ParseResult:
        """Have one page parsed by a process; raises PageUnreadable."""
        job = _Job(task, asyncio.get_running_loop().create_future())
        await self._jobs.put(job)
        return await job.result

    def expect(self) -> None:
        """Have a process started where none runs: that takes longer than to fetch a page."""
        if not self._started and self._jobs.empty():
            self._jobs.put_nowait(None)

    def waiting(self) -> int:
        """Return how many pages wait for a process, or are being read by one."""
        return self._jobs.qsize() + sum(map(len, self._left))

    async def run(self) -> None:
        """Keep the processes until cancelled; raises ParserUnavailable where one cannot be started. Pages stay."""
        async with asyncio.TaskGroup() as tasks:
            for number in range(self._config.parser_processes):
                tasks.create_task(self._serve(self._left[number]), name=f"parser-{number}")

    async def _serve(self, left: deque[_Job]) -> None:
        """Use one process after the other, each until it is killed or has long had nothing to do.

        One that does not start is tried again: where memory is short the system kills the youngest process."""
        starts = 0
        while True:
            if not left:
                await self._take(left)
            queue = _ProcessQueue(left)
            self._started += 1
            try:
                async with start_parser(self._config, queue.take, queue.stirred.set) as pipe:
                    queue.attach(pipe)
                    starts = 0
                    while await self._work(queue):
                        pass
            except ParserUnavailable as error:
                starts += 1
                if starts >= START_TRIES:
                    raise
                log.warning("parser did not start, trying again: %s", error.reason)
                await asyncio.sleep(START_AGAIN_S * min(starts, START_TRIES))
            finally:
                self._started -= 1

    async def _take(self, left: deque[_Job]) -> None:
        """Wait for the next page, or for word that one is to come."""
        if (job := await self._jobs.get()) is not None:
            left.append(job)

    async def _work(self, queue: "_ProcessQueue") -> bool:
        """Have a process parse one batch: the pages that an earlier process left in the queue, and waiting ones.
        Returns False where this process must end: no page came for IDLE_S seconds, or it failed or stalled."""
        left = queue.left
        if not left:
            try:
                async with asyncio.timeout(IDLE_S):
                    await self._take(left)
            except TimeoutError:
                return False
        size = sum(len(job.task.body) for job in left)
        while len(left) < self._config.parser_batch and size < MAX_BATCH_BYTES and not self._jobs.empty():
            if (job := self._jobs.get_nowait()) is not None:
                left.append(job)
                size += len(job.task.body)
        if not left:
            return True
        queue.send(left)
        if reason := await queue.finish(self._config.parser_stall_s):
            queue.blame(reason)
            return False
        return True


class _ProcessQueue:
    """Holds the pages that wait at one process, in its order; `left` outlives the process."""

    def __init__(self, left: deque[_Job]) -> None:
        self.left, self.stirred = left, asyncio.Event()  # set where none is left, or the process has ended
        self._loop = asyncio.get_running_loop()
        self._moved_at = 0.0  # when the page that is first became so
        self._pipe: ParserPipe | None = None

    def attach(self, pipe: ParserPipe) -> None:
        """Use this pipe, whose frames come to `take`."""
        self._pipe = pipe

    def send(self, jobs: Iterable[_Job]) -> None:
        """Send pages to the process. The pipe holds one batch at most, so there is no need to wait for it."""
        assert self._pipe is not None
        self._moved_at = self._loop.time()
        parts: list[bytes] = []
        for job in jobs:
            frame = _encoder.encode(job.task)
            parts += (len(frame).to_bytes(LENGTH_BYTES, "big"), frame)
        self._pipe.send(b"".join(parts))

    async def finish(self, stall_s: float) -> str:
        """Wait until no page is left, and return ""; or return what became of the process.

        Only the time of the first page counts, which is the one that it works on."""
        assert self._pipe is not None
        while self.left:
            self.stirred.clear()
            if self._pipe.has_ended:
                return "parser: crashed"
            try:
                async with asyncio.timeout_at(self._moved_at + stall_s):
                    await self.stirred.wait()
            except TimeoutError:
                await asyncio.sleep(0)  # an answer may lie in the pipe, where this process was busy itself
                if self.left and self._loop.time() >= self._moved_at + stall_s:
                    self._pipe.ignore()  # an answer that comes now would be taken for another page's
                    return f"parser: stalled for {stall_s:g} s"
        return ""

    def take(self, frame: memoryview) -> None:
        """Take the answer to the first page; where the first engine only failed, the page joins the end for the second.

        Raises ValueError for what is no answer."""
        answer = _decoder.decode(frame)
        if not self.left:
            raise ValueError("an answer to nothing")
        self._moved_at = self._loop.time()
        if answer.parsed is not None:
            job = self.left.popleft()
            if not job.result.done():  # else nobody waits for it any more
                job.result.set_result(answer.parsed)
        elif answer.is_final:
            self._give_up(BodyUnfit(self.left[0].task.url, answer.reason))
        elif self.blame(answer.reason):
            self.left.rotate(-1)
            self.send([self.left[-1]])
        if not self.left:
            self.stirred.set()

    def blame(self, reason: str) -> bool:
        """Record that the first page broke its parser; True: it stays for the other engine, False: it was given up."""
        job = self.left[0]
        log.info("parser failed url=%s engine=%s: %s", job.task.url, job.task.engine, reason)
        if job.task.engine == "lexbor":
            job.task = replace(job.task, engine="lxml")
            return True
        self._give_up(PageUnreadable(job.task.url, reason))
        return False

    def _give_up(self, error: PageUnreadable) -> None:
        """Raise an error to whoever waits for the first page."""
        job = self.left.popleft()
        if not job.result.done():
            job.result.set_exception(error)


@asynccontextmanager
async def open_parsers(config: CrawlConfig, supervisor: Supervisor = STRICT) -> AsyncIterator[Parsers]:
    """Open parsers as configured, until the end of the block. `supervisor`: restarts what fails, and shows that no
    process can be started."""
    if config.parser_processes == 0:
        from crawl.parsing.inline import InlineParsers  # where others parse, their libraries are not loaded

        inline = InlineParsers()
        try:
            yield inline
        finally:
            inline.close()
        return
    parsers = ProcessParsers(config)
    async with asyncio.TaskGroup() as tasks:
        running = supervisor.start(tasks, "parsers", parsers.run)
        try:
            yield parsers
        finally:
            running.cancel()
