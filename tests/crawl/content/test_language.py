"""The language of a page: its text decides, its declaration is one vote."""

from pathlib import Path

import pytest

from crawl.content.language import LANGUAGES, SMALL_WORDS, guess_language
from dht import stop_lists

FILE = Path(__file__).parents[2] / "data" / "languages.txt"  # on human rights, in our words: a code, and its text
TEXTS = dict(line.split(" ", 1) for line in FILE.read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize("language", TEXTS)
def test_a_text_tells_its_language_whatever_a_template_declares(language: str) -> None:
    page = "\n".join([TEXTS[language]] * 4)
    assert guess_language("", TEXTS[language]) == language
    assert guess_language("en", page) == language
    assert guess_language("de-AT", page) == language


@pytest.mark.parametrize(
    ("declared", "language", "text"),
    [
        ("nb", "no", TEXTS["da"]),  # nearly the same words: one vote decides
        ("gl", "gl", TEXTS["pt"]),  # languages without a list look like their relatives
        ("sk", "sk", TEXTS["cs"]),
        ("be", "be", TEXTS["ru"]),
        ("ja", "en", TEXTS["en"] * 20),  # but not like English
        ("fr", "fr", "Foto 2024"),
        ("en", "ru", "Москва — столица России, город федерального значения"),
        ("iw", "he", "שלום עולם"),
        ("fa", "fa", "این یک متن ساده است که برای آزمایش نوشته شده است"),
        ("", "", "Foto 2024"),
    ],
)
def test_a_declaration_is_one_vote(declared: str, language: str, text: str) -> None:
    assert guess_language(declared, text) == language


def test_all_lists_vote_and_the_leaf_s_table_holds_them() -> None:
    assert tuple(stop_lists()) == LANGUAGES and len(LANGUAGES) <= 56
    assert len(SMALL_WORDS) == 16 << 13 and SMALL_WORDS.count(bytes(16)) > (1 << 13) // 2
