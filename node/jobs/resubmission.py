"""What lies behind pages that are known: where a crawl that is handed in goes deeper, or wider, than those before it.

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

MAX_LOOKED = 10_000  # known URLs that are followed for one request
WITHIN_S = 10.0  # the same, of the time that a request may take
NEW = ("unknown", "waiting")  # what waits may have been found with fewer links left, and counts once


class Resubmission:
    """`look`: as Progress.of."""

    def __init__(self, look: Callable[[Sequence[Followed]], Awaitable[list[Json]]], clock: Clock) -> None:
        self._look, self._clock = look, clock

    async def find(self, seeds: Sequence[Visit]) -> list[Visit]:
        """New URLs behind seeds that are known, nearest first, each with the depth and scope that is left to it."""
        until = self._clock().steady + WITHIN_S
        heard = {visit.url for visit in seeds}
        todo = deque(
            Followed(visit.url, visit.depth, visit.scope) for visit in seeds if visit.depth or visit.is_sitemap
        )
        news: list[Visit] = []
        looked = 0
        while todo and looked < MAX_LOOKED and self._clock().steady < until:
            asked = [todo.popleft() for _ in range(min(MAX_ASKED, len(todo)))]
            looked += len(asked)
            for entry, answer in zip(asked, await self._look(asked), strict=True):
                if answer["state"] in NEW:
                    news.append(Visit(entry.url, entry.depth, scope=entry.scope))
                found = [Followed(**each) for each in answer["found"] if each["url"] not in heard]
                heard.update(each.url for each in found)
                todo.extend(found)
        return news
