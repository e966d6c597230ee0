"""Stop words: which words of a query carry no subject, in whose language."""

import pytest

from index.text.stop_words import languages_of, list_codes, stop_words


def test_there_are_lists_of_at_least_twelve_languages() -> None:
    assert len(list_codes()) >= 12
    assert {"en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "no", "fi", "ru", "hu"} <= list_codes()


@pytest.mark.parametrize(
    "typed, subject",
    [
        ("how do i open a socket in python", "open socket python"),
        ("what is the capital of france", "capital france"),
        ("war and peace", "war peace"),
        ("was ist eine schleife", "schleife"),
        ("der himmel", "himmel"),
        ("que es una red neuronal", "red neuronal"),
        ("как открыть файл", "открыть файл"),
        ("trường đại học là gì", "trường đại học"),
        ("thé vert", "thé vert"),
        ("für immer", "immer"),
        ("hoe werkt het internet", "werkt internet"),
        ("comment ouvrir le fichier dans une application", "comment ouvrir fichier application"),
        ("du lịch đà nẵng", "du lịch đà nẵng"),
        ("thuốc ho cho bé", "thuốc ho bé"),
        ("如何 安装 debian", "安装 debian"),
        ("东京 の 拉面", "东京 拉面"),
        ("서울 에서 무엇 을 할까", "서울 할까"),
        ("كتاب هاي ايران چيست", "كتاب ايران"),
    ],
)
def test_what_is_left_of_a_query_is_its_subject(typed: str, subject: str) -> None:
    words = typed.split()
    assert [word for word in words if word not in stop_words(words)] == subject.split()


@pytest.mark.parametrize("typed", ["die hard", "dog food", "via rail", "man page", "os kernel", "con air"])
def test_a_subject_in_english_is_no_stop_word_because_it_is_one_elsewhere(typed: str) -> None:
    assert not stop_words(typed.split())


def test_of_two_languages_that_may_be_meant_only_what_both_leave_out_is_left_out() -> None:
    assert stop_words(["som", "er", "ikkje", "nogle"]) == {"som", "er"}


def test_a_named_language_decides() -> None:
    assert stop_words(["die", "hard"], "de") == {"die"}
    assert stop_words(["die", "hard"], "de-AT") == {"die"}
    assert not stop_words(["der", "file"], "en")
    assert stop_words(["the", "file"], "xx") == {"the"}, "a language without a list is as good as none"


def test_words_are_known_as_they_are_folded() -> None:
    assert "de" in languages_of("fur") and "fr" in languages_of("a") and languages_of("für") == {"de"}
    assert not languages_of("thé") and languages_of("là") == {"vi"}, "with its marks it is another word"
    assert languages_of("the") == {"en"} and not languages_of("database")
