"""Traps by what pages say: found after a few pages, while a site of real pages is left alone."""

from collections import deque
from pathlib import Path
from random import Random

import pytest

from crawl.content.extract import extract
from crawl.content.fingerprint import fingerprint, steady_text
from crawl.content.page import ParseResult, ParseTask
from crawl.frontier.trap_learning import (
    PARAMETER_PAIRS,
    PATTERN_PAGES,
    SHARED_TEXT,
    TrapLearning,
    bare_text,
    pattern_of,
)
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
        if not stats.learn(SITE, url, steady_text(parsed.fingerprint), bare_text(url, parsed.text)):
            links = [link.url for link in parsed.links if link.url not in found]
            waiting.extend(links)
            found.update(links)
    assert fetched < 80


def month(year: int, number: int, words: str) -> tuple[str, str]:
    return (
        f"http://{SITE}/cal/{year}/{number:02}/",
        f"{words.format(year=year, month=number)} {' '.join(map(str, range(1, 29)))}",
    )


@pytest.mark.parametrize(
    ("words", "most"),
    [
        ("{year}-{month} Mo Tu We next", 20),  # nothing but numbers
        ("Events in March {year}: none. Next", 20),
        ("«{month}/{year}» no events", 20),
        ("Termine {month:b}", 160),  # months in other words, of which there are twelve
    ],
)
def test_a_calendar_whose_months_lead_to_the_next_for_ever_is_left(words: str, most: int) -> None:
    stats, fetched = TrapLearning(), 0
    for number in range(2_000):
        url, said = month(2020 + number // 12, number % 12 + 1, words.replace("{month:b}", "abcdefghijkl"[number % 12]))
        if not stats.refusal(SITE, url):
            fetched += 1
            steady = steady_text(fingerprint("", said, said))
            stats.learn(SITE, url, steady, bare_text(url, said))
    assert fetched <= most


@pytest.mark.parametrize(
    ("urls", "words"),
    [
        ("http://a.test/1848/{a:02}/{b:02}/", "Issue {n}: Vienna reports {word}"),
        ("http://a.test/iso/9001-{n}/", "Part {n} of the standard covers {word}"),
        ("http://a.test/weather/1951/{a}/{b}", "Rain {n} mm, {n}.5 degrees, {word}"),
        ("http://a.test/tables/2040/{a}/{b}", "{n}31 {n}77 {n}94"),  # nothing but numbers, and each its own
        ("http://a.test/plan?year=2031&m={n}", "We shall build {word}"),
    ],
)
def test_an_archive_of_pages_that_each_say_something_is_read_whole_whatever_its_numbers(urls: str, words: str) -> None:
    stats = TrapLearning()
    for n in range(400):
        values = {
            "n": n,
            "a": n // 28 + 1,
            "b": n % 28 + 1,
            "word": "".join("abcdefghij"[int(each)] for each in str(n)),
        }
        url, said = urls.format(**values), words.format(**values)
        assert stats.refusal("a.test", url) == ""
        assert stats.learn("a.test", url, steady_text(fingerprint("", said, said)), bare_text(url, said)) == ""


def test_a_new_holder_knows_which_patterns_were_refused() -> None:
    stats = TrapLearning()
    url, reason = f"http://{SITE}/cal/2031/04/", "guard: 19 of 20 pages like it say nothing new"
    stats.recall_refusal(SITE, f"http://{SITE}/cal/2031/03/", reason, "rebuild")
    stats.recall_refusal(SITE, f"http://{SITE}/docs/", "guard: soft 404, 11 other pages of the site say the same", "")
    assert stats.refusal(SITE, url) == reason
    assert stats.refusal(SITE, f"http://{SITE}/docs/x") == ""
    stats.recall(SITE, text(1), "rebuild")
    assert stats.learn(SITE, f"http://{SITE}/x", text(1)) == "", "other lessons of the same rebuild are kept beside it"


def test_pages_of_a_real_web_are_no_traps(tmp_path: Path) -> None:
    unpack_sample(tmp_path)
    stats, refused, pages = TrapLearning(), 0, 0
    for file in sorted(tmp_path.rglob("*.html"))[::2]:
        site, _, path = file.relative_to(tmp_path).as_posix().partition("/")
        url = f"http://{site}/{path}"
        parsed = extract(ParseTask(url, file.read_bytes(), "text/html", "", 1, 100_000))
        refused += bool(
            stats.refusal(site, url)
            or stats.learn(site, url, steady_text(parsed.fingerprint), bare_text(url, parsed.text))
        )
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


def test_many_sites_of_many_pages_share_one_bound_and_the_one_read_last_is_known() -> None:
    stats = TrapLearning()
    for n in range(400 * 300):
        stats.learn(f"{n // 300}.test", f"http://{n // 300}.test/{n}", text(n))
        stats.recall(f"{n % 7}.test", text(n), "rebuild")
    kept = sum(len(site.texts) + len(site.patterns) for site in stats._sites.values())
    assert 40_000 < kept <= 50_000 and kept == stats._pieces
    assert stats.learn("399.test", "http://399.test/again", text(400 * 300 - 1)) == ""
    assert stats._sites["399.test"].texts[text(400 * 300 - 1)] == 2


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


def test_what_was_learned_outlasts_a_restart_and_its_texts_are_recalled_as_ever() -> None:
    before = TrapLearning()
    for n in range(PATTERN_PAGES + 1):
        before.learn("a.test", f"http://a.test/list?sid={n}", bytes(8))
        before.learn("b.test", f"http://b.test/{n}.html", n.to_bytes(8, "big"))
    assert before.refusal("a.test", "http://a.test/list?sid=99")
    after = TrapLearning()
    after.load(before.dump())
    assert after.refusal("a.test", "http://a.test/list?sid=99") == before.refusal("a.test", "http://a.test/list?sid=99")
    assert after.without_idle_parameters("a.test", "http://a.test/list?sid=5&p=2") == "http://a.test/list?p=2"
    assert not after.refusal("b.test", "http://b.test/x.html")
    for _ in range(SHARED_TEXT):
        after.recall("a.test", bytes(8), "slot 1")
    assert "soft 404" in after.learn("a.test", "http://a.test/new", bytes(8))
    assert after.dump() != b"" and TrapLearning().dump() == TrapLearning().dump()


def test_the_file_of_many_sites_with_many_traps_is_bounded_and_noise_is_refused() -> None:
    stats = TrapLearning()
    for site in range(510):
        for n in range(150):
            stats.learn(
                f"{site}.test", f"http://{site}.test/{'x' * 150}{chr(97 + n % 26) * (n // 26 + 1)}/?s={n}", bytes(8)
            )
    assert 1e5 < len(stats.dump()) < 12e6
    for noise in (b"", b"noise", b"\x81\xa1a\xc0", stats.dump()[:-1]):
        with pytest.raises(ValueError):
            TrapLearning().load(noise)
