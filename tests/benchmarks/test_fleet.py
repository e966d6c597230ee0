"""The benchmark rows about many hosts, nodes and URLs count correctly."""

import asyncio
import json
from pathlib import Path
from random import Random

import pytest

from benchmarks.crawl.fleet import Web, crawl, most_open
from benchmarks.crawl.million import made_up
from benchmarks.crawl.slowweb import address_of, page
from crawl import canonical_url


def test_requests_open_at_once_are_counted_as_a_slow_count_would() -> None:
    rng = Random(1)
    rows = [{"t": rng.random() * 9, "ms": rng.random() * 3000} for _ in range(60)]
    slow = max(sum(o["t"] <= r["t"] < o["t"] + o["ms"] / 1000 for o in rows) for r in rows)
    assert most_open(rows) == slow
    assert most_open([]) == 0


def test_made_up_urls_are_different_canonical_and_the_same_each_time() -> None:
    urls = list(made_up(2000, Random(3)))
    assert len(set(urls)) == 2000 and urls == list(made_up(2000, Random(3)))
    assert all(canonical_url(url) == url for url in urls)


def test_the_slow_web_has_as_many_addresses_as_it_says() -> None:
    assert len({address_of(n, 480) for n in range(1500)}) == 480
    assert page("h1.example", 0, 9, 3, 50, ":80") == page("h1.example", 0, 9, 3, 50, ":80")
    assert page("h1.example", 0, 9, 3, 50, ":80").count("http://h") == 8


@pytest.mark.prove
@pytest.mark.parametrize("nodes", [1, 2])
def test_a_small_slow_web_is_crawled_whole_by_nodes_that_are_counted(nodes: int, tmp_path: Path) -> None:
    web = Web(hosts=12, addresses=6, pages=2, latency_s=0.05)
    done = asyncio.run(crawl(web, nodes, 0.1, tmp_path, 120.0))
    assert len(done.visitor.pages) == 24 and done.documents == 24 * nodes
    assert done.cpu_s > 0 and 0 < done.open_most <= 12 and 0 < done.open_most_at_address <= 4
    assert (done.messages > 0) == (nodes > 1)
    assert done.visitor.repeats == done.visitor.gaps == done.visitor.open_over_one == 0
    assert json.loads((tmp_path / "web.jsonl").read_text().splitlines()[0])["status"] == 200
