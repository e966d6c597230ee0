"""A fingerprint tells changes of a page from noise, and finds texts that are nearly the same."""

import re
from hashlib import blake2b
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawl.content.extract import extract
from crawl.content.fingerprint import (
    BINS,
    NEAR_BITS,
    RUN_BYTES,
    SIGNATURE_BYTES,
    different_bits,
    fingerprint,
    is_same,
    says_the_same,
    signature,
)
from crawl.content.page import Engine, ParseTask
from node.extras.demo.sample_web import unpack_sample

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


def are_near(one: bytes, other: bytes) -> bool:
    return different_bits(one, other) <= NEAR_BITS


def jaccard(one: str, other: str) -> float:
    def runs(text: str) -> set[str]:
        text = f" {' '.join(text.lower().split())}"
        starts = (at for at in range(len(text) - RUN_BYTES + 1) if not text[at].isalnum())
        return {text[at : at + RUN_BYTES] for at in starts}

    return len(runs(one) & runs(other)) / len(runs(one) | runs(other))


def test_signatures_never_change() -> None:
    assert signature("The quick brown fox jumps over the lazy dog. " * 3).hex() == "31b4cfb0a3da7a61709a9248e44a1f89"
    assert signature("图书馆的开放时间是上午九点到晚上十点。").hex() == "c63970c97b923c45b2dacc36a6692642"


def test_equal_bits_tell_how_much_texts_have_in_common() -> None:
    rng, off = Random(1), []
    for _ in range(60):
        words = [f"w{rng.randrange(3_000)}" for _ in range(rng.randrange(150, 1_500))]
        changed = list(words)
        for _ in range(rng.randrange(len(words) // 4)):
            changed[rng.randrange(len(words))] = f"w{rng.randrange(3_000)}"
        one, other = " ".join(words), " ".join(changed)
        said = 1 - 2 * different_bits(signature(one), signature(other)) / BINS
        off.append(said - jaccard(one, other))
    assert abs(sum(off) / len(off)) < 0.02
    assert max(map(abs, off)) < 0.35  # four times the deviation of 128 bits


def test_case_and_space_do_not_count_and_nothing_is_like_nothing() -> None:
    assert signature("One two\nthree four") == signature("one TWO three four")
    assert signature("short") == b"" and different_bits(b"", bytes(16)) == BINS


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200))
def test_any_text_has_a_signature_or_none(text: str) -> None:
    assert len(signature(text)) in (0, SIGNATURE_BYTES)
    assert len(signature(text * 300)) in (0, SIGNATURE_BYTES)


def test_what_lies_beyond_the_first_pages_of_a_book_does_not_count() -> None:
    text = " ".join(f"word{n}" for n in range(3_000))
    assert signature(text) == signature(f"{text} and another chapter")
    assert signature(text) != signature(" ".join(f"other{n}" for n in range(100)) + text)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The texts of real pages, long enough to say something."""
    root = tmp_path_factory.mktemp("sample")
    unpack_sample(root)
    files = [file for file in sorted(root.rglob("*.html")) if file.is_file()][::3]
    read = (extract(ParseTask("http://a.test/", f.read_bytes(), "text/html", "", 1, 100_000)).text for f in files)
    return [text for text in read if len(text) >= 500]


def edited(text: str, rng: Random) -> str:
    """The same page another day: a date, a moved counter, a few words."""
    words = text.split(" ")
    for _ in range(max(1, len(words) // 150)):
        words[rng.randrange(len(words))] = f"word{rng.randrange(1_000)}"
    return " ".join(words) + f"\nGenerated on {rng.randrange(28)} Nov 2026. Visitors: {rng.randrange(10**6)}"


def test_edited_pages_are_near_and_other_pages_are_not(pages: list[str]) -> None:
    rng = Random(1)
    signatures = [signature(text) for text in pages]
    found = sum(
        different_bits(one, signature(edited(text, rng))) <= NEAR_BITS
        for one, text in zip(signatures, pages, strict=True)
    )
    called = [
        (a, b) for a in range(len(pages)) for b in range(a) if different_bits(signatures[a], signatures[b]) <= NEAR_BITS
    ]
    wrong = sum(jaccard(pages[a], pages[b]) < 0.8 for a, b in called)
    assert len(pages) > 80
    assert found >= 0.9 * len(pages)
    assert wrong <= 0.03 * (found + len(called))
