"""Finds what lies behind known pages, where a crawl that is handed in goes deeper, or wider, than those before it.

A known URL is not fetched anew for a seed, so nobody would follow its links. They are in the store, as far as the pages
are: from there the seeds are followed to what nobody knows yet, which is then handed in itself.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from crawl import Visit
from dht import Clock
from node.jobs.job_progress import MAX_ASKED, Followed

Json = dict[str, Any]

MAX_FOLLOWED = 10_000  # known URLs that are followed for one request
WITHIN_S = 10.0  # of the time that a request may take
NEW = ("unknown", "waiting")  # what waits may have been found with fewer links left, and counts once


class Resubmission:
    """Follows known seeds to what is new behind them, by the answers of `progress` (`JobProgress.answer`)."""

    def __init__(self, progress: Callable[[Sequence[Followed]], Awaitable[list[Json]]], clock: Clock) -> None:
        self._progress, self._clock = progress, clock

    async def find(self, seeds: Sequence[Visit]) -> list[Visit]:
        """Return new URLs behind seeds that are known, nearest first, each with what is left of depth and scope."""
        until = self._clock().steady + WITHIN_S
        heard = {visit.url for visit in seeds}
        todo = deque(
            Followed(visit.url, visit.depth, visit.scope) for visit in seeds if visit.depth or visit.is_sitemap
        )
        new: list[Visit] = []
        followed = 0
        while todo and followed < MAX_FOLLOWED and self._clock().steady < until:
            asked = [todo.popleft() for _ in range(min(MAX_ASKED, len(todo)))]
            followed += len(asked)
            for entry, answer in zip(asked, await self._progress(asked), strict=True):
                if answer["state"] in NEW:
                    new.append(Visit(entry.url, entry.depth, scope=entry.scope))
                found = [Followed(**each) for each in answer["found"] if each["url"] not in heard]
                heard.update(each.url for each in found)
                todo.extend(found)
        return new
