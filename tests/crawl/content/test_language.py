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
        ("", "fa", "این یک متن ساده است که برای آزمایش نوشته شده است"),
        ("en", "fa", "چگونه می\u200cتوان گزارش يك خطا را در كتابخانه پیدا کرد"),
        ("", "ur", "یہ ایک سادہ متن ہے جو آزمائش کے لیے لکھا گیا ہے"),
        ("", "ar", "هذا نص بسيط كتب لكي نجرب به البحث عن اللغة"),
        ("", "", "Foto 2024"),
    ],
)
def test_a_declaration_is_one_vote(declared: str, language: str, text: str) -> None:
    assert guess_language(declared, text) == language


MANUAL = (
    "The file is read from the beginning and each of its lines is printed to the screen as it was written there.\n"
    "Tiedosto luetaan alusta, ja jokainen rivi tulostetaan sellaisena kuin se on. Jos tiedostoa ei ole, ohjelma ei\n"
    "lue mitään ja kertoo siitä. Rivit, jotka ovat liian pitkiä, katkaistaan.\n"
)


def test_a_manual_that_quotes_english_is_in_the_other_language_and_english_that_quotes_is_not() -> None:
    assert guess_language("", MANUAL * 9) == guess_language("fi", MANUAL * 9) == "fi"
    quoting = TEXTS["en"] * 5 + " The Dutch say: die was er over en in het huis. "
    assert guess_language("", quoting * 9) == "en"


def test_a_section_in_english_decides_for_no_page() -> None:
    page = TEXTS["hu"] * 4 + TEXTS["en"] * 12 + TEXTS["hu"] * 20
    assert guess_language("", page) == "hu"


def test_all_lists_vote_and_the_leaf_s_table_holds_them() -> None:
    assert set(stop_lists()) - set(LANGUAGES) <= {"zh", "ja", "ko", "fa"}, "whose scripts tell them"
    assert len(LANGUAGES) <= 56
    assert len(SMALL_WORDS) == 16 << 13 and SMALL_WORDS.count(bytes(16)) > (1 << 13) // 2
