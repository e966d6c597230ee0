"""Pages that move their readers: at once is a redirect, later is a link, and in noscript only where nothing else is."""

import pytest

from crawl import UrlStatus, VisitState
from crawl.content.extract import extract
from crawl.content.page import Engine, ParseTask
from crawl.fetch.link_header import parse_refresh
from node.jobs.explain_verdict import Facts, verdict
from tests.crawl.web.raw_sites import PAGE, RawSites, case, html, ok
from tests.crawl.world import Crawl, seed

SPELLINGS = {  # content: seconds and reference
    "0; URL=/home/": (0, "/home/"),
    "0;url='/home/'": (0, "/home/"),
    "0,/home/": (0, "/home/"),
    "0 ; URL = /home/": (0, "/home/"),
    "0;/home/": (0, "/home/"),
    "0 /home/": (0, "/home/"),
    " 0.9;url=/home/ ": (0, "/home/"),
    ".5;url=/home/": (0, "/home/"),
    "1\n;\nUrl\n=\n/home/": (1, "/home/"),
    '0;url="/home/': (0, "/home/"),
    "0;url='/home/' and more": (0, "/home/"),
    "0; '/home/'": (0, "/home/"),
    "0;urls.html": (0, "urls.html"),
    "0;url=en/91/index.html": (0, "en/91/index.html"),  # Norconex 210
    "0; URL=": (0, ""),
    "5": (5, ""),
    "5;url=/home/": (5, "/home/"),
    "9999999999999;url=/": (999_999_999, "/"),
    "-1;url=/home/": None,
    "url=/home/": None,
    "0x;url=/home/": None,
    "٠;url=/home/": None,
    "": None,
}


@pytest.mark.parametrize("content", SPELLINGS)
def test_a_refresh_is_read_in_every_spelling(content: str) -> None:
    assert parse_refresh(content) == SPELLINGS[content]


HOME, WORDS = "http://a.test/home/", "<p>some words"
META = "<meta http-equiv=refresh content='{}'>"
PAGES = {  # name: the page, where it moves readers at once, and its links
    "in capitals": ("<META HTTP-EQUIV=REFRESH CONTENT='0; URL=/home/'>", HOME, []),
    "escaped": ("<meta http-equiv=' Refresh ' content='0;url=&#47;home&#x2F;?a=1&amp;b=2'>", f"{HOME}?a=1&b=2", []),
    "in the body": (WORDS + META.format("0;url=/home/"), HOME, []),
    "by the base": ("<base href=/home/>" + META.format("0;url=.") + WORDS, HOME, []),
    "later": (META.format("5;url=/home/") + WORDS, "", [HOME]),
    "itself": (META.format("0;url=/") + META.format("30") + WORDS, "", []),
    "only a reload": (META.format("300") + WORDS, "", []),
    "the first counts": (META.format("0;url=/home/") + META.format("0;url=/b"), HOME, []),
    "one that is none before": (META.format("soon") + META.format("0;url=/home/"), HOME, []),
    "in noscript": (f"<noscript>{META.format('0;url=/home/')}</noscript>", "", [HOME]),
    "in noscript of the body": (f"<body><noscript><p>{META.format('0;url=/home/')}</noscript>", "", [HOME]),
    "in noscript beside words": (f"<noscript>{META.format('0;url=/no')}</noscript>{WORDS}", "", []),
    "in noscript beside another": (
        f"<noscript>{META.format('0;url=/no')}</noscript>{META.format('0;url=/home/')}",
        HOME,
        [],
    ),
    "in a template": (f"<template>{META.format('0;url=/no')}</template>{WORDS}", "", []),
    "in a comment": (f"<!-- {META.format('0;url=/no')} -->{WORDS}", "", []),
    "a script": (META.format("0;url=javascript:go()") + WORDS, "", []),
    "no refresh": ("<meta http-equiv=refreshing content='0;url=/no'>" + WORDS, "", []),
}


@pytest.mark.parametrize("engine", ["lexbor", "lxml"])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_says_where_it_moves_its_readers(name: str, engine: Engine) -> None:
    page, moved_to, links = PAGES[name]
    task = ParseTask("http://a.test/", f"<!doctype html>{page}".encode(), "text/html", "", 10, 1000, engine)
    parsed = extract(task)
    assert (parsed.moved_to, [link.url for link in parsed.links]) == (moved_to, links)


@pytest.mark.parametrize(
    ("script", "target"),
    [
        ("window.location.replace('/there');", "http://a.test/there"),
        ("top.location.href = 'http://b.test/'", "http://b.test/"),
        ('document.location="http://b.test/"', "http://b.test/"),
        ("if (small) location = '/m'", ""),
        ("function go() { location = '/there'; }", ""),
        ("location = '/';", ""),
        ("var location_name = 'x'", ""),
    ],
)
@pytest.mark.parametrize("engine", ["lexbor", "lxml"])
def test_a_script_that_does_nothing_else_moves_readers(script: str, target: str, engine: Engine) -> None:
    def moved_to(page: str) -> str:
        return extract(ParseTask("http://a.test/", page.encode(), "text/html", "", 99, 9999, engine)).moved_to

    assert moved_to(f"<p>text</p><script type='text/javascript'>\n{script}\n</script>") == target
    commented = f"<p>text</p><!-- <script>{script}</script> -->"
    assert moved_to(commented) == "" and moved_to(f"{commented}<script>{script}</script>") == target


async def test_readers_that_are_moved_at_once_are_redirected(sites: RawSites, crawl: Crawl) -> None:
    sites.answers = case("05-meta-refresh")
    hosts = [url.split("/")[2] for url in sites.answers]
    sites.answers |= {f"http://{host}/home/": html(PAGE) for host in hosts}
    await crawl.run(*(seed(sites.url(f"http://{host}/")) for host in hosts))
    visits = {host: crawl.owner.visits[sites.url(f"http://{host}/")] for host in hosts}
    linked = ("r6.test", "r11.test")
    for host, visit in visits.items():
        home = sites.url(f"http://{host}/home/")
        by = "a Refresh header" if host == "r7.test" else "the page itself"
        moved = (VisitState.REDIRECT, home, f"moved by {by}")
        assert (visit.state, visit.target, visit.reason) == ((VisitState.FETCHED, "", "") if host in linked else moved)
        assert crawl.owner.pages[home].title == "page"
        assert (visit.url in crawl.owner.pages) == (host in linked)
    visit = visits["r1.test"]
    said = verdict(Facts("", visit, "", False, UrlStatus(), False), visit.visited_at)[1]
    assert said.startswith(f"moved by the page itself to {sites.url('http://r1.test/home/')} ")


HEADERS = {  # name: fields of the head, and the paths that are asked for
    "later": ((b"Refresh: 10; url=/next",), ["/", "/next"]),
    "before the page's own": ((b"Refresh: 0;url=/next",), ["/", "/next"]),
    "a circle": ((b"Refresh: 0;url=/",), ["/", "/meta"]),
    "nofollow": ((b"X-Robots-Tag: nofollow", b"Refresh: 0;url=/next"), ["/"]),
    "noindex": ((b"X-Robots-Tag: noindex", b"Refresh: 0;url=/next"), ["/", "/next"]),
}


@pytest.mark.parametrize("name", HEADERS)
async def test_a_header_moves_readers_as_a_page_does(name: str, sites: RawSites, crawl: Crawl) -> None:
    fields, paths = HEADERS[name]
    body = b"<title>moving</title><p>words" + (META.format("0;url=/meta").encode() if name != "later" else b"")
    sites.answers = {"http://s1.test/": ok(b"Content-Type: text/html", *fields, body=body)}
    sites.answers |= {f"http://s1.test{path}": html(PAGE) for path in ("/next", "/meta")}
    await crawl.run(seed(sites.url("http://s1.test/")))
    assert sites.paths("s1.test") == paths


async def test_pages_that_move_readers_in_a_circle_end(sites: RawSites, crawl: Crawl) -> None:
    for here, there in (("a", "b"), ("b", "a")):
        sites.answers[f"http://s1.test/{here}"] = html(META.format(f"0;url=/{there}").encode())
    for n in range(15):
        sites.answers[f"http://s2.test/{n}"] = html(META.format(f"0;url=/{n + 1}").encode())
    await crawl.run(seed(sites.url("http://s1.test/a")), seed(sites.url("http://s2.test/0")))
    assert sites.paths("s1.test") == ["/a", "/b"]
    assert crawl.owner.visits[sites.url("http://s2.test/10")].reason == "more than 10 redirects"
