"""No page of the sample web is lost where a tenth of its answers come in the odd forms of real servers."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from crawl import CrawlConfig, HttpFetcher, InlineParsers, Page, VisitState, open_fetcher
from dht import system_clock
from node.extras.demo.sample_web import unpack_sample
from tests.crawl.web.odd_answers import FORMS
from tests.crawl.web.odd_web import OddWeb, open_odd_web
from tests.crawl.world import Crawl, seed


async def read(web: OddWeb, config: CrawlConfig) -> Crawl:
    parsers = InlineParsers()
    try:
        async with open_fetcher(config, "0", system_clock) as fetcher:
            crawl = Crawl(config, fetcher, parsers)
            await crawl.run(*(seed(f"http://{host}:{web.port}/", 20) for host in web.sites), within_s=90.0)
            return crawl
    finally:
        parsers.close()
