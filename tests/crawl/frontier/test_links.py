from crawl import CrawlDecision, Visit
from crawl.frontier.admission import Trail, admit_urls

NOW = 1_700_000_000.0


def decide(url: str) -> CrawlDecision:
    if "denied" in url:
        return CrawlDecision(False, "rule 7")
    return CrawlDecision(True, max_depth=1 if "shallow" in url else None)


def test_scope_travels_with_the_url_and_rules_narrow_it() -> None:
    urls = ["http://a.test/", "http://shallow.test/", "http://a.test/", "http://denied.test/"]
    visits, reasons = admit_urls(urls, Trail(4, 2, ""), decide, NOW)
    assert visits == [Visit(urls[0], depth=4, hops=2), Visit(urls[1], depth=1, hops=2)]
    assert reasons == ["rule 7"]


def test_traps_are_left_out() -> None:
    visits, reasons = admit_urls(["http://a.test/calendar/2999/1/"], Trail(4, 0, ""), decide, NOW)
    assert (visits, reasons) == ([], ["guard: calendar beyond real dates"])


def test_links_out_of_scope_are_left_out_and_the_others_inherit_it() -> None:
    urls = ["http://a.test/docs/x", "https://a.test/docs/", "http://a.test/doc", "http://b.test/docs/x"]
    visits, reasons = admit_urls(urls, Trail(1, 0, "a.test/docs/"), decide, NOW)
    assert visits == [Visit(url, depth=1, scope="a.test/docs/") for url in urls[:2]]
    assert reasons == ["scope", "scope"]
