"""Four machines crawl enough that each may look at pages of others: what they ask is few, polite, and told apart."""

import asyncio
import random
from pathlib import Path

import pytest

from node.extras.demo.judge import MOST_SECOND_LOOK_SHARE
from tests.lab import judge
from tests.lab.host import until
from tests.lab.internet import Internet, needs_lab
from tests.lab.load import answers
from tests.lab.village import BOTH, Village

pytestmark = [pytest.mark.prove, needs_lab]
SITES, PAGES = 20, 60  # a node looks from some 200 fetches of its own on
LOOKED_WITHIN_S = 120.0


def pages(root: Path, seed: int) -> Path:
    """Sites of made-up words, each page linked from the one before it."""
    rng = random.Random(seed)
    for site in (f"site{n}.test" for n in range(SITES)):
        (root / site).mkdir(parents=True)
        for number in range(PAGES):
            words = " ".join(f"w{rng.getrandbits(30):x}" for _ in range(150))
            following = "".join(f'<a href="/p{n}.html">on</a>' for n in (2 * number + 1, 2 * number + 2) if n < PAGES)
            name = f"p{number}.html" if number else "index.html"
            (root / site / name).write_text(f"<html><title>{site} {number}</title><p>{words}</p>{following}</html>")
    return root


async def test_second_looks_are_few_polite_and_told_apart(tmp_path: Path) -> None:
    async with Internet(tmp_path, seed=11) as net:
        hosts = [net.host(f"n{number}", BOTH) for number in range(1, 5)]
        net.link(delay_s=0.015, jitter_s=0.003)
        await net.serve_web(pages(tmp_path / "sites", seed=11))
        await net.found(hosts[:2])
        village = Village(net, hosts)
        await village.form()
        async with village.load() as load:
            await village.crawl()

            async def has_looked() -> bool:
                return judge.fetches(net).second_looks > 0

            await until("somebody has looked at a page of another's", has_looked, LOOKED_WITHIN_S)
            await judge.rested(hosts, LOOKED_WITHIN_S)
        await asyncio.sleep(5)  # for looks that began
        fetched, said = judge.fetches(net), [(await host.get("/api/v1/status"))["second_looks"] for host in hosts]
        print(f"{fetched.pages} pages, {fetched.second_looks} second looks ({fetched.second_look_share:.2%}); {said}")
        assert (fetched.pages, fetched.duplicates, fetched.gaps_under_rule) == (SITES * PAGES, 0, 0)
        assert fetched.second_look_share <= MOST_SECOND_LOOK_SHARE
        assert fetched.second_looks == sum(each["fetches"] for each in said), "each has its line in a log"
        assert not any(each["unlike"] or each["evidence"] for each in said)
        assert village.faults(load.asked) == [] and load.errors == []
        assert judge.contradictions(await answers(hosts, [f"site{n}.test {n}" for n in range(5)])) == []
