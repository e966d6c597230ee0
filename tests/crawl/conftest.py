"""Fixtures: a web on loopback, and a crawler on it."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from aiohttp import web

from crawl import CrawlConfig, InlineParsers, open_fetcher
from crawl.fetch.fetcher import HttpFetcher
from dht import system_clock
from tests.crawl.world import Crawl, Web


@pytest.fixture
async def site() -> AsyncIterator[Web]:
    site = Web()
    runner = web.ServerRunner(web.Server(site.answer), shutdown_timeout=0.1)
    await runner.setup()
    listener = web.TCPSite(runner, "127.0.0.1", 0)
    await listener.start()
    site.port = runner.addresses[0][1]
    yield site
    await runner.cleanup()


@pytest.fixture
def config(tmp_path: Path) -> CrawlConfig:
    hosts = tmp_path / "hosts"
    names = " ".join(f"{name}.test" for name in "abcdefgh")
    hosts.write_text(f"127.0.0.1 {names}\n::1 six.test\n10.9.8.7 inner.test\n169.254.169.254 meta.test\n")
    return CrawlConfig(
        allow_private=True,
        hosts_file=str(hosts),
        dns=False,
        min_delay_s=0.02,
        latency_factor=0.0,
        connect_timeout_s=2.0,
        read_timeout_s=0.5,
        total_timeout_s=1.5,
        retry_base_s=0.1,
        max_fails=2,
        keeper_retry_s=0.01,
        parser_processes=0,
    )


@pytest.fixture
async def fetcher(config: CrawlConfig) -> AsyncIterator[HttpFetcher]:
    async with open_fetcher(config, "0", system_clock) as fetcher:
        yield fetcher


@pytest.fixture
async def crawl(config: CrawlConfig, fetcher: HttpFetcher) -> AsyncIterator[Crawl]:
    async with AsyncExitStack() as stack:
        parsers = InlineParsers()
        stack.callback(parsers.close)
        yield Crawl(config, fetcher, parsers)
