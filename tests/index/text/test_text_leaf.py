"""The compiled leaf gives what Python gives: for real pages, for each script, and for what strangers may write."""

import json
import os
import random
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

import index_corpus
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import index.text
from benchmarks.search.web_pages import read_web
from index import Text
from index.results.snippet import make_snippet
from index.text import text_leaf
from index.text.analyzer_check import TEXT
from index.text.field_terms import analyse
from index.text.forward_index import forward_of
from index.text.sketch import sketch_of
from index.text.stem_classes import CLASSES, ENGLISH
from index.text.surfaces import words_of
from index.text.tags import tags_of
from index.text.text_leaf import TextLeaf
from node.extras.demo.sample_web import unpack_sample
from tests.compiled_leaf import ROOT, assert_sanitizers_find_nothing, compiled, module_of
from tests.index.text import leaf_texts
from tests.search_vectors import FILE

VECTORS = [vector["text"] for vector in json.loads(FILE.read_text(encoding="utf-8"))["texts"]]
CHARACTERS = st.characters(exclude_categories=())  # halves of pairs, too
LINES = st.lists(st.one_of(st.text(CHARACTERS), st.sampled_from(leaf_texts.WORDS + list(leaf_texts.SIGNS))))
BAD = {
    "a word of a megabyte": "a" * (1 << 20),
    "a run of a megabyte": "漢" * 350_000,
    "a joined word of a megabyte": "ab-" * 50_000,
    "a number of a megabyte": "1" * (1 << 20),
    "joiners alone": "-._" * 100_000,
    "halves of pairs": "\ud83d word \udc00\ud800 漢\udfff字" * 999,
    "NULs": "a\0b\0\0" * 9_999,
    "all characters in one line": "".join(map(chr, range(1, 0x2FFFF))),
    "a space after each": " ".join(map(chr, range(1, 0x2FFFF, 7))),
    "unassigned ones": "ab\u0378cd \U0003fff0漢 \u2fe0漢" * 99,
    "many joined forms": "utf-8 " * 50_000,
    "many distinct words": " ".join(f"w{number}x" for number in range(70_000)),
}


@pytest.fixture(scope="session")
def leaf(tmp_path_factory: pytest.TempPathFactory) -> TextLeaf:
    """The leaf that is installed; else one that is compiled for the tests."""
    return text_leaf.leaf or TextLeaf(module_of(compiled("index/text", tmp_path_factory.mktemp("leaf"))))


def assert_same(leaf: TextLeaf, *lines: str, stem_class: int = ENGLISH) -> None:
    whole = (*lines, *("",) * (4 - len(lines)))
    assert not list(leaf_texts.differences(leaf, whole, leaf_texts.LIMITS, stem_class))


@pytest.mark.parametrize("stem_class", range(len(CLASSES)), ids=CLASSES)
def test_golden_texts_have_the_same_terms_in_each_class(leaf: TextLeaf, stem_class: int) -> None:
    assert_same(leaf, TEXT, " ".join(leaf_texts.WORDS), stem_class=stem_class)
    for text in VECTORS:
        assert_same(leaf, text, text.upper(), f"({text})", text.replace(" ", ""), stem_class=stem_class)


@pytest.mark.parametrize("script", leaf_texts.SCRIPTS)
def test_each_letter_of_each_script_alone_and_among_others(leaf: TextLeaf, script: str) -> None:
    first, last = leaf_texts.SCRIPTS[script]
    letters = [chr(code) for code in range(first, last + 1, 1 + (last - first) // 3_000)]
    for between in (" ", "", "-", "漢", "a", "한 ", "é"):
        assert_same(leaf, *(between.join(letters[start::3]) for start in range(3)))


@pytest.mark.parametrize("kind", BAD)
def test_bad_text_has_the_same_terms(leaf: TextLeaf, kind: str) -> None:
    assert_same(leaf, BAD[kind], BAD[kind][:500], BAD[kind][1:300], BAD[kind][-500:])


@given(st.tuples(LINES, LINES, LINES, LINES), st.sampled_from((" ", "", "-")), st.integers(0, len(CLASSES) - 1))
@settings(max_examples=60, deadline=None)
def test_any_text_has_the_same_terms(leaf: TextLeaf, lines: tuple[list[str], ...], gap: str, stem_class: int) -> None:
    assert_same(leaf, *map(gap.join, lines), stem_class=stem_class)


@pytest.mark.parametrize("seed", range(4))
def test_documents_of_chance_are_the_same(leaf: TextLeaf, seed: int) -> None:
    rng = random.Random(seed)
    assert not [found for _ in range(25) for found in leaf_texts.compare(leaf, rng)]


@pytest.mark.parametrize("seed", range(2))
def test_all_that_is_made_of_a_page_is_the_same(leaf: TextLeaf, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = [with_odd_words(page, seed) for page in index_corpus.web(random.Random(seed), 40)]
    monkeypatch.setattr(text_leaf, "leaf", leaf)
    by_leaf = list(map(all_of, pages))
    monkeypatch.setattr(text_leaf, "leaf", None)
    assert by_leaf == list(map(all_of, pages))


def with_odd_words(page: Text, seed: int) -> Text:
    rng = random.Random(f"{seed} {page.url}")
    odd = leaf_texts.text(rng, 9).encode("utf-8", "replace").decode()  # no signed document holds halves of pairs
    return replace(page, body=f"{page.body} {odd}", headings=(*page.headings, "", "utf-8 İzmir"))


def all_of(page: Text) -> tuple[object, ...]:
    fields = analyse(page)
    lines = fields.title, fields.headings, fields.url, fields.body, fields.boilerplate
    shown = [make_snippet((page.body,), frozenset(fields.vocabulary[start::97]), 220) for start in range(9)]
    return *lines, fields.vocabulary, forward_of(page), words_of(page), tags_of(page), sketch_of(fields), shown


@pytest.mark.prove
def test_a_golden_web_is_the_same(leaf: TextLeaf) -> None:
    """2,000 documents in 30 scripts, and all pages of the bundled sample."""
    rng = random.Random(2_000)
    for number in range(2_000):
        assert not leaf_texts.compare(leaf, rng), number
    with TemporaryDirectory() as folder:
        unpack_sample(Path(folder))
        for page in read_web(Path(folder)):
            assert_same(leaf, page.text.title, page.url, page.text.body, page.text.boilerplate)


def test_it_forgets_in_time_and_finds_the_same_again(leaf: TextLeaf) -> None:
    for start in range(0, 2 * text_leaf.MOST_TERMS, 20_000):
        numbers = [f"{start + number}" for number in range(20_000)]
        found = leaf.cut_lines(("", "", " ".join(numbers), ""), leaf_texts.LIMITS, ENGLISH)
        assert found[0] == numbers and found[2] == [0, 0, 20_000, 0]


def test_threads_take_turns(leaf: TextLeaf) -> None:
    differ: list[str] = []

    def work(seed: int) -> None:
        rng = random.Random(seed)
        for _ in range(10):
            differ.extend(leaf_texts.compare(leaf, rng))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(50, 54)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not differ


def test_what_was_compiled_from_other_sources_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(index.text, "_leaf", raising=False)
    monkeypatch.setitem(sys.modules, "index.text._leaf", type("Old", (), {"SOURCES": "of another release"}))
    assert text_leaf.load() == (None, "Python (what was compiled is of another release: install again)")
    monkeypatch.setitem(sys.modules, "index.text._leaf", None)
    assert text_leaf.load() == (None, "Python (no compiler at install)")


@pytest.mark.prove
def test_without_a_compiler_the_wheel_is_pure_python(tmp_path: Path) -> None:
    pytest.importorskip("hatchling", reason="hatchling is not installed: pip install -e '.[dev]'")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, "CC": "false"}, capture_output=True, timeout=300)
    assert done.returncode == 0 and b"the leaves are not compiled" in done.stderr + done.stdout
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name.endswith("-py3-none-any.whl")
    assert not [name for name in ZipFile(wheel).namelist() if name.endswith((".so", ".pyd"))]


@pytest.mark.prove
def test_sanitizers_find_nothing(tmp_path: Path) -> None:
    """The long form: LEAF_FUZZ_S=3600 python -m pytest -m prove tests/index/text/test_text_leaf.py"""
    assert_sanitizers_find_nothing("index/text", tmp_path, leaf_texts.__file__)
