"""No page of the sample web is lost where a tenth of its answers come in the odd forms of real servers."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from crawl import CrawlConfig, CrawlDecision, InlineParsers, Page, open_fetcher
from dht import system_clock
from node.extras.demo.sample_web import unpack_sample
from tests.crawl.web.odd_answers import FORMS
from tests.crawl.web.odd_web import OddWeb, open_odd_web
from tests.crawl.world import Crawl, seed, state

SHARE = 0.1


@pytest.fixture
def parsers() -> Iterator[InlineParsers]:
    parsers = InlineParsers()
    yield parsers
    parsers.close()


async def read(web: OddWeb, config: CrawlConfig, parsers: InlineParsers) -> tuple[Crawl, dict[str, tuple[str, str]]]:
    """Crawl the web anew; return title and text of its pages, too."""
    async with open_fetcher(config, "0", system_clock) as fetcher:
        crawl = Crawl(config, fetcher, parsers)
        crawl.access.decide = lambda url: CrawlDecision(url.startswith(web.fronts), "elsewhere")  # type: ignore[method-assign]
        await crawl.run(*(seed(front, 20) for front in web.fronts), within_s=30.0)
        return crawl, {url: words(page) for url, page in crawl.owner.pages.items()}


def words(page: Page) -> tuple[str, str]:
    return page.title, page.text


async def test_no_page_is_lost_where_a_tenth_of_the_answers_is_odd(
    config: CrawlConfig, tmp_path: Path, parsers: InlineParsers
) -> None:
    unpack_sample(tmp_path / "web")
    async with open_odd_web(tmp_path / "web") as web:
        hosts = tmp_path / "names"
        hosts.write_text("".join(f"127.0.0.1 {name}\n" for name in web.sites))
        config = replace(config, hosts_file=str(hosts), min_delay_s=0.001)
        _, plain = await read(web, config, parsers)
        assert len(plain) > 400
        names = list(FORMS)
        for n, forms in enumerate((names[::3], names[1::3], names[2::3])):
            web.make_odd(forms, SHARE, list(plain), seed=n)
            crawl, odd = await read(web, config, parsers)
            lost = {web.forms.get(url, "as it is"): state(crawl, url) for url in plain.keys() - odd.keys()}
            changed = {web.forms.get(url, "as it is") for url in odd if odd[url] != plain.get(url)}
            assert (lost, changed) == ({}, set())
            assert set(web.forms.values()) == set(forms) and len(web.forms) == round(SHARE * len(plain))
