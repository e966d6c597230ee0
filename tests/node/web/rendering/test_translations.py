"""Which language a reader gets, and that both say everything."""

import ast
import string
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index import Reason
from index.query.query_tree import ReadAs
from node.web.rendering import translations
from node.web.rendering.translations import TEXTS, choose, merged, translator


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
    assert {f"read.{way.value}" for way in ReadAs} <= TEXTS.keys()


def test_every_reason_has_a_sentence() -> None:
    told_otherwise = {Reason.UNANSWERED, Reason.UNREAD}  # by the notice of a partial answer
    assert {f"why.{reason.value}" for reason in set(Reason) - told_otherwise} <= TEXTS.keys()


def test_no_two_tables_have_the_same_key() -> None:
    folder = Path(translations.__file__).parent
    keys = Counter(
        key.value
        for file in folder.glob("*.py")
        for table in ast.walk(ast.parse(file.read_text()))
        if isinstance(table, ast.Dict)
        for key, text in zip(table.keys, table.values, strict=True)
        if isinstance(key, ast.Constant) and isinstance(text, ast.Tuple)
    )
    assert [key for key, count in keys.items() if count > 1] == []
    assert keys.keys() <= TEXTS.keys() and len(keys) > 400
    with pytest.raises(ValueError, match=r"sites\.title"):
        merged({"sites.title": ("a", "b")}, {"sites.list": ("a", "b")}, {"sites.title": ("c", "d")})


def test_both_languages_take_the_same_values() -> None:
    for key, (english, chinese) in TEXTS.items():
        fields = [{name for _, name, _, _ in string.Formatter().parse(text) if name} for text in (english, chinese)]
        assert fields[0] == fields[1], key
        assert english, key
        assert chinese, key
    assert translator("zh")("results.page", page=2) == "第 2 页"
