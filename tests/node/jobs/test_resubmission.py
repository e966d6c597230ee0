"""What lies behind pages that are known."""

from collections.abc import Sequence
from random import Random
from typing import Any

from crawl import Visit
from dht import Now
from node.jobs import resubmission
from node.jobs.job_progress import Followed
from node.jobs.resubmission import Resubmission

LINKS = {"a": "bc", "b": "d", "c": "be", "d": "f", "e": "", "f": "g", "g": ""}


class Network:
    """Knows the pages named so far, and their links; a question takes a second."""

    def __init__(self, known: str) -> None:
        self.known, self.steady, self.asked = set(known), 0.0, list[str]()

    def clock(self) -> Now:
        return Now(1e9 + self.steady, self.steady)

    async def progress(self, asked: Sequence[Followed]) -> list[dict[str, Any]]:
        self.steady += 1.0
        self.asked += [each.url for each in asked]
        return [self._answer(each) for each in asked]

    def _answer(self, asked: Followed) -> dict[str, Any]:
        if asked.url not in self.known:
            return {"state": "unknown", "found": []}
        links = LINKS[asked.url] if asked.depth else ""
        return {
            "state": "fetched",
            "found": [{"url": u, "depth": asked.depth - 1, "scope": asked.scope} for u in links],
        }

    async def news(self, *seeds: Visit) -> dict[str, int]:
        found = await Resubmission(self.progress, self.clock).find(seeds)
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


async def test_of_a_large_known_part_only_so_much_is_followed(monkeypatch: Any) -> None:
    rng = Random(3)
    links = {str(n): [str(rng.randrange(500)) for _ in range(3)] for n in range(500)}
    monkeypatch.setitem(globals(), "LINKS", links)
    network = Network("")
    network.known = set(links)
    monkeypatch.setattr(resubmission, "MAX_ASKED", 10)
    assert await network.news(Visit("0", 99)) == {}
    assert len(network.asked) <= 10 * resubmission.WITHIN_S and len(set(network.asked)) == len(network.asked)
