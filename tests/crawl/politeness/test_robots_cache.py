"""Which rules a site's robots.txt answers lead to. A scripted fetcher: no sockets."""

from collections.abc import Mapping

import pytest
from msgspec.structs import replace as with_fields

from crawl import AddressRefused, CrawlConfig, Fetched, FetchFailed
from crawl.politeness.robots import ALLOW_ALL, Robots
from crawl.politeness.robots_cache import RobotsCache, RobotsUnreachable
from dht import Now

HERE = "http://a.test/robots.txt"
PAGE = "http://a.test/x"
CONFIG = with_fields(CrawlConfig(), robots_ttl_s=1000.0, retry_base_s=30.0)


class Script:
    """A `Fetcher` that answers from a table, and a clock that is set by hand."""

    def __init__(self) -> None:
        self.answers: dict[str, Fetched | Exception] = {}
        self.asked: list[str] = []
        self.now = 100.0

    def say(self, url: str, status: int, body: str = "", location: str = "") -> None:
        headers = (("Location", location),) if location else ()
        self.answers[url] = Fetched(url, status, headers, body.encode(), False, 0.1, "")

    async def fetch(self, url: str, headers: Mapping[str, str], max_bytes: int) -> Fetched:
        self.asked.append(url)
        answer = self.answers[url]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def clock(self) -> Now:
        return Now(self.now, self.now)


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def cache(script: Script) -> RobotsCache:
    return RobotsCache(CONFIG, script, script.clock)


async def test_rules_are_kept_for_their_time(script: Script, cache: RobotsCache) -> None:
    script.say(HERE, 200, "User-agent: *\nDisallow: /x")
    assert cache.find(PAGE) is None
    await cache.ask(PAGE)
    rules = cache.find("http://a.test/y")
    assert isinstance(rules, Robots)
    assert (rules.allows(PAGE), rules.allows("http://a.test/y")) == (False, True)
    assert cache.find("https://a.test/y") is None  # another origin
    script.now += 1001
    assert cache.find(PAGE) is None


@pytest.mark.parametrize("status", [401, 403, 404, 410, 418])
async def test_without_rules_everything_is_allowed(status: int, script: Script, cache: RobotsCache) -> None:
    script.say(HERE, status, "User-agent: *\nDisallow: /")
    assert (await cache.ask(PAGE)).access is ALLOW_ALL


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_unreachable_rules_bar_the_site_longer_each_time(status: int, script: Script, cache: RobotsCache) -> None:
    script.say(HERE, status)
    for wait_s in (30, 120, 480):
        access = (await cache.ask(PAGE)).access
        assert isinstance(access, RobotsUnreachable)
        assert access.until == script.now + wait_s
        assert cache.find(PAGE) is access
        script.now = access.until
        assert cache.find(PAGE) is None


async def test_old_rules_serve_on_while_new_ones_cannot_be_had(script: Script, cache: RobotsCache) -> None:
    script.say(HERE, 200, "User-agent: *\nDisallow: /x")
    await cache.ask(PAGE)
    script.now += 1001
    script.answers[HERE] = FetchFailed(HERE, "connection: refused")
    access = (await cache.ask(PAGE)).access
    assert isinstance(access, Robots)
    assert not access.allows(PAGE)
    script.now += 31
    assert cache.find(PAGE) is None


async def test_a_private_address_bars_for_good(script: Script, cache: RobotsCache) -> None:
    script.answers[HERE] = AddressRefused("a.test", "10.0.0.1", "a private address")
    access = (await cache.ask(PAGE)).access
    assert isinstance(access, RobotsUnreachable)
    assert access.for_good


async def ask_on(cache: RobotsCache, url: str) -> Robots | RobotsUnreachable:
    while (access := (await cache.ask(url)).access) is None:
        pass
    return access


async def test_redirects_are_followed_but_not_for_ever(script: Script, cache: RobotsCache) -> None:
    script.say(HERE, 301, location="https://a.test/robots.txt")
    script.say("https://a.test/robots.txt", 200, "User-agent: *\nDisallow: /x")
    access = await ask_on(cache, PAGE)
    assert isinstance(access, Robots)
    assert not access.allows(PAGE)
    for n in range(9):
        script.say(f"http://b.test/{n}", 302, location=f"/{n + 1}")
    script.say("http://b.test/robots.txt", 302, location="/0")
    assert await ask_on(cache, "http://b.test/") is ALLOW_ALL
    assert len([url for url in script.asked if "b.test" in url]) == 6


async def test_each_request_is_a_turn_of_its_own(script: Script, cache: RobotsCache) -> None:
    script.say(HERE, 301, location="http://m.test/robots.txt")
    script.say("http://m.test/robots.txt", 200, "User-agent: *\nDisallow: /x")
    assert cache.next_url(PAGE) == HERE
    first = await cache.ask(PAGE)
    assert (first.access, script.asked) == (None, [HERE])
    assert cache.next_url(PAGE) == "http://m.test/robots.txt"
    assert isinstance((await cache.ask(PAGE)).access, Robots)
    assert isinstance(cache.find("http://m.test/y"), Robots)  # it is that site's own, too
    assert cache.next_url(PAGE) == HERE


async def test_rules_that_are_known_elsewhere_are_not_fetched_again(script: Script, cache: RobotsCache) -> None:
    script.say("http://m.test/robots.txt", 301, location=HERE)
    await cache.ask("http://m.test/x")
    script.say(HERE, 200, "User-agent: *\nDisallow: /x")
    await cache.ask(PAGE)
    access = cache.find("http://m.test/x")
    assert isinstance(access, Robots)
    assert not access.allows("http://m.test/x")
    script.say("http://n.test/robots.txt", 301, location=HERE)
    assert isinstance((await cache.ask("http://n.test/")).access, Robots)
    assert script.asked.count(HERE) == 1


async def test_a_file_beyond_the_bound_loses_its_broken_line(script: Script, cache: RobotsCache) -> None:
    text = "User-agent: *\nDisallow: /x\nDisallow: /"
    script.answers[HERE] = Fetched(HERE, 200, (), text.encode(), True, 0.1, "")
    access = (await cache.ask(PAGE)).access
    assert isinstance(access, Robots)
    assert (access.allows(PAGE), access.allows("http://a.test/y")) == (False, True)


async def test_rules_kept_of_all_sites_are_bounded(
    script: Script, cache: RobotsCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawl.politeness.robots_cache.MAX_RULES", 1000)
    body = "User-agent: *\n" + "".join(f"Disallow: /{n}\n" for n in range(99))
    for n in range(20):
        script.say(f"http://h{n}.test/robots.txt", 200, body)
        await cache.ask(f"http://h{n}.test/")
    assert [n for n in range(20) if cache.find(f"http://h{n}.test/")] == list(range(10, 20))


@pytest.mark.parametrize("value", ["500", "Thu, 01 Jan 1970 00:10:00 GMT"])
async def test_rules_are_not_asked_for_before_the_site_wants(script: Script, cache: RobotsCache, value: str) -> None:
    script.answers[HERE] = Fetched(HERE, 503, (("Retry-After", value),), b"", False, 0.1, "")
    asked = await cache.ask(PAGE)
    assert isinstance(asked.access, RobotsUnreachable)
    assert asked.access.until == 600.0
    script.answers[HERE] = Fetched(HERE, 503, (("Retry-After", "9" * 9),), b"", False, 0.1, "")
    script.now = 601.0
    asked = await cache.ask(PAGE)
    assert isinstance(asked.access, RobotsUnreachable)
    assert asked.access.until == 601.0 + CONFIG.max_retry_s, "bounded"


async def test_rules_are_news_where_they_differ_from_those_known_before(script: Script, cache: RobotsCache) -> None:
    told = []
    for status, body in ((200, "User-agent: *\nDisallow: /x"),) * 2 + ((503, ""), (200, ""), (404, "")):
        script.say(HERE, status, body)
        answer = await cache.ask(PAGE)
        told.append((answer.is_news, answer.were_known))
        script.now += 1001
    assert told == [(True, False), (False, True), (False, True), (True, True), (False, True)]
