"""Strangers' text on a terminal or a page: never a control character, never a lost or invented letter."""

import json
import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from node.views.safe_text import around, day, pieces, plain, plain_json, plain_lines, trail, web_link

OFFSETS = st.lists(st.tuples(st.integers(-5, 60), st.integers(-5, 60)), max_size=8)


def test_escapes_and_direction_overrides_vanish() -> None:
    assert plain("a\x1b[31mred\u202egnp.exe\nb") == "a[31mredgnp.exe b"
    assert plain("系统 – naïve café\u3000ok") == "系统 – naïve café\u3000ok"


def test_lines_stay_lines_and_whole() -> None:
    long = "x" * 5000
    assert plain_lines(f"a\x1b[31m\r\n{long}\u202e\n\nc") == f"a[31m\n{long}\n\nc"


@given(st.recursive(st.text(max_size=20), lambda inner: st.dictionaries(st.text(max_size=9), inner, max_size=3)))
@settings(max_examples=200, deadline=None)
def test_plain_json_is_the_same_value_in_plain_text(value: object) -> None:
    written = plain_json(json.dumps({"\x9b\u202e": value}, ensure_ascii=False))
    assert json.loads(written) == {"\x9b\u202e": value}
    assert not set(written) & set("\x7f\x9b\x85\u2028\u202e\u2066\u200f\ufeff")


@given(st.text(max_size=80))
@settings(max_examples=200, deadline=None)
def test_plain_text_is_one_printable_line(text: str) -> None:
    shown = plain(text)
    assert plain(shown) == shown
    assert not any(unicodedata.category(character) in ("Cc", "Zl", "Zp") for character in shown)


@given(st.text("abc系 ", max_size=50), OFFSETS)
@settings(max_examples=300, deadline=None)
def test_pieces_keep_the_text_and_mark_exactly_the_highlights(text: str, highlights: list[tuple[int, int]]) -> None:
    cut = pieces(text, highlights)
    assert "".join(piece.text for piece in cut) == text
    hit = [any(start <= at < end for start, end in highlights) for at in range(len(text))]
    assert [piece.is_hit for piece in cut for _ in piece.text] == hit


def test_odd_highlights_are_left_out() -> None:
    assert pieces("abc", [[0], ["x", "y"], [1, 2, 3]]) == [("abc", False)]  # type: ignore[list-item]


def test_only_web_addresses_become_links() -> None:
    assert web_link("https://a.test/x") == "https://a.test/x"
    assert web_link("javascript:alert(1)") == ""
    assert web_link("java\nscript:alert(1)") == ""
    assert web_link(None) == ""


def test_an_address_is_shown_for_reading() -> None:
    assert trail("http://a.test/x/%E7%B3%BB.html?q=%3Cb%3E") == ("a.test", " › x › 系.html › ?q=<b>")
    host, path = trail("http://a.test/" + "long/" * 60)
    assert host == "a.test"
    assert len(path) < 100


def test_the_place_of_a_fault() -> None:
    assert around('a "b', 2) == ("a ", '"', "b")
    assert around("ab", 2) == ("ab", " ", "")
    assert around("ab", None) == ("ab", "", "")


def test_days() -> None:
    assert day(1_795_000_000.0) == "2026-11-18"
    assert day(-1) == day("x") == day(None) == day(1e300) == day(float("nan")) == ""
