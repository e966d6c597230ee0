"""Names looked up before their hosts' first turn, so that no turn waits for DNS, and hosts that share an address are
known to do so before the first of them is asked.

A few look-ups at once, and fewer than the resolver has threads: turns that need a name now must not queue behind.
"""

import asyncio

from crawl.fetched import Locate
from crawl.frontier import Frontier

AT_ONCE = 4
LOOK_EVERY_S = 0.5  # for hosts that were found meanwhile


class Prefetch:
    """Looks up the frontier's new hosts."""

    def __init__(self, frontier: Frontier, locate: Locate) -> None:
        self._frontier, self._locate = frontier, locate

    async def run(self) -> None:
        """Until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for _ in range(AT_ONCE):
                tasks.create_task(self._work())

    async def _work(self) -> None:
        while True:
            site = self._frontier.unplaced()
            if site is None:
                await asyncio.sleep(LOOK_EVERY_S)
            elif address := await self._locate(f"http://{site}/"):
                self._frontier.place(site, address)
