"""What counts as a change of a page, and what does not."""

import re
from hashlib import blake2b

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawl.content.extract import extract
from crawl.content.fingerprint import fingerprint, is_same, says_the_same
from crawl.content.page import Engine, ParseTask

MAIN = "<p>The library opens at nine, and closes when the last reader has gone home for the day.</p>"
BODY = "<nav><a href=/x>{nav}</a></nav>" + MAIN + "<p>{clock}</p><footer>{foot}</footer>"
ENGINES: tuple[Engine, ...] = ("lexbor", "lxml")


def print_of(engine: Engine, nav: str = "News", clock: str = "", foot: str = "", title: str = "Hours") -> bytes:
    html = f"<title>{title}</title><body>" + BODY.format(nav=nav, clock=clock, foot=foot)
    return extract(ParseTask("http://a.test/", html.encode(), "text/html", "utf-8", 100, 10_000, engine)).fingerprint


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
        return extract(ParseTask("http://a.test/", numbers.encode(), "text/plain", "", 1, 10_000)).fingerprint

    assert not says_the_same(table("10 20 30 40\n50 60"), table("10 20 30 41\n50 60"))


def test_no_fingerprint_is_like_nothing() -> None:
    assert not says_the_same(b"", b"") and not is_same(b"", b"")


DAYS = "Mon|Monday|Tue|Tuesday|Wed|Wednesday|Thu|Thursday|Fri|Friday|Sat|Saturday|Sun|Sunday"
MONTHS = "Jan|January|Feb|February|Mar|March|Apr|April|May|Jun|June|Jul|July|Aug|August|Sep|September|Oct|October"
CLOCKS = re.compile(rf"(?:{DAYS}|{MONTHS}|Nov|November|Dec|December)\b", re.ASCII)
WORDS = st.sampled_from(
    ("Monday", "May", "Sun", "Maybe", "März", "one", "é", "2024", "7", "x1y", "的", "٣", "\n", "1\n2")
)


def in_words(title: str, text: str, main: str) -> bytes:
    """The same word by word: the slow oracle."""
    words = f"{title}\n{main}".split()
    steady = re.sub("[0-9]+", "", CLOCKS.sub("", f"{title}\n{main}")).split()
    if 4 * len("".join(steady).encode()) < len("".join(words).encode()):
        steady = words
    halves = (f"{title}\n{text}", "".join(steady))
    return b"".join(blake2b(half.encode(), digest_size=8).digest() for half in halves)


@settings(max_examples=300, deadline=None)
@given(st.lists(WORDS, max_size=3), st.lists(WORDS, max_size=30))
def test_it_is_that_of_the_words(title: list[str], words: list[str]) -> None:
    main = "\n".join(" ".join(line.split()) for line in " ".join(words).split("\n") if line.strip())
    given_ = (" ".join(" ".join(title).split()), " ".join(words), main)
    assert fingerprint(*given_) == in_words(*given_)
