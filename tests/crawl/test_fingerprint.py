"""What counts as a change of a page, and what does not."""

import pytest

from crawl.extract import extract
from crawl.fingerprint import is_same, says_the_same
from crawl.parsed import Engine, Task

MAIN = "<p>The library opens at nine, and closes when the last reader has gone home for the day.</p>"
BODY = "<nav><a href=/x>{nav}</a></nav>" + MAIN + "<p>{clock}</p><footer>{foot}</footer>"
ENGINES: tuple[Engine, ...] = ("lexbor", "lxml")


def print_of(engine: Engine, nav: str = "News", clock: str = "", foot: str = "", title: str = "Hours") -> bytes:
    html = f"<title>{title}</title><body>" + BODY.format(nav=nav, clock=clock, foot=foot)
    return extract(Task("http://a.test/", html.encode(), "text/html", "utf-8", 100, 10_000, engine)).fingerprint


@pytest.mark.parametrize("engine", ENGINES)
def test_clocks_and_boilerplate_are_no_changes_but_are_not_the_same(engine: Engine) -> None:
    before = print_of(engine, clock="Generated on Mon, 02 Mar 2026 13:31:05")
    for after in (
        print_of(engine, clock="Generated on Tue, 31 Nov 2027 00:00:59"),
        print_of(engine, clock="Generated on Mon, 02 Mar 2026 13:31:05", nav="Other news", foot="<p>© us"),
    ):
        assert says_the_same(before, after) and not is_same(before, after)
    assert is_same(before, print_of(engine, clock="Generated on Mon,  02 Mar 2026 13:31:05 "))


@pytest.mark.parametrize("engine", ENGINES)
def test_words_and_titles_are_changes(engine: Engine) -> None:
    before = print_of(engine)
    assert not says_the_same(before, print_of(engine, clock="Closed on feast days"))
    assert not is_same(before, print_of(engine, title="Opening hours"))


def test_a_table_of_numbers_is_what_it_says() -> None:
    def table(numbers: str) -> bytes:
        return extract(Task("http://a.test/", numbers.encode(), "text/plain", "", 1, 10_000)).fingerprint

    assert not says_the_same(table("10 20 30 40\n50 60"), table("10 20 30 41\n50 60"))


def test_no_fingerprint_is_like_nothing() -> None:
    assert not says_the_same(b"", b"") and not is_same(b"", b"")
