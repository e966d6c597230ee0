"""Runs our client alone as a program: `python -m benchmarks.crawl.bare ORDER.json` fetches the order's seeds, one at a
time of a host, with the order's rest between, and does nothing with them. Writes its processor time to ORDER's
`report`."""

import asyncio
import json
import os
import sys
from collections import defaultdict
from pathlib import Path

import uvloop

from crawl import CrawlConfig, Fetcher, open_fetcher
from dht import site_of, system_clock


async def fetch_all(order: dict[str, object], hosts: Path) -> float:
    """Fetch an order's seeds and return the seconds of processor time."""
    config = CrawlConfig(allow_private=True, hosts_file=str(hosts), dns=False, agent="bare-fetch")
    by_site: dict[str, list[str]] = defaultdict(list)
    for url in order["seeds"]:  # type: ignore[attr-defined]
        by_site[site_of(url)].append(url)
    began = os.times()
    async with open_fetcher(config, "1", system_clock) as fetcher, asyncio.TaskGroup() as tasks:
        for urls in by_site.values():
            tasks.create_task(_fetch(fetcher, urls, float(str(order["delay_s"])), config.max_body_bytes))
    return sum(os.times()[:4]) - sum(began[:4])


async def _fetch(fetcher: Fetcher, urls: list[str], delay_s: float, most: int) -> None:
    for url in urls:
        (await fetcher.fetch(url, {}, most)).opened(most)
        await asyncio.sleep(delay_s)


def main() -> None:
    """Run an order; the hosts file lies beside it."""
    path = Path(sys.argv[1])
    order = json.loads(path.read_text())
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        cpu_s = runner.run(fetch_all(order, path.with_name("hosts")))
    Path(order["report"]).write_text(json.dumps({"cpu_s": cpu_s}))


if __name__ == "__main__":
    main()
