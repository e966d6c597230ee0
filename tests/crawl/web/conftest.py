"""Fixtures: sites that send given bytes, and a configuration that knows their names."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from crawl import CrawlConfig
from tests.crawl.web.raw_sites import CASES, RawSites, case, open_sites

OWN = [f"s{n}.test" for n in range(40)]


@pytest.fixture
async def sites() -> AsyncIterator[RawSites]:
    async with open_sites() as sites:
        yield sites


@pytest.fixture
def config(config: CrawlConfig, tmp_path: Path) -> CrawlConfig:
    """The shared configuration, with the names of all sites here."""
    given = {url.split("/")[2] for folder in CASES.iterdir() for url in case(folder.name)}
    hosts = tmp_path / "hosts"
    hosts.write_text("".join(f"127.0.0.1 {name}\n" for name in (*given, *OWN)))
    return replace(config, hosts_file=str(hosts))
