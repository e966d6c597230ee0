"""Looks names up in DNS before their sites' first turn, so that no turn waits for DNS.

Sites that share an address are so known to do so before the first of them is asked.

A few look-ups at once, and fewer than the resolver has threads: turns that need a name now must not queue behind.
"""

import asyncio

from crawl.fetch.response import Locate
from crawl.frontier.site_queues import SiteQueues

AT_ONCE = 4
POLL_EVERY_S = 0.5  # for sites that were found meanwhile


class DnsPrefetch:
    """Looks up the addresses of the frontier's new sites."""

    def __init__(self, sites: SiteQueues, locate: Locate) -> None:
        self._sites, self._locate = sites, locate

    async def run(self) -> None:
        """Look up addresses until cancelled."""
        free = asyncio.Semaphore(AT_ONCE)
        async with asyncio.TaskGroup() as tasks:
            while True:
                await free.acquire()  # first: a look-up may take long, and another site be more urgent by then
                if (site := self._sites.next_unlocated()) is not None:
                    tasks.create_task(self._place(site, free))
                else:
                    free.release()
                    await asyncio.sleep(POLL_EVERY_S)

    async def _place(self, site: str, free: asyncio.Semaphore) -> None:
        try:
            if address := await self._locate(f"http://{site}/"):
                self._sites.set_address(site, address)
        finally:
            free.release()
