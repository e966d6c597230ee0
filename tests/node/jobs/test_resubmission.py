"""A crawl of a known seed goes on at the URLs behind it."""

import asyncio
from collections.abc import Sequence
from random import Random
from typing import Any

from crawl import Visit
from dht import Now
from node.api.crawl import Followed, UrlProgress
from node.jobs import resubmission
from node.jobs.cancellation import CANCELLED
from node.jobs.resubmission import Resubmission

LINKS = {"a": "bc", "b": "d", "c": "be", "d": "f", "e": "", "f": "g", "g": ""}


class Network:
    """Knows the pages named so far, and their links; a question takes a second."""

    def __init__(self, known: str) -> None:
        self.known, self.steady, self.asked = set(known), 0.0, list[str]()
        self.cancelled, self.taken_up = set[str](), dict[str, int]()

    def clock(self) -> Now:
        return Now(1e9 + self.steady, self.steady)

    async def take_up(self, asked: Sequence[Followed]) -> None:
        self.taken_up |= {each.url: each.depth for each in asked}

    async def progress(self, asked: Sequence[Followed]) -> list[UrlProgress]:
        self.steady += 1.0
        self.asked += [each.url for each in asked]
        return [self._answer(each) for each in asked]

    def _answer(self, asked: Followed) -> UrlProgress:
        if asked.url in self.cancelled:
            return UrlProgress(asked.url, "refused", CANCELLED, [])
        if asked.url not in self.known:
            return UrlProgress(asked.url, "unknown", "", [])
        links = LINKS[asked.url] if asked.depth else ""
        found = [Followed(url, asked.depth - 1, asked.scope) for url in links]
        return UrlProgress(asked.url, "fetched", "", found)

    async def news(self, *seeds: Visit) -> dict[str, int]:
        """Return the URLs that are handed in behind these seeds."""
        found: list[Visit] = []

        async def publish(visits: Sequence[Visit]) -> None:
            found.extend(visits)

        resubmission = Resubmission(self.progress, publish, self.clock, self.take_up)
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(resubmission.run())
            assert await resubmission.follow(seeds, self.cancelled) == (len(found) + len(self.taken_up), True)
            running.cancel()
        assert await resubmission.count(seeds, self.cancelled) == len(found) + len(self.taken_up)
        assert all(visit.scope == seeds[0].scope for visit in found)
        return {visit.url: visit.depth for visit in found}


async def test_a_deeper_crawl_goes_on_where_the_one_before_it_ended() -> None:
    assert await Network("a").news(Visit("a", 3, scope="s")) == {"b": 2, "c": 2}
    assert await Network("abc").news(Visit("a", 3, scope="s")) == {"d": 1, "e": 1}
    assert await Network("abcde").news(Visit("a", 3, scope="s")) == {"f": 0}
    assert await Network("abcdef").news(Visit("a", 3)) == {}
    assert await Network("abc").news(Visit("a", 1)) == {}, "no deeper than before"
    network = Network("a")
    assert await network.news(Visit("a", 0)) == {} and not network.asked


async def test_what_a_cancelled_crawl_gave_up_is_taken_up_with_the_depth_of_the_new_one() -> None:
    network = Network("a")
    network.cancelled = {"b", "c"}
    assert await network.news(Visit("a", 2)) == {} and network.taken_up == {"b": 1, "c": 1}
    network = Network("")
    network.cancelled = {"a"}
    assert await network.news(Visit("a", 0)) == {} and network.taken_up == {"a": 0}


async def test_of_a_large_known_part_only_so_much_is_followed(monkeypatch: Any) -> None:
    rng = Random(3)
    links = {str(n): [str(rng.randrange(500)) for _ in range(3)] for n in range(500)}
    monkeypatch.setitem(globals(), "LINKS", links)
    network = Network("")
    network.known = set(links)
    monkeypatch.setattr(resubmission, "MAX_ASKED", 10)
    monkeypatch.setattr(resubmission, "WITHIN_S", 10.0)
    assert await network.news(Visit("0", 99)) == {}
    half = len(network.asked) // 2  # counted once more
    assert half <= 10 * 10.0 and len(set(network.asked[:half])) == half


async def test_a_network_that_answers_late_is_followed_while_nobody_waits(monkeypatch: Any) -> None:
    monkeypatch.setattr(resubmission, "MOMENT_S", 0.0)
    network, found, answers, handed = Network("a"), list[Visit](), asyncio.Event(), asyncio.Event()

    async def publish(visits: Sequence[Visit]) -> None:
        found.extend(visits)
        handed.set()

    async def progress(asked: Sequence[Followed]) -> list[UrlProgress]:
        await answers.wait()
        return await network.progress(asked)

    late = Resubmission(progress, publish, network.clock, network.take_up)
    async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(late.run())
        assert await late.follow([Visit("a", 3)]) == (0, False)
        answers.set()
        await handed.wait()
        running.cancel()
    assert [visit.url for visit in found] == ["b", "c"]
