"""A site has one token at a time, with a rest in between; without it the crawler asks nothing."""

import random
from dataclasses import dataclass, field
from itertools import pairwise

from crawl import TokenAnswer, Visit, VisitState
from crawl.politeness.site_tokens import GUARD_S, MAX_SITES, POLL_S, TOKEN_S, TokenIssuer
from tests.crawl.world import Crawl, Web, seed


def test_requests_of_many_crawlers_never_overlap_and_rest_between() -> None:
    rng, issuer, now = random.Random(3), TokenIssuer(), 100.0
    crawlers = [bytes([n]) for n in range(1, 5)]
    ask_at, busy, requests = dict.fromkeys(crawlers, now), dict[bytes, float](), list[tuple[float, float, float]]()
    while len(requests) < 200:
        now += 0.1
        for peer in crawlers:
            if peer in busy and busy[peer] <= now:
                rest_s = rng.choice([1.0, 2.5, 10.0])
                requests[-1] = (requests[-1][0], now, rest_s)
                issuer.release(now, "big", peer, rest_s)
                del busy[peer]
                ask_at[peer] = now + rest_s
            elif peer not in busy and ask_at[peer] <= now:
                wait_s = issuer.acquire(now, "big", 7, peer)
                assert wait_s >= 0.0
                if wait_s:
                    ask_at[peer] = now + wait_s
                else:
                    assert not busy, "somebody has the token"
                    busy[peer] = now + rng.uniform(0.1, 3.0)
                    requests.append((now, 0.0, 0.0))
    assert requests[0][0] >= 100.0 + GUARD_S
    for (_, ended, rest_s), (began, _, _) in pairwise(requests):
        assert began >= ended + rest_s - 1e-6


def test_a_lost_token_runs_out_and_a_new_lease_begins_a_new_token() -> None:
    issuer = TokenIssuer()
    assert issuer.acquire(0.0, "big", 1, b"a") == GUARD_S
    assert issuer.acquire(GUARD_S, "big", 1, b"a") == 0.0
    assert issuer.acquire(GUARD_S + 1, "big", 1, b"b") == POLL_S
    issuer.release(GUARD_S + 2, "big", b"b", 0.0)  # not its token
    assert issuer.acquire(GUARD_S + 2, "big", 1, b"b") == POLL_S
    assert issuer.acquire(GUARD_S + TOKEN_S, "big", 1, b"b") == 0.0
    assert issuer.acquire(GUARD_S + TOKEN_S, "big", 2, b"a") == GUARD_S


def test_strangers_sites_do_not_fill_the_memory() -> None:
    issuer = TokenIssuer()
    for n in range(MAX_SITES + 100):
        issuer.acquire(0.0, f"site{n}", 1, b"a")
    assert len(issuer._tokens) == MAX_SITES


@dataclass
class Reluctant:
    """Grants a token to each URL only when it is asked for the second time."""

    known: dict[str, Visit] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    given: list[str] = field(default_factory=list)
    back: list[tuple[str, float]] = field(default_factory=list)

    async def acquire(self, visit: Visit) -> TokenAnswer:
        assert len(self.given) == len(self.back), "one token at a time, as there is one site"
        self.asked.append(visit.url)
        if visit.url in self.known:
            return TokenAnswer(known=self.known[visit.url])
        if self.asked.count(visit.url) < 2:
            return TokenAnswer(wait_s=0.03)
        self.given.append(visit.url)
        return TokenAnswer()

    async def release(self, url: str, rest_s: float) -> None:
        self.back.append((url, rest_s))


def reluctant(crawl: Crawl, known: dict[str, Visit] | None = None) -> Reluctant:
    tokens = Reluctant(known or {})
    crawl.access.acquire, crawl.access.release = tokens.acquire, tokens.release
    return tokens


async def test_nothing_is_asked_without_a_token_and_each_token_is_given_back(site: Web, crawl: Crawl) -> None:
    tokens = reluctant(crawl)
    site.add("a.test", {"/": '<a href="/1">1</a><a href="/2">2</a>', "/1": "one", "/2": "two"})
    await crawl.run(seed(site.url("a.test")))
    pages = [site.url("a.test", path) for path in ("/", "/1", "/2")]
    assert set(tokens.given) == set(pages) and [url for url, _ in tokens.back] == tokens.given
    assert len(tokens.given) == len(site.paths("a.test")), "one for each request, robots.txt too"
    assert all(rest_s > 0 for _, rest_s in tokens.back), "and says how long the site must rest"
    assert all(tokens.asked.count(url) >= 2 for url in pages)
    assert sorted(site.paths("a.test")) == ["/", "/1", "/2", "/robots.txt"]


async def test_a_url_that_was_fetched_where_it_lay_before_is_not_asked_again(site: Web, crawl: Crawl) -> None:
    url = site.url("a.test")
    before = Visit(url=url, depth=3, state=VisitState.FETCHED, due_at=4e9, visited_at=1e9, status=200)
    reluctant(crawl, {url: before})
    site.add("a.test", {"/": "never read"})
    await crawl.run(seed(url))
    assert not site.paths("a.test")
    assert crawl.crawler._frontier.find(url) == before
