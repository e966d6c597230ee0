"""Machines with IPv4, with IPv6 and with both, installed with untouched defaults, and sites that have one of them."""

import time
from pathlib import Path

import pytest

from tests.lab import judge
from tests.lab.internet import Internet, needs_lab
from tests.lab.load import QUERIES, Load, answers
from tests.lab.village import PAGES

pytestmark = [pytest.mark.e2e, needs_lab]


async def test_three_machines_of_three_kinds_are_one_network(tmp_path: Path) -> None:
    async with Internet(tmp_path, seed=1) as net:
        four, _, both = hosts = net.host("four", (4,)), net.host("six", (6,)), net.host("both")
        net.link(delay_s=0.01, jitter_s=0.002)
        await net.serve_web()
        await net.found([both])
        await net.install(*hosts)
        await judge.one_view(hosts, within_s=40)
        async with Load(hosts, seed=1, rate=2) as load:
            await four.crawl(net.start_urls)
            await judge.rested(hosts, within_s=60)
        complete_at = time.time()
        found = await answers(hosts, QUERIES)
        fetched = judge.fetches(net)
        assert (fetched.pages, fetched.duplicates, fetched.gaps_under_rule) == (PAGES, 0, 0), judge.fetched_again(net)
        assert judge.contradictions(found) == [] and all(row.is_exact for row in found)
        texts = await judge.documents(net, hosts)
        assert len(texts) == PAGES and load.errors == []
        assert judge.wrong_exact(load.asked, texts, complete_at) == []
