import pytest

from crawl import CrawlDecision, Visit
from crawl.frontier.admission import Trail, admit_urls, refuse_url


@pytest.mark.parametrize(
    "url",
    [
        "http://a.test/2026/11/21/news.html",
        "http://a.test/archive/1998/03/",
        "http://a.test/wiki/2001",
        "http://a.test/item/9999",
        "http://a.test/9999/",
        "http://a.test/a/b/c/d/e/f/g/h/i.html?x=1&y=2",
        "http://a.test/docs/docs/docs/x",
        "http://x13.test/iso/9001-2/",
        "http://a.test/1848/03/18/",
        "http://a.test/2031/02/plan",
        "http://a.test/maps/0079/10/24/vesuvius",
        "http://a.test/parts/7400-1/",
        "http://a.test/issues?year=1848&m=3",
        "http://a.test/forecast?date=2099-03-01",
        "http://a.test/tenders/2045-12-31.html",
    ],
)
def test_pages_that_people_read_pass(url: str) -> None:
    assert refuse_url(url) == ""


@pytest.mark.parametrize(
    ("url", "word"),
    [
        ("http://a.test/a/b/a/b/a/b/a/b/", "repeats"),
        ("http://a.test/" + "/".join(f"d{n}" for n in range(30)), "deep"),
        ("http://a.test/shop?" + "&".join(f"f{n}=1" for n in range(20)), "parameters"),
        ("http://a.test:25/", "guard: port 25 is that of another service"),
        ("http://" + "a." * 20 + "test/", "host name"),
    ],
)
def test_traps_are_refused_with_a_reason(url: str, word: str) -> None:
    assert word in refuse_url(url)


def decide(url: str) -> CrawlDecision:
    if "denied" in url:
        return CrawlDecision(False, "rule 7")
    return CrawlDecision(True, max_depth=1 if "shallow" in url else None)


def test_scope_travels_with_the_url_and_rules_narrow_it() -> None:
    urls = ["http://a.test/", "http://shallow.test/", "http://a.test/", "http://denied.test/"]
    visits, reasons = admit_urls(urls, Trail(4, 2, ""), decide)
    assert visits == [Visit(urls[0], depth=4, hops=2), Visit(urls[1], depth=1, hops=2)]
    assert reasons == ["rule 7"]


def test_links_out_of_scope_are_left_out_and_the_others_inherit_it() -> None:
    urls = ["http://a.test/docs/x", "https://a.test/docs/", "http://a.test/doc", "http://b.test/docs/x"]
    visits, reasons = admit_urls(urls, Trail(1, 0, "a.test/docs/"), decide)
    assert visits == [Visit(url, depth=1, scope="a.test/docs/") for url in urls[:2]]
    assert reasons == ["scope", "scope"]
