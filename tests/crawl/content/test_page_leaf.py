"""The compiled leaf of the parser gives what Python gives: for real pages, for each script, and for bad texts."""

import random
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crawl.content
from benchmarks.search.web_pages import page_files
from crawl.content import page_leaf
from crawl.content.extract import extract
from crawl.content.language import guess_language
from crawl.content.page import Engine, ParseResult, ParseTask
from crawl.content.page_leaf import PageLeaf
from crawl.content.raw_html import BREAK, LINK, names_in
from node.extras.demo.sample_web import unpack_sample
from tests.compiled_leaf import assert_sanitizers_find_nothing, compiled, module_of
from tests.crawl.content import leaf_pages
from tests.index.text import leaf_texts

PARTS = st.one_of(
    st.text(st.characters(exclude_categories=())),  # halves of pairs, too
    st.sampled_from((*leaf_pages.MARKS, *leaf_pages.DAYS, *leaf_pages.PHRASES)),
)
BAD = {
    "a word of a megabyte": "a" * (1 << 20),
    "a line of a megabyte": "word " * 200_000,
    "a megabyte of lines": f"a{BREAK}" * (1 << 19),
    "a megabyte of Chinese lines": f"漢 字{BREAK}" * 100_000,
    "marks alone": "".join(leaf_pages.MARKS) * 20_000,
    "links alone": f"{LINK}a{LINK} {BREAK}" * 100_000,
    "halves of pairs": "\ud83d word \udc00\ud800 漢\udfff字" * 999,
    "days alone": "MonMay June" * 50_000,
    "all characters in one line": "".join(map(chr, range(1, 0x2FFFF))),
    "a line for each character": BREAK.join(map(chr, range(0x2FFFF))),
    "nothing": "",
}


@pytest.fixture(scope="session")
def leaf(tmp_path_factory: pytest.TempPathFactory) -> PageLeaf:
    """The leaf that is installed; else one that is compiled for the tests."""
    return page_leaf.leaf or PageLeaf(module_of(compiled("crawl/content", tmp_path_factory.mktemp("leaf"))))


@pytest.fixture(autouse=True)
def _restored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_leaf, "leaf", page_leaf.leaf)


def assert_same(leaf: PageLeaf, text: str) -> None:
    for most in leaf_pages.MOST:
        assert not list(leaf_pages.differences(leaf, text, most))


def parsed_twice(leaf: PageLeaf, task: ParseTask) -> Iterator[ParseResult]:
    for page_leaf.leaf in (leaf, None):
        yield extract(task)


@pytest.mark.parametrize("engine", ["lexbor", "lxml"])
def test_pages_of_the_sample_are_parsed_the_same(leaf: PageLeaf, engine: Engine) -> None:
    with TemporaryDirectory() as folder:
        unpack_sample(Path(folder))
        for number, (url, path) in enumerate(page_files(Path(folder))):
            most = 1 << 20 if number % 4 else 1_000
            by_leaf, by_python = parsed_twice(
                leaf, ParseTask(url, path.read_bytes(), "text/html", "", 2_000, most, engine)
            )
            assert by_leaf == by_python, url


@pytest.mark.parametrize("script", leaf_texts.SCRIPTS)
def test_texts_of_each_script_are_the_same(leaf: PageLeaf, script: str) -> None:
    first, last = leaf_texts.SCRIPTS[script]
    letters = [chr(code) for code in range(first, last + 1, 1 + (last - first) // 3_000)]
    for between in (" ", "", BREAK, f"{LINK} ", "a", " der die und "):
        text = between.join(letters)
        assert_same(leaf, text)
        page_leaf.leaf = leaf
        by_leaf = guess_language("", text), guess_language("de-AT", text)
        page_leaf.leaf = None
        assert by_leaf == (guess_language("", text), guess_language("de-AT", text))


@pytest.mark.parametrize("kind", BAD)
def test_bad_texts_are_the_same(leaf: PageLeaf, kind: str) -> None:
    assert not list(leaf_pages.differences(leaf, BAD[kind], 1 << 20))
    assert not list(leaf_pages.differences(leaf, BAD[kind], 999))


@given(st.lists(PARTS, max_size=40).map("".join), st.sampled_from(leaf_pages.MOST))
@settings(max_examples=100, deadline=None)
def test_any_text_is_the_same(leaf: PageLeaf, text: str, most: int) -> None:
    assert not list(leaf_pages.differences(leaf, text, most))


@pytest.mark.parametrize("seed", range(4))
def test_texts_of_chance_are_the_same(leaf: PageLeaf, seed: int) -> None:
    rng = random.Random(seed)
    assert not [found for _ in range(200) for found in leaf_pages.compare(leaf, rng)]


@pytest.mark.prove
def test_thousands_of_generated_texts_are_the_same(leaf: PageLeaf) -> None:
    rng = random.Random(2_000)
    for number in range(20_000):
        assert not leaf_pages.compare(leaf, rng), number


def test_what_was_compiled_from_other_sources_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(crawl.content, "_leaf", raising=False)
    monkeypatch.setitem(sys.modules, "crawl.content._leaf", type("Old", (), {"SOURCES": "of another release"}))
    assert page_leaf.load() == (None, "Python (what was compiled is of another release: install again)")
    monkeypatch.setitem(sys.modules, "crawl.content._leaf", None)
    assert page_leaf.load() == (None, "Python (no compiler at install)")


@pytest.mark.prove
def test_sanitizers_find_nothing(tmp_path: Path) -> None:
    """The long form: LEAF_FUZZ_S=3600 python -m pytest -m prove tests/crawl/content/test_page_leaf.py"""
    assert_sanitizers_find_nothing("crawl/content", tmp_path, leaf_pages.__file__)


@given(st.text("abc"), st.lists(st.text("abc", min_size=2, max_size=5), min_size=1, max_size=32))
@settings(deadline=None)
def test_the_leaf_finds_the_names_that_python_finds(leaf: PageLeaf, source: str, names: list[str]) -> None:
    wanted = tuple(name.encode() for name in names)
    page_leaf.leaf = None
    assert leaf.names_in(source.encode(), wanted) == names_in(source.encode(), wanted)
