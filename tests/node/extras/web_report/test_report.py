"""The report and its page: what was planted in a web is found, told by name, and strangers' text stays text."""

from collections.abc import Sequence
from html.parser import HTMLParser
from random import Random
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest

from node.captures.capture import DAY_S, Capture, Lifetime
from node.extras.web_report.html_page import html_page
from node.extras.web_report.link_table import LinkTable
from node.extras.web_report.page_life import page_life
from node.extras.web_report.page_rank import CONVERGED, OneSweeper, in_links, rank
from node.extras.web_report.report import ReportCoverage, VotedPage, WebReport, measure, report_of
from node.extras.web_report.spread import Spread, SpreadGroup

FANS = [f"http://fan{n}.test/links" for n in range(4)]
CENTRES = [f"http://centre{n}.test/" for n in range(3)]
EVIL = "http://evil.test/<script>alert(1)</script>"
VOID = {"meta", "link", "br"}


def _web() -> list[Capture]:
    """Four fans of three centres, beside a site of 300 pages that link to each other by chance."""
    rng = Random(1)
    inside = [f"http://big.test/{n}" for n in range(300)]
    links = {url: [rng.choice(inside) for _ in range(rng.randrange(20))] for url in inside}
    links |= {fan: [*CENTRES, inside[0]] for fan in FANS}
    links[EVIL] = CENTRES[:2]
    return [
        Capture(url, 0.0, 200, (), b"", b"", links=tuple(to), language="en", text="x" * len(to))
        for url, to in links.items()
    ]


def _report(
    pages: list[Capture], lifetimes: Sequence[Lifetime] = (), listed: Sequence[str] | None = None, **reading: Any
) -> WebReport:
    table = LinkTable()
    for page in pages:
        table.add(page)
    web = table.table()
    links = in_links(web.graph)
    measured = measure(web, rank(links, OneSweeper(links)), 1)
    names, coverage = measured.wanted().look_in(pages), ReportCoverage(1.8e9, **reading)
    return report_of(measured, names, coverage, 1, page_life(lifetimes), listed)


@pytest.fixture(scope="module")
def report() -> WebReport:
    return _report(_web(), node="http://127.0.0.1:8090", left_out={"noarchive": 7})


def test_what_was_planted_is_told_by_name(report: WebReport) -> None:
    assert (report.pages, report.urls, report.sites, report.sites_with_pages) == (305, 308, 9, 6)
    assert {each.url for each in report.authorities[:4]} == {*CENTRES, "http://big.test/0"}
    assert {each.url for each in report.hubs[:4]} == set(FANS)
    assert report.communities.found == 1
    (core,) = report.communities.largest
    assert set(core.fans) == {*FANS} and {*CENTRES} <= {*core.centres}
    best, last = report.top_pages[0], report.top_pages[3]
    assert best.url in CENTRES[:2] and best.by_sites == 5 and not best.is_stored
    assert (report.top_pages[2].url, report.top_pages[2].is_stored, last.url) == (
        "http://big.test/0",
        True,
        CENTRES[2],
    )
    linked = [(row.site, row.linked_by, row.pages) for row in report.top_sites[:3]]
    assert sorted(linked[:2]) == [("centre0.test", 5, 0), ("centre1.test", 5, 0)] and linked[2] == ("big.test", 4, 300)
    ranks = report.page_rank
    assert ranks.page_error <= CONVERGED >= ranks.site_error
    assert {page.is_stored for page in ranks.pages} == {True} and ranks.pages[0].url.startswith("http://big.test/")
    assert {site.site for site in ranks.sites[:2]} == {"centre0.test", "centre1.test"} and ranks.sites[2].pages == 300
    assert report.languages == (("en", 305),)
    assert report.parts.core + report.parts.from_core + report.parts.to_core > 250
    assert 2 < report.distances.effective < 5
    assert report.text.largest == 19 and sum(count for _, count in report.text.sizes) == 305


def test_spread_votes_life_and_a_list_are_told_by_hand() -> None:
    """Four sites link to good.com. Links to /nav stand on all 4 pages of a.org: navigation."""
    hosts = ["a.org", "b.org", "192.0.2.7", "192.0.9.9"]
    pages = [Capture(f"http://{host}/", 0.0, 200, (), b"", b"", links=("http://good.com/",)) for host in hosts]
    inner = [f"http://a.org/{n}" for n in range(3)]
    pages += [Capture(url, 0.0, 200, (), b"", b"", links=("http://a.org/nav",)) for url in inner]
    pages[0] = msgspec.structs.replace(pages[0], links=("http://good.com/", "http://a.org/nav"))
    lives = [Lifetime(n, 1e9, 1e9 + 20 * DAY_S, (1e9 + 24 * DAY_S) * (n < 2)) for n in range(4)]
    report = _report(pages, lives, ["a.org", "good.com", "far.com"])
    spreads = report.spreads
    assert spreads.top_levels == Spread(1, 5.0, 0.0, 0.0, (SpreadGroup("org", 5, 2),))
    assert spreads.networks == Spread(1, 2.0, 0.0, 0.0, (SpreadGroup("192.0.0.0/16", 2, 2),))
    assert (spreads.sites.groups, spreads.sites.mean, spreads.sites.variance) == (4, 7 / 4, (9 / 4) ** 2 / 4 + 27 / 64)
    assert report.most_voted == (VotedPage("http://good.com/", 4, 4, False),)
    text = html_page(report)
    assert "<td>192.0.0.0/16</td>" in text and "Of 3 listed sites 2 are known (66.7 %)" in text
    assert "<b>22 days</b>, at least 20, at most 24" in text and "day 14" in text
    assert "Networks are left out" in html_page(_report(pages[:2])) and "No visit dates a page yet" in html_page(
        _report(pages[:2])
    )


def test_the_same_pages_in_any_order_give_the_same_report(report: WebReport) -> None:
    again = _report(_web()[::-1], node="http://127.0.0.1:8090", left_out={"noarchive": 7})
    assert msgspec.json.encode(again) == msgspec.json.encode(report)
    assert msgspec.json.decode(msgspec.json.encode(report), type=WebReport) == report


class _Page(HTMLParser):
    """Notes what a page is made of, and that what is opened is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open, self.seen, self.attributes, self.text = list[str](), set[str](), set[str](), ""

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.seen.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.open += [tag] if tag not in VOID else []

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.seen.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> closes another"

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_is_whole_and_needs_nothing_else(report: WebReport) -> None:
    text = html_page(report)
    page = _Page()
    page.feed(text)
    assert page.open == []
    assert not page.seen & {"script", "img", "link", "iframe", "a", "object", "form"}
    assert not {name for name in page.attributes if name.startswith("on")} | page.attributes & {"src", "href", "style"}
    assert "url(" not in text and "@import" not in text
    assert "7 noarchive" in page.text and "big.test" in page.text and "4 fans × " in page.text
    assert f"{report.page_rank.pages[0].url}{report.page_rank.pages[0].rank * 308:.3g}yes" in page.text
    plots = [f"<svg{part.split('</svg>')[0]}</svg>" for part in text.split("<svg")[1:]]
    assert len(plots) == 9 and all(list(ElementTree.fromstring(plot)) for plot in plots)


def test_what_strangers_chose_stays_text() -> None:
    fans = [f"http://f{n}.test/" for n in range(4)]
    centres = tuple(f"{EVIL}{n}\u202e" for n in range(3))
    pages = [Capture(url, 0.0, 200, (), b"", b"", links=centres, language='"><script>') for url in fans]
    text = html_page(_report(pages, unread={"7": "<script>"}, left_out={"<img src=x>": 1}))
    page = _Page()
    page.feed(text)
    assert not page.seen & {"script", "img"} and "\u202e" not in text
    assert "<script>alert(1)</script>0" in page.text and "slot 7: <script>" in page.text


@pytest.mark.parametrize("pages", [[], [Capture("http://a.test/", 0.0, 200, (), b"", b"")]])
def test_little_or_nothing_is_a_page_too(pages: list[Capture]) -> None:
    report = _report(pages)
    page = _Page()
    page.feed(html_page(report))
    assert page.open == [] and report.pages == len(pages)
    assert "Too few values" in page.text
