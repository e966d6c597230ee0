"""Leave to ask a site: without it nothing is asked, an outcome that is known is taken, and each leave is given back."""

from dataclasses import dataclass, field

from crawl import TokenAnswer, Visit, VisitState
from crawl.politeness.site_tokens import AlwaysGranted
from tests.crawl.world import Crawl, Web, seed


@dataclass
class Turnstile:
    """Gives leave to each URL only when it asks for the second time."""

    known: dict[str, Visit] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    given: list[str] = field(default_factory=list)
    back: list[tuple[str, float]] = field(default_factory=list)

    async def ask(self, visit: Visit) -> TokenAnswer:
        assert len(self.given) == len(self.back), "one leave at a time, as there is one site"
        self.asked.append(visit.url)
        if visit.url in self.known:
            return TokenAnswer(known=self.known[visit.url])
        if self.asked.count(visit.url) < 2:
            return TokenAnswer(wait_s=0.03)
        self.given.append(visit.url)
        return TokenAnswer()

    async def done(self, url: str, rest_s: float) -> None:
        self.back.append((url, rest_s))


async def test_nothing_is_asked_without_leave_and_each_leave_is_given_back(site: Web, crawl: Crawl) -> None:
    turnstile = crawl.crawler._permits = Turnstile()
    site.add("a.test", {"/": '<a href="/1">1</a><a href="/2">2</a>', "/1": "one", "/2": "two"})
    await crawl.run(seed(site.url("a.test")))
    pages = [site.url("a.test", path) for path in ("/", "/1", "/2")]
    assert set(turnstile.given) == set(pages) and [url for url, _ in turnstile.back] == turnstile.given
    assert len(turnstile.given) == len(site.paths("a.test")), "one for each request, robots.txt too"
    assert all(rest_s > 0 for _, rest_s in turnstile.back), "and says how long the site must rest"
    assert all(turnstile.asked.count(url) >= 2 for url in pages)
    assert sorted(site.paths("a.test")) == ["/", "/1", "/2", "/robots.txt"]


async def test_a_url_that_was_fetched_where_it_lay_before_is_not_asked_again(site: Web, crawl: Crawl) -> None:
    url = site.url("a.test")
    before = Visit(url=url, depth=3, state=VisitState.FETCHED, due_at=4e9, visited_at=1e9, status=200)
    crawl.crawler._permits = Turnstile({url: before})
    site.add("a.test", {"/": "never read"})
    await crawl.run(seed(url))
    assert not site.paths("a.test")
    assert crawl.crawler._frontier.find(url) == before


async def test_most_sites_need_no_leave() -> None:
    assert await AlwaysGranted().ask(seed("https://a.test/")) == TokenAnswer(0.0, None)
    await AlwaysGranted().done("https://a.test/", 1.0)
