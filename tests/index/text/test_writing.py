"""Scripts of languages and of words: what is known must be right, what is not known is nothing."""

import pytest

from index.text.stem_classes import _CODES
from index.text.writing import (
    ARABIC,
    CYRILLIC,
    GREEK,
    HAN,
    HANGUL,
    KANA,
    LATIN,
    OTHER,
    scripts_of_language,
    scripts_of_word,
)

SAMPLES = {
    "en": "database",
    "de": "Größe",
    "vi": "nhiều",
    "zh": "数据库",
    "ja": "データベース漢字",
    "ko": "데이터",
    "ru": "данные",
    "el": "δεδομένα",
    "ar": "بيانات",
    "fa": "پایگاه",
    "he": "נתונים",
    "hi": "डेटा",
    "th": "ข้อมูล",
}


@pytest.mark.parametrize(("language", "word"), SAMPLES.items())
def test_words_are_written_in_a_script_of_their_language(language: str, word: str) -> None:
    assert scripts_of_word(word) and scripts_of_word(word) & ~scripts_of_language(language) == 0
    others = [code for code in SAMPLES if code[:2] not in ("en", "de", "vi")]
    if language == "en":
        assert all(not scripts_of_language(code) & LATIN for code in others)


@pytest.mark.parametrize(
    ("word", "scripts"),
    [
        ("3.11", 0),
        ("c++", LATIN),
        ("网", HAN),
        ("の", KANA),
        ("한", HANGUL),
        ("ж", CYRILLIC),
        ("β", GREEK),
        ("ب", ARABIC),
        ("ა", OTHER),
        ("A网", LATIN | HAN),
        ("𠀀", HAN),
    ],
)
def test_scripts_of_a_word(word: str, scripts: int) -> None:
    assert scripts_of_word(word) == scripts


def test_every_language_with_a_stemmer_has_a_script_and_an_unknown_one_has_none() -> None:
    assert all(scripts_of_language(each.partition(":")[0]) for each in _CODES.split())
    assert scripts_of_language("") == scripts_of_language("xx") == 0
    assert scripts_of_language("zh-TW") == HAN and scripts_of_language("pt_BR") == LATIN
