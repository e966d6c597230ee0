"""Traps by what pages say: found after a few pages, while a site of real pages is left alone."""

from collections import deque
from pathlib import Path
from random import Random

import pytest

from crawl.content.extract import extract
from crawl.content.fingerprint import steady_text
from crawl.content.page import ParseResult, ParseTask
from crawl.frontier.trap_learning import PARAMETER_PAIRS, TrapLearning, pattern_of
from node.extras.demo.sample_reply import SampleReply
from node.extras.demo.sample_traps import ENTRANCES, spring, trap_at
from node.extras.demo.sample_web import unpack_sample

SITE = "a.test"


def text(number: int) -> bytes:
    return Random(number).randbytes(8)


def read(url: str, reply: SampleReply) -> ParseResult:
    return extract(ParseTask(url, reply.bodies[""], "text/html", "utf-8", 100, 10_000))


@pytest.mark.parametrize("trap", ["calendar", "facets"])
def test_an_endless_trap_ends_after_a_few_pages(trap: str) -> None:
    stats, fetched = TrapLearning(), 0
    waiting = deque([f"http://{SITE}{ENTRANCES[trap]}"])
    found = set(waiting)
    while waiting and fetched < 1_000:
        url = waiting.popleft()
        if stats.refusal(SITE, url):
            continue
        path, _, query = url.removeprefix(f"http://{SITE}").partition("?")
        pairs = [each.partition("=") for each in query.split("&") if each]
        parsed = read(url, spring(trap_at(path), path, {name: [value] for name, _, value in pairs}))
        fetched += 1
        if not stats.learn(SITE, url, steady_text(parsed.fingerprint)):
            links = [link.url for link in parsed.links if link.url not in found]
            waiting.extend(links)
            found.update(links)
    assert fetched < 80


def test_pages_of_a_real_web_are_no_traps(tmp_path: Path) -> None:
    unpack_sample(tmp_path)
    stats, refused, pages = TrapLearning(), 0, 0
    for file in sorted(tmp_path.rglob("*.html"))[::2]:
        site, _, path = file.relative_to(tmp_path).as_posix().partition("/")
        url = f"http://{site}/{path}"
        parsed = extract(ParseTask(url, file.read_bytes(), "text/html", "", 1, 100_000))
        refused += bool(stats.refusal(site, url) or stats.learn(site, url, steady_text(parsed.fingerprint)))
        pages += 1
    assert pages > 80 and refused == 0


def test_an_error_page_with_status_200_is_known_after_a_while() -> None:
    stats = TrapLearning()
    reasons = [stats.learn(SITE, f"http://{SITE}/p/{Random(n).randbytes(4).hex()}x", text(0)) for n in range(30)]
    assert not any(reasons[:5]) and all("soft 404" in reason for reason in reasons[15:])
    assert stats.learn("b.test", "http://b.test/x", text(0)) == ""  # another site may say so


def test_a_parameter_that_changes_nothing_is_left_out_and_one_that_matters_stays() -> None:
    stats = TrapLearning()
    for page in range(2 * PARAMETER_PAIRS):
        for visit in range(2):
            stats.learn(SITE, f"http://{SITE}/{page}.html?id={page}&sid={visit}{page}", text(page))
            stats.learn(SITE, f"http://{SITE}/show?id={page}", text(1_000 + page))
    assert stats.without_idle_parameters(SITE, f"http://{SITE}/new.html?sid=77") == f"http://{SITE}/new.html"
    assert stats.without_idle_parameters(SITE, f"http://{SITE}/show?id=8&sid=77") == f"http://{SITE}/show?id=8"
    assert stats.without_idle_parameters("b.test", "http://b.test/?sid=7") == "http://b.test/?sid=7"


def test_memory_is_bounded() -> None:
    stats = TrapLearning()
    for n in range(3_000):
        stats.learn(SITE, f"http://{SITE}/d{n}x/y?a{n}=1&b={n}", text(n))
        stats.learn(f"{n}.test", f"http://{n}.test/", text(n))
    sizes = [len(each) for site in stats._sites.values() for each in (site.texts, site.patterns, site.variants)]
    assert len(sizes) <= 3 * 500 and max(sizes) <= 512


@pytest.mark.parametrize(
    ("url", "pattern"),
    [
        ("http://a.test/shop?page=1&x=2", "/shop?"),
        ("http://a.test/calendar/2026/11/3", "/calendar/0/0/0"),
        ("http://a.test/docs/intro.html", "/docs/"),
        ("http://a.test/docs/page12.html", "/docs/page0.html"),
        ("http://a.test/", "/"),
    ],
)
def test_patterns(url: str, pattern: str) -> None:
    assert pattern_of(url) == pattern


def test_a_new_holder_knows_what_a_site_has_said_and_counts_each_page_once() -> None:
    stats = TrapLearning()
    for number in range(30):
        stats.recall(SITE, text(number), "first")
    for _ in range(10):
        stats.recall("soft.test", text(99), "first")
    for rebuild in ("second", "third"):
        stats.recall("soft.test", text(98), rebuild)
    assert stats.learn("soft.test", "http://soft.test/x", text(99)) == (
        "guard: soft 404, 10 other pages of the site say the same"
    )
    assert stats.learn("soft.test", "http://soft.test/y", text(98)) == "", "one page, seen again by others"
    for number in range(30):
        assert stats.refusal(SITE, f"http://{SITE}/print?id={number}") == "" or number >= 20
        stats.learn(SITE, f"http://{SITE}/print?id={number}", text(number))
    assert "say nothing new" in stats.refusal(SITE, f"http://{SITE}/print?id=31"), "copies of pages read before"
    assert stats.refusal(SITE, f"http://{SITE}/docs/7") == ""
