"""Snippets: the right piece, and highlights that point at the words."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.query.parser import parse_query
from index.results.first_letters import plain
from index.results.snippet import _in_word, _single_spaced, heading_above, make_snippet, terms_of
from index.text.analyzer import terms, tokens
from index.text.stem_classes import ENGLISH

FILLER = "lorem ipsum dolor sit amet " * 40


def snippet(body: str, query: str, chars: int = 120) -> tuple[str, list[str]]:
    made = make_snippet((body,), terms_of(parse_query(query).leaves), chars)
    return made.text, [made.text[a:b] for a, b in made.highlights]


def test_shows_where_most_of_the_words_are() -> None:
    text, marks = snippet(f"dogs first. {FILLER} here dogs are\n\n running {FILLER} dogs dogs dogs", "running dog")
    assert "here dogs are running" in text
    assert marks == ["dogs", "running"]
    assert text.startswith("…")
    assert text.endswith("…")


def test_joins_neighbouring_bigrams_to_one_highlight() -> None:
    text, marks = snippet("他在北京大学读书。" * 3, "北京大学")
    assert marks == ["北京大学"] * 3
    assert text == "他在北京大学读书。" * 3


def test_words_and_characters_among_chinese_are_marked_where_they_stand() -> None:
    text, marks = snippet(
        "第7章 Debian套件管理系統的基礎。用Debian 安裝系統，十分簡單：分 三 部。", "debian 系统 三 分"
    )
    assert marks == ["Debian", "系統", "Debian", "系統", "分", "三"]
    assert text.startswith("第7章")


def test_without_a_match_it_is_the_beginning() -> None:
    text, marks = snippet("Start here. " + FILLER, "absent")
    assert text.startswith("Start here.")
    assert marks == []
    assert snippet("", "absent") == ("", [])


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="ab \n北京大.", max_size=300), st.integers(20, 80))
def test_highlights_are_inside_apart_and_of_the_wanted_terms(body: str, chars: int) -> None:
    wanted = terms_of(parse_query("a OR 北京").leaves)
    made = make_snippet((body,), wanted, chars)
    assert len(made.text) <= chars + 2
    last = -1
    for start, end in made.highlights:
        assert last < start < end <= len(made.text)
        assert wanted & set(terms(made.text[start:end]))
        last = end


def test_boilerplate_is_shown_only_where_nothing_else_was_found() -> None:
    wanted = terms_of(parse_query("sqlite").leaves)
    assert make_snippet(("about sqlite", "menu sqlite"), wanted, 80).text == "about sqlite"
    assert make_snippet(("about trees", "menu sqlite"), wanted, 80).text == "menu sqlite"
    assert make_snippet(("about trees", "menu"), wanted, 80).text == "about trees"
    assert make_snippet(("", "menu"), wanted, 80).text == "menu"


def test_a_sentence_is_shown_rather_than_a_menu_or_code_with_as_many_words() -> None:
    menu = "Home | Socket | Docs | Blog | [API] | {x} | Shop | Help | Login |\n" * 4
    text, marks = snippet(f"{menu}{FILLER}. A socket is opened by calling connect. {FILLER}", "socket", 160)
    assert text.startswith("A socket is opened by calling connect.")
    assert marks == ["socket"]


def test_a_snippet_begins_and_ends_with_a_sentence_where_that_is_near() -> None:
    body = "First things come first. The parser reads a query and never fails. It says how it was read. " + FILLER
    text, marks = snippet(FILLER + ". " + body, "parser query", 130)
    assert text == "The parser reads a query and never fails. It says how it was read."
    assert marks == ["parser", "query"]


def test_an_ellipsis_stands_only_where_a_sentence_goes_on() -> None:
    assert snippet(FILLER + "the parser. It reads " + FILLER, "parser", 60)[0].startswith("…")
    chinese = "今天天气很好。" * 20 + "解析器读取查询。" + "今天天气很好。" * 20
    assert not {"…"} & set(snippet(chinese, "解析器", 16)[0])
    lines = "Contents\n" * 30 + "Opening hours\nMonday to Friday\n" + "Imprint\n" * 30
    text, _ = snippet(lines, "opening hours", 40)
    assert text.startswith("Opening hours Monday") and "…" not in text


def test_greek_and_russian_words_are_marked_with_and_without_their_accents() -> None:
    assert snippet("Η νέα έκδοση, οι ΝΕΕΣ εκδόσεις", "νέα έκδοση")[1] == ["νέα", "έκδοση", "ΝΕΕΣ", "εκδόσεις"]
    assert snippet("Ещё установка, потом об установке", "установка")[1] == ["установка", "установке"]


def test_words_with_diacritics_are_marked_among_plain_ones() -> None:
    _, marks = snippet("Das Größte: die größte Brücke. Die Bruecke von Malmö und Malmo.", "malmo")
    assert marks == ["Malmö", "Malmo"]


def test_words_are_marked_that_the_language_of_the_page_takes_for_forms_of_a_word() -> None:
    leaves = parse_query("use").leaves
    body = "They told us how to use it, and we used it."
    made = make_snippet((body,), terms_of(leaves, ENGLISH), 200, stem_class=ENGLISH)
    assert [made.text[a:b] for a, b in made.highlights] == ["use", "used"]


def test_letters_are_compared_without_diacritics_and_cases_one_by_one() -> None:
    """However a text is written, the places of its words stay: a table of letters and Python's own way say the same."""
    letters = [chr(code) for code in range(1 << 16) if not 0xD800 <= code < 0xE000]
    for start in range(0, len(letters), 997):
        piece = "".join(letters[start : start + 997])
        slowly = plain(f"{piece}\U0001f600")  # a letter of more than 16 bits, so no table is used
        assert slowly[:-1] == plain(piece) or "\u0130" in piece
    assert plain("ÀÉ Straße ΣΑΣ") == "ae strase σας"
    assert plain("İX") == "i\u0307x"


@pytest.mark.parametrize("word", ["net", "C", "f", "Running", "UTF", "x" * 41, "re"])
def test_a_word_among_signs_stands_where_the_analyzer_finds_it(word: str) -> None:
    signs = ["", *"([{<\"«“„/*=)]}>»”¶,;:!?.'-_+#é8漢", ".)", "++", "#)", ".¶"]
    for piece in (f"{before}{word}{after}" for before in signs for after in signs):
        assert _in_word(piece, ENGLISH) == tuple((each.start, each.end, each.term) for each in tokens(piece)), piece


def test_white_space_is_closed_up() -> None:
    for piece in ("", " ", "\n\t ", "a", " a\u3000\xa0b\n", "\u200bc  d", "x\x1cy\x85z "):
        assert _single_spaced(piece) == re.sub(r"\s+", " ", piece)


HEADINGS = ("Guide", "Install¶", "Configure", "Menu")
BODY = "Guide\nWhat it is.\nInstall¶\nFetch it.\nUnpack it.\nConfigure\nSet the port.\n"


@pytest.mark.parametrize(
    ("passage", "heading"),
    [
        ("Fetch it", "Install"),
        ("Unpack", "Install"),
        ("it.\nConfigure", "Install"),
        ("Set the", "Configure"),
        ("Configure\nSet", ""),
        ("figure", ""),
        ("Guide", ""),
        ("What", ""),
    ],
)
def test_a_passage_stands_under_the_heading_before_it(passage: str, heading: str) -> None:
    assert heading_above(BODY, BODY.index(passage), HEADINGS, "guide") == heading


def test_what_is_no_heading_is_none() -> None:
    assert heading_above(BODY, BODY.index("Set"), (), "") == ""
    assert heading_above(BODY, -1, HEADINGS, "") == heading_above("", 0, HEADINGS, "") == ""
    assert heading_above(BODY, BODY.index("What"), HEADINGS, "Another") == "Guide"
    long = "Configure" + "\nx" * 100_000
    assert heading_above(long, len(long), HEADINGS, "") == "", "no page costs more than some hundred lines"
