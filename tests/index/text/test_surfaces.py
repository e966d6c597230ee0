"""The words of a text as people write them."""

import pytest

from index.text.surfaces import MAX_WORDS, distinct_words, title_line, written_words


def test_words_are_folded_and_not_stemmed() -> None:
    found = distinct_words("Running DOGS, running:", "Café naïve Straße")
    assert sorted(found) == ["cafe", "dogs", "naive", "running", "strasse"]


def test_what_is_no_word_that_could_be_misspelled_is_left_out() -> None:
    assert distinct_words("ab 3.11 rfc2616 北京大学 ภาษาไทย " + "x" * 33) == []


def test_an_ending_after_an_apostrophe_is_no_part_of_a_word() -> None:
    assert sorted(distinct_words("John's dogs\u2019 don't l'eau")) == ["dogs", "eau", "john"]


def test_other_scripts() -> None:
    assert sorted(distinct_words("Поиск Ελλάδα עברית")) == sorted(["поиск", "ελλαδα", "עברית"])


def test_the_slow_way_finds_the_same() -> None:
    text = "Some words, (of) John's; x-ray naïve 北京 Поиск rfc2616"
    assert set(distinct_words(text)) == {each.word for each in written_words(text)}


def test_places_are_those_of_the_text() -> None:
    text = "the naïve John's"
    assert [(each.word, text[each.start : each.end]) for each in written_words(text)] == [
        ("the", "the"), ("naive", "naïve"), ("john", "John"),
    ]  # fmt: skip


def test_a_word_list_is_cut() -> None:
    letters = "abcdefghijklmnopqrst"
    many = [a + b + c + d for a in letters for b in letters for c in letters for d in letters]
    assert len(distinct_words(" ".join(many))) == MAX_WORDS


@pytest.mark.parametrize(
    ("title", "line"),
    [
        ("  The\tPython  Tutorial ", "the python tutorial"),
        ("Größe", "größe"),
        ("x" * 100, ""),
        ("word " * 40, ("word " * 16).strip()),
        ("half \ud800", ""),
        ("bell \x07", ""),
        ("", ""),
    ],
)
def test_titles_as_suggestions_offer_them(title: str, line: str) -> None:
    assert title_line(title) == line
