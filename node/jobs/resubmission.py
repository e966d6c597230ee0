"""Finds what lies behind known pages, where a crawl that is handed in goes deeper, or wider, than those before it.

A known URL is not fetched anew for a seed, so nobody would follow its links. They are in the store, as far as the pages
are: from there the seeds are followed to what nobody knows yet, which is then handed in itself. Reading so many pages
takes as long as the slowest of their owners, so nobody waits for more of it than a moment.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress

from crawl import Visit
from dht import Clock, LocalError, RemoteError
from node.api.crawl import Followed, UrlProgress
from node.jobs.cancellation import CANCELLED
from node.jobs.job_progress import MAX_ASKED

log = logging.getLogger(__name__)

Publish = Callable[[Sequence[Visit]], Awaitable[object]]

TakeUp = Callable[[Sequence[Followed]], Awaitable[object]]

MAX_FOLLOWED = 10_000  # known URLs that are followed for one request
WITHIN_S = 60.0  # so long is one request followed
MOMENT_S = 0.5  # so long does whoever hands in wait for it
MAX_WAITING = 64  # requests that are followed one after the other; who hands in more waits for room
NEW = ("unknown", "waiting")  # what waits may have been found with fewer links left, and counts once


class _Walk:
    """One request, as far as it has been followed."""

    def __init__(self, seeds: Sequence[Visit], cancelled: Collection[str]) -> None:
        self.heard = {visit.url for visit in seeds}
        followed = (v for v in seeds if v.depth or v.is_sitemap or v.url in cancelled)
        self.todo = deque(Followed(v.url, v.depth, v.scope) for v in followed)
        self.followed = self.found = 0
        self.ended = asyncio.Event()


class Resubmission:
    """Follows known seeds to what is new behind them, by the answers of `progress` (`JobProgress.answer`), and hands
    that in by `publish`."""

    def __init__(
        self,
        progress: Callable[[Sequence[Followed]], Awaitable[list[UrlProgress]]],
        publish: Publish,
        clock: Clock,
        take_up: TakeUp,
    ):
        """`take_up`: has cancelled URLs fetched after all."""
        self._progress, self._publish, self._clock, self._take_up = progress, publish, clock, take_up
        self._waiting: asyncio.Queue[_Walk] = asyncio.Queue(MAX_WAITING)

    async def run(self) -> None:
        """Follow what was handed in, one request after the other, until cancelled."""
        while True:
            walk = await self._waiting.get()
            try:
                await self._follow(walk, self._publish, self._take_up)
            except (RemoteError, LocalError) as error:
                log.warning("known pages are not followed any further found=%d reason=%s", walk.found, error)
            finally:
                walk.ended.set()

    async def count(self, seeds: Sequence[Visit], cancelled: Collection[str] = ()) -> int:
        """Count the new URLs behind seeds that are known, and hand in none of them."""

        async def nothing(_: object) -> None:
            """Hand in nothing."""

        walk = _Walk(seeds, cancelled)
        await self._follow(walk, nothing, nothing)
        return walk.found

    async def follow(self, seeds: Sequence[Visit], cancelled: Collection[str] = ()) -> tuple[int, bool]:
        """Have what is new behind known seeds handed in; return how much that is after a moment, and whether it is
        all. `cancelled`: the seeds that a cancelled crawl gave up."""
        walk = _Walk(seeds, cancelled)
        if not walk.todo:
            return 0, True
        await self._waiting.put(walk)
        with suppress(TimeoutError):
            async with asyncio.timeout(MOMENT_S):
                await walk.ended.wait()
        return walk.found, walk.ended.is_set()

    async def _follow(self, walk: _Walk, publish: Publish, take_up: TakeUp) -> None:
        until = self._clock().steady + WITHIN_S
        while walk.todo and walk.followed < MAX_FOLLOWED and self._clock().steady < until:
            asked = [walk.todo.popleft() for _ in range(min(MAX_ASKED, len(walk.todo)))]
            walk.followed += len(asked)
            new, given_up = list[Visit](), list[Followed]()
            for entry, answer in zip(asked, await self._progress(asked), strict=True):
                if answer.reason == CANCELLED:
                    given_up.append(entry)
                elif answer.state in NEW:
                    new.append(Visit(entry.url, entry.depth, scope=entry.scope))
                found = [each for each in answer.found if each.url not in walk.heard]
                walk.heard.update(each.url for each in found)
                walk.todo.extend(found)
            if given_up:
                await take_up(given_up)
            if new:
                await publish(new)
            walk.found += len(new) + len(given_up)
