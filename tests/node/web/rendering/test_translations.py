"""Which language a reader gets, and that both say everything."""

import re
import string
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index import FILTERS, Reason
from index.query.query_tree import ReadAs
from node.web.owner.setting_controls import CONTROLS
from node.web.rendering.translations import choose, texts_of, translator

ROOT = Path(__file__).parents[4]
STATUSES = {"400", "403", "404", "429", "500", "503", "504"}  # which pages of errors name
MAX_WORDS = 25  # of a sentence
ENGLISH, CHINESE = texts_of("en"), texts_of("zh")


@pytest.mark.parametrize(
    ("wanted", "accepted", "tongue"),
    [
        ("", "", "en"),
        ("", "zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        ("", "en-GB,en;q=0.9,zh;q=0.8", "en"),
        ("", "de,fr;q=0.9,zh;q=0.3", "zh"),
        ("", "zh;q=0,en;q=0.1", "en"),
        ("zh-TW", "en", "zh"),
        ("en", "zh", "en"),
        ("tlh", "zh", "zh"),
    ],
)
def test_the_reader_is_understood(wanted: str, accepted: str, tongue: str) -> None:
    assert choose(wanted, accepted) == tongue


@given(st.text(max_size=60))
@settings(max_examples=200, deadline=None)
def test_any_header_gives_a_language(accepted: str) -> None:
    assert choose("", accepted) in ("en", "zh")


def test_every_way_of_reading_has_a_sentence() -> None:
    assert {f"read.{way.value}" for way in ReadAs} <= ENGLISH.keys()


def test_every_filter_is_explained() -> None:
    assert {f"help.filter.{name}" for name in FILTERS} == {key for key in ENGLISH if key.startswith("help.filter.")}


def test_every_reason_has_a_sentence() -> None:
    told_otherwise = {Reason.UNANSWERED, Reason.UNREAD}  # by the notice of a partial answer
    assert {f"why.{reason.value}" for reason in set(Reason) - told_otherwise} <= ENGLISH.keys()


def test_both_languages_have_the_same_keys_and_take_the_same_values() -> None:
    assert list(ENGLISH) == list(CHINESE), "in the same order, so that one is read beside the other"
    for key, english in ENGLISH.items():
        chinese = CHINESE[key]
        fields = [{name for _, name, _, _ in string.Formatter().parse(text) if name} for text in (english, chinese)]
        assert fields[0] == fields[1], key
        assert english, key
        assert chinese, key
    assert translator("zh")("results.page", page=2) == "第 2 页"


def test_what_is_counted_has_a_text_for_one_thing() -> None:
    counted = {key for key, text in ENGLISH.items() if re.search(r"\{count\} (?:\w+ )?\w+s\b", text)}
    single = {key.removesuffix(".one") for key in ENGLISH if key.endswith(".one") and key != "because.one"}
    counted = {
        key for key in counted if not key.startswith(("rule.", "change.", "effect.", "span."))
    }  # count themselves
    assert counted <= single <= ENGLISH.keys() | {"results.better"}
    t = translator("en")
    assert [t.count("results.exact", n) for n in (0, 1, 1677)] == ["0 results", "1 result", "1,677 results"]


def test_every_text_is_used() -> None:
    """A key stands in the code or in a template as it is, or is put together there: a beginning, a word, an ending."""
    packages = [ROOT / name for name in ("node", "index", "crawl")]
    files = [path for package in packages for kind in ("*.py", "*.html", "*.js") for path in package.rglob(kind)]
    code = "\n".join(path.read_text("utf-8") for path in files)
    written = set(re.findall(r"""["']([a-z0-9_.]+)["']""", code))
    beginnings = re.findall(r"""["']([a-z0-9_.]+\.)(?:["'] ~|\{)""", code)
    joined = re.compile(rf"(?:{'|'.join(map(re.escape, set(beginnings)))})([a-z0-9_-]+?)(?:_ago)?")

    joined_to = written | STATUSES | {"s"} | {each.name for each in CONTROLS}

    def is_used(key: str) -> bool:
        stem = re.sub(r"\.(title|example|one|how)$", "", key)
        found = joined.fullmatch(stem)
        return key in written or stem in written or (found is not None and found[1] in joined_to)

    assert [key for key in ENGLISH if not is_used(key)] == []


def test_a_sentence_has_at_most_25_words() -> None:
    sentences = [(key, each) for key, text in ENGLISH.items() for each in re.split(r"(?<=[.:;?!])\s+", text)]
    assert [(key, each) for key, each in sentences if len(each.split()) > MAX_WORDS] == []
