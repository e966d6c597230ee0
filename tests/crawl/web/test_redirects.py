"""Redirects lead to literal URLs, by chains that keep their cookies to themselves; lists and rules follow them, too."""

import pytest

from crawl import Visit, VisitState
from tests.crawl.web.raw_sites import PAGE, RawSites, case, html, moved, ok
from tests.crawl.world import Crawl, seed, state

A = "http://s1.test"
SET, SENT = b"Set-Cookie: t=1; Path=/; HttpOnly", "t=1"


def sitemap(*urls: str, of: str = "url", inside: str = "urlset") -> bytes:
    body = "".join(f"<{of}><loc>{url}</loc></{of}>" for url in urls)
    body = f"<{inside}>{body}</{inside}>".encode()
    return ok(b"Content-Type: application/xml", b"Content-Length: %d" % len(body), body=body)


def rules(*lines: str) -> bytes:
    body = "\n".join(("User-agent: *", "Allow: /", *lines)).encode()
    return ok(b"Content-Type: text/plain", b"Content-Length: %d" % len(body), body=body)


def refreshed(to: str, *lines: bytes, body: bytes = b"") -> bytes:
    meta = f"<meta http-equiv=refresh content='0; url={to}'>".encode()
    return ok(b"Content-Type: text/html", *lines, body=body + meta)


CHAINS = {  # name: (what the site answers by path and cookie, what it was asked for), from /c on; the page is read
    "session id": ({"/c": moved("/c?PHPSESSID=1f"), "/c?PHPSESSID=1f": html(PAGE)}, ["/c", "/c?PHPSESSID=1f"]),
    "session in the path": ({"/c": moved("/c;jsessionid=1"), "/c;jsessionid=1": html(PAGE)}, ["/c", "/c;jsessionid=1"]),
    "tracking": ({"/c": moved("/c?utm_source=x"), "/c?utm_source=x": html(PAGE)}, ["/c", "/c?utm_source=x"]),
    "escapes": ({"/c": moved("/%63"), "/%63": html(PAGE)}, ["/c", "/%63"]),
    "a cookie and back": ({"/c": moved("/c", SET), "/c t=1": html(PAGE)}, ["/c", "/c t=1"]),
    "a check of cookies": (
        {"/c": moved("/c?check=1", SET), "/c?check=1 t=1": moved("/c"), "/c t=1": html(PAGE)},
        ["/c", "/c?check=1 t=1", "/c t=1"],
    ),
    "a cookie that changes": (
        {"/c": moved("/c", b"Set-Cookie: n=1"), "/c n=1": moved("/c", b"Set-Cookie: n=2"), "/c n=2": html(PAGE)},
        ["/c", "/c n=1", "/c n=2"],
    ),
    "another path's cookie": (
        {"/c": moved("/c?gclid=1", b"Set-Cookie: x=1; Path=/other", SET), "/c?gclid=1 t=1": html(PAGE)},
        ["/c", "/c?gclid=1 t=1"],
    ),
    "a cookie that is removed": (
        {
            "/c": moved("/c?fbclid=1", SET),
            "/c?fbclid=1 t=1": moved("/c?fbclid=2", b"Set-Cookie: t=; Max-Age=0; Path=/"),
            "/c?fbclid=2": html(PAGE),
        },
        ["/c", "/c?fbclid=1 t=1", "/c?fbclid=2"],
    ),
    "a refresh": ({"/c": refreshed("/c?utm_source=x"), "/c?utm_source=x": html(PAGE)}, ["/c", "/c?utm_source=x"]),
    "a refresh and a cookie": ({"/c": refreshed("/c", SET), "/c t=1": html(PAGE)}, ["/c", "/c t=1"]),
    "a refresh to a check": (
        {"/c": refreshed("/c?PHPSESSID=1", SET), "/c?PHPSESSID=1 t=1": moved("/c"), "/c t=1": html(PAGE)},
        ["/c", "/c?PHPSESSID=1 t=1", "/c t=1"],
    ),
    "a page that refreshes itself": (
        {"/c": refreshed("/c?gclid=1"), "/c?gclid=1": refreshed("/c?gclid=2", body=PAGE)},
        ["/c", "/c?gclid=1"],
    ),
    "a header's refresh": (
        {"/c": ok(b"Refresh: 0; url=/c?PHPSESSID=1", body=PAGE), "/c?PHPSESSID=1": html(PAGE)},
        ["/c", "/c?PHPSESSID=1"],
    ),
    "a secure cookie": (
        {"/c": moved("/c?yclid=1", b"Set-Cookie: s=1; Secure", SET), "/c?yclid=1 t=1": html(PAGE)},
        ["/c", "/c?yclid=1 t=1"],
    ),
}


@pytest.mark.parametrize("name", CHAINS)
async def test_a_redirect_leads_to_its_literal_url(name: str, sites: RawSites, crawl: Crawl) -> None:
    answers, asked = CHAINS[name]
    sites.answers = {f"{A}{path}": answer for path, answer in answers.items()}
    url = sites.url(f"{A}/c")
    await crawl.run(seed(url))
    assert (sites.paths("s1.test"), state(crawl, url)) == (asked, (VisitState.FETCHED, ""))
    assert (crawl.owner.pages[url].title, list(crawl.owner.pages)) == ("page", [url]), "by its canonical URL alone"
    assert crawl.owner.pages[url].sent is None, "no note of a request tells its spelling"


@pytest.mark.parametrize("status", [b"300 Multiple Choices", b"302 Found", b"303 See Other"])
async def test_a_redirect_to_nowhere_is_the_page_that_it_shows(status: bytes, sites: RawSites, crawl: Crawl) -> None:
    """As browsers show it (Fetch, HTTP-redirect fetch; lightpanda 2713, wpull 390)."""
    sites.answers[f"{A}/c"] = ok(b"Content-Type: text/html", status=status)
    await crawl.run(seed(sites.url(f"{A}/c")))
    assert state(crawl, sites.url(f"{A}/c")) == (VisitState.FETCHED, "")


async def test_given_chains_end_at_their_pages(sites: RawSites, crawl: Crawl) -> None:
    sites.answers = case("06-cookie-and-session-redirect")
    sites.answers |= {f"http://ck.test{path}": html(PAGE) for path in ("/d;jsessionid=1", "/f?utm_source=x")}
    urls = [sites.url(f"http://ck.test/{path}") for path in "cdf"]
    await crawl.run(*map(seed, urls))
    assert [state(crawl, url) for url in urls] == 3 * [(VisitState.FETCHED, "")]
    assert sites.paths("ck.test").count("/c?PHPSESSID=1f2e") == 1
    assert crawl.owner.pages[urls[0]].title == "ck c"


async def test_cookies_stay_with_their_host_and_chain(sites: RawSites, crawl: Crawl) -> None:
    sites.answers = {
        f"{A}/a": moved("http://s2.test/b", SET, b"Set-Cookie: d=1; Domain=.test"),
        "http://s2.test/b": html(PAGE),
        f"{A}/c": moved("/d", SET),
        f"{A}/d t=1": moved("/e"),
        f"{A}/e t=1": html(PAGE),
        f"{A}/e": html(PAGE),
    }
    await crawl.run(seed(sites.url(f"{A}/a")), seed(sites.url(f"{A}/c")))
    assert sites.paths("s2.test") == ["/b"]
    assert sorted(sites.paths("s1.test")) == ["/a", "/c", "/d t=1", "/e", "/e t=1"]
    end = crawl.owner.visits[sites.url(f"{A}/c")]
    assert (end.state, end.target) == (VisitState.REDIRECT, sites.url(f"{A}/e"))


CIRCLES = {
    "itself": ({"/c": moved("/c")}, "redirect to itself", 1),
    "one cookie again and again": ({"/c": moved("/c", SET)}, "redirect to itself", 2),
    "two spellings": ({"/c": moved("/c?utm_source=1"), "/c?utm_source=1": moved("/c")}, "redirect to itself", 2),
    "new sessions": (
        {"/c": moved("/c?PHPSESSID=0"), **{f"/c?PHPSESSID={n}": moved(f"/c?PHPSESSID={n + 1}") for n in range(30)}},
        "more than 10 redirects",
        11,
    ),
    "what robots.txt disallows": (
        {"/robots.txt": rules("Disallow: /*PHPSESSID"), "/c": moved("/c?PHPSESSID=1")},
        "redirect to what robots.txt disallows",
        1,
    ),
    "what takes too long": (
        {"/c": moved("/c?PHPSESSID=1", b"Retry-After: 70")},
        "redirects that take longer than 60 s at its site's pace",
        1,
    ),
}


@pytest.mark.parametrize("name", CIRCLES)
async def test_a_chain_without_an_end_is_given_up_with_the_reason(name: str, sites: RawSites, crawl: Crawl) -> None:
    answers, reason, requests = CIRCLES[name]
    sites.answers = {f"{A}{path}": answer for path, answer in answers.items()}
    url = sites.url(f"{A}/c")
    await crawl.run(seed(url))
    said = state(crawl, url)
    assert (said[0], said[1].replace(f":{sites.port}", "")) == (VisitState.REFUSED, reason)
    assert len(sites.paths("s1.test")) == requests


MOVED_LISTS = {  # name: what the site answers; its sitemap names /p, or it has a sitemap that does
    "one hop": {"/sitemap.xml": moved("/new.xml", status=b"301 Moved"), "/new.xml": sitemap(f"{A}/p")},
    "two hops": {"/sitemap.xml": moved("/b.xml"), "/b.xml": moved("/c.xml"), "/c.xml": sitemap(f"{A}/p")},
    "a session": {"/sitemap.xml": moved("/sitemap.xml?PHPSESSID=1"), "/sitemap.xml?PHPSESSID=1": sitemap(f"{A}/p")},
    "a cookie": {"/sitemap.xml": moved("/sitemap.xml", SET), "/sitemap.xml t=1": sitemap(f"{A}/p")},
    "a child": {
        "/sitemap.xml": sitemap(f"{A}/a.xml", of="sitemap", inside="sitemapindex"),
        "/a.xml": moved("/b.xml", status=b"308 X"),
        "/b.xml": sitemap(f"{A}/p"),
    },
    "relative": {"/sitemap.xml": moved("deep/new.xml", status=b"307 X"), "/deep/new.xml": sitemap("../p")},
}


@pytest.mark.parametrize("name", MOVED_LISTS)
async def test_sitemaps_of_robots_txt_are_followed(name: str, sites: RawSites, crawl: Crawl) -> None:
    answers = {
        "/robots.txt": rules(f"Sitemap: {A}/sitemap.xml"),
        "/": html(PAGE),
        "/p": html(PAGE),
        **MOVED_LISTS[name],
    }
    sites.answers = {f"{A}{path}": answer for path, answer in answers.items()}
    await crawl.run(seed(sites.url(f"{A}/")))
    assert state(crawl, sites.url(f"{A}/p")) == (VisitState.FETCHED, "")


async def test_a_given_sitemap_that_moved_is_read(sites: RawSites, crawl: Crawl) -> None:
    sites.answers = case("02-sitemap-moved") | {"http://sm1.test/": html(PAGE)}
    await crawl.run(seed(sites.url("http://sm1.test/")))
    assert {path for path in sites.paths("sm1.test") if "deep" in path} == {f"/deep/{n}.html" for n in (1, 2, 3)}


async def test_a_sitemap_that_moved_to_another_site_keeps_to_that_sites_rules(sites: RawSites, crawl: Crawl) -> None:
    there = "http://s3.test"
    sites.answers = {
        f"{A}/robots.txt": rules(f"Sitemap: {A}/sitemap.xml"),
        f"{A}/": html(PAGE),
        f"{A}/sitemap.xml": moved(f"{there}/sitemap.xml"),
        f"{there}/robots.txt": rules("Disallow: /private"),
        f"{there}/sitemap.xml": sitemap(f"{there}/p", f"{there}/private"),
        f"{there}/p": html(PAGE),
    }
    await crawl.run(seed(sites.url(f"{A}/")))
    assert sites.paths("s3.test") == ["/sitemap.xml", "/p"]
    assert sites.asked.index(f"{there}/robots.txt") < sites.asked.index(f"{there}/sitemap.xml")


@pytest.mark.parametrize(("scope", "asked"), [("", ["/s.xml", "/q"]), ("s1.test", ["/s.xml"])])
async def test_a_sitemap_at_another_site_is_read(scope: str, asked: list[str], sites: RawSites, crawl: Crawl) -> None:
    """As the New York Times has it (crawler-commons 81, 85). A scope bounds the pages that it lists, not the file."""
    there = "http://s3.test"
    sites.answers = {
        f"{A}/robots.txt": rules(f"Sitemap: {there}/s.xml"),
        f"{there}/robots.txt": rules("Disallow: /private"),
        f"{there}/s.xml": sitemap(f"{A}/p", f"{there}/q", f"{there}/private"),
    } | {url: html(PAGE) for url in (f"{A}/", f"{A}/p", f"{there}/q")}
    await crawl.run(Visit(sites.url(f"{A}/"), 1, scope=scope))
    assert (sites.paths("s1.test"), sites.paths("s3.test")) == (["/", "/p"], asked)
    assert sites.asked.index(f"{there}/robots.txt") < sites.asked.index(f"{there}/s.xml")


async def test_a_page_names_a_sitemap(sites: RawSites, crawl: Crawl) -> None:
    """As pages by Astro, Jekyll and Hugo do (fess 786)."""
    head = b"<title>t</title><link rel=sitemap type=application/xml href=/s.xml>"
    sites.answers = {f"{A}/": html(head), f"{A}/s.xml": sitemap(f"{A}/p"), f"{A}/p": html(PAGE)}
    await crawl.run(seed(sites.url(f"{A}/")))
    assert sites.paths("s1.test") == ["/", "/s.xml", "/p"]


async def test_a_feed_that_was_handed_in_is_followed(sites: RawSites, crawl: Crawl) -> None:
    feed = b"<rss><channel><item><link>/p</link></item></channel></rss>"
    sites.answers = {f"{A}/feed": moved("/feed/?PHPSESSID=2"), f"{A}/p": html(PAGE)}
    sites.answers |= {f"{A}/feed/": moved("/feed/?utm_medium=x"), f"{A}/feed/?utm_medium=x": ok(body=feed)}
    await crawl.run(Visit(sites.url(f"{A}/feed"), 1, is_sitemap=True))
    assert state(crawl, sites.url(f"{A}/p")) == (VisitState.FETCHED, "")


MOVED_RULES = {  # name: what answers; the rules bar /private
    "literal": {
        "/robots.txt": moved("/robots.txt?PHPSESSID=1"),
        "/robots.txt?PHPSESSID=1": rules("Disallow: /private"),
    },
    "a cookie": {"/robots.txt": moved("/robots.txt", SET), "/robots.txt t=1": rules("Disallow: /private")},
    "five hops": {
        "/robots.txt": moved("/1"),
        **{f"/{n}": moved(f"/{n + 1}") for n in range(1, 5)},
        "/5": rules("Disallow: /private"),
    },
}


@pytest.mark.parametrize("name", MOVED_RULES)
async def test_robots_txt_is_followed_to_its_literal_url(name: str, sites: RawSites, crawl: Crawl) -> None:
    sites.answers = {f"{A}{path}": answer for path, answer in MOVED_RULES[name].items()} | {f"{A}/open": html(PAGE)}
    private, public = sites.url(f"{A}/private"), sites.url(f"{A}/open")
    await crawl.run(seed(private), seed(public))
    assert state(crawl, private)[1] == "robots"
    assert state(crawl, public) == (VisitState.FETCHED, "")
