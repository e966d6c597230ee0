"""New hosts are looked up before their first turn, each once."""

import asyncio

from crawl import Visit
from crawl.pipeline.dns_prefetch import AT_ONCE, DnsPrefetch
from dht import Now, Slot
from tests.crawl.world import new_frontier

NOW = Now(1e6, 0.0)


async def test_each_new_host_is_looked_up_once_a_few_at_a_time() -> None:
    frontier, sites = new_frontier(most=1)
    asked: list[str] = []
    open_now, most_open, is_done = 0, 0, asyncio.Event()

    async def locate(url: str) -> str:
        nonlocal open_now, most_open
        open_now += 1
        most_open = max(most_open, open_now)
        await asyncio.sleep(0)
        open_now -= 1
        asked.append(url)
        if len(asked) == 12:
            is_done.set()
        return "" if "h3." in url else "192.0.2.1"

    frontier.hold(Slot(0), 1, [Visit(f"http://h{n % 12}.test/{n}", 1) for n in range(36)], NOW)
    async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(DnsPrefetch(sites, locate).run())
        await is_done.wait()
        await asyncio.sleep(0)
        running.cancel()
    assert sorted(asked) == sorted(f"http://h{n}.test/" for n in range(12))
    assert most_open == AT_ONCE
    turns = [turn for _ in range(12) if (turn := frontier.pop(NOW))]
    assert [(turn.site, turn.address) for turn in turns] == [("h0.test", "192.0.2.1"), ("h3.test", "")]
