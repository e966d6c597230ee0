"""Spellings of one word meet, whoever typed which; words that are others stay apart."""

import pytest

from index.query.parser import parse_query
from index.results.snippet import make_snippet, terms_of
from index.text.analyzer import terms, tokens, words
from index.text.folding import fold, lower
from index.text.stem_classes import class_of, stem
from index.text.surfaces import distinct_words
from index.text.tags import word_tags
from tests.crawl.content.pages_read import read_file

# Unicode Collation Algorithm at its first level; UAX #44, Default_Ignorable; Lucene's normalizers of Arabic, Persian
# and Hindi; the Unicode Standard, table 12-38 (chillu letters).
ONE_WORD = [
    ("de", "Bun\u00addes\u00adver\u00adfas\u00adsungs\u00adge\u00adricht", "Bundesverfassungsgericht"),
    ("de", "Pruef\u2060stein", "Pruefstein"),
    ("en", "key\ufeffword", "keyword"),
    ("de", "Auf\u200clage", "Auflage"),
    ("en", "heart\ufe0f \u200ehidden\u200f", "heart hidden"),
    ("en", "\u2066isolated\u2069 sha\u034fred", "isolated shared"),
    ("ja", "葛\U000e0100城 漢\ufe00字 東\u2060京", "葛城 漢字 東京"),
    ("en", "ut\u00adf-8", "utf-8"),
    ("he", "בְּרֵאשִׁית בָּרָא", "בראשית ברא"),
    ("he", "שׁלום\u05c3 שָׁלוֹם", "שלום שלום"),
    ("he", "בית־ספר ג׳ירפה", "בית-ספר ג'ירפה"),
    ("yi", "ייִדיש װאָס", "יידיש וואס"),
    ("ar", "العَرَبِيَّة مدرســـة", "العربية مدرسة"),
    ("ar", "أحمد إسلام آداب ٱلله", "احمد اسلام اداب الله"),
    ("ar", "على مكتبة", "علي مكتبه"),
    ("ar", "ﻣﺮﺣﺒﺎ", "مرحبا"),
    ("ar", "١٤٤٦ ٢٠٢٤", "1446 2024"),
    ("fa", "سال ۱۴۰۳ شمسی", "سال 1403 شمسي"),
    ("fa", "كتاب خانهٔ ایران", "کتاب خانه ايران"),
    ("fa", "خانۀ ما", "خانه ما"),
    ("hi", "२०२४ ज़मीन चाँद हिन्दी", "2024 जमीन चांद हिंदी"),
    ("ml", "അവന്\u200d ചേര്\u200dത്തു", "അവൻ ചേർത്തു"),
    ("bn", "২০২৪ র\u200d্যাব", "2024 র্যাব"),
    ("th", "๒๕๖๗", "2567"),
    ("el", "Ὁ ἄνθρωπος τῷ ΛΌΓΟΣ", "ο ανθρωπος τω λογος"),
    ("el", "ο\u0301δο\u0301ς Ελλάδα", "οδος ΕΛΛΑΔΑ"),
    ("ru", "за\u0301мок ещё", "замок еще"),
    ("uk", "комп’ютер комп\u02bcютер", "комп'ютер комп'ютер"),
    ("en", "don’t don´t donʼt don＇t", "don't don't don't don't"),
    ("en", "Qurʾan Qurʼan", "Qur'an Qur'an"),
    ("en", "ＵＴＦ－８ Ｃ＋＋ ｐｇ＿ｄｕｍｐ ＩＰｖ６", "utf-8 c++ pg_dump ipv6"),
    ("en", "𝐇𝐞𝐥𝐥𝐨 ﬁle ½", "hello file 1/2"),
    ("vi", "Tie\u0302\u0301ng", "tiếng"),
    ("ko", "\u1112\u1161\u11ab국", "한국"),
]
OTHER_WORDS = [
    ("ru", "войн воин"),
    ("uk", "її ii"),
    ("be", "у ў"),
    ("ja", "か が"),
    ("ja", "は ぱ"),
    ("hi", "कल काल"),
    ("bn", "পড় পড"),
    ("th", "ไหม ใหม่"),
    ("ur", "لڑکے لڑکی"),
    ("en", "zero\u200bwidth zerowidth"),
]


@pytest.mark.parametrize(("language", "written", "typed"), ONE_WORD)
def test_spellings_of_a_word_meet(language: str, written: str, typed: str) -> None:
    stem_class = class_of(language)
    assert terms(written, stem_class=stem_class) == terms(typed, stem_class=stem_class)
    assert words(written) == words(typed)
    assert word_tags("title", written) == word_tags("title", typed)


@pytest.mark.parametrize(("language", "written"), OTHER_WORDS)
def test_other_words_stay_apart(language: str, written: str) -> None:
    one, other = written.split()
    assert terms(one, stem_class=class_of(language)) != terms(other, stem_class=class_of(language))


@pytest.mark.parametrize(("language", "written", "typed"), ONE_WORD)
def test_a_snippet_marks_what_was_found_by_another_spelling(language: str, written: str, typed: str) -> None:
    stem_class = class_of(language)
    wanted = terms_of(parse_query(f'"{typed}"').leaves, stem_class)
    shown = make_snippet((f"— {written} —",), wanted, 220, stem_class)
    assert shown.highlights and shown.highlights[-1][1] >= len(shown.text) - 3


@pytest.mark.parametrize(("language", "written", "typed"), ONE_WORD)
def test_folding_and_places_go_with_the_terms(language: str, written: str, typed: str) -> None:
    for word in (*written.split(), *typed.split()):
        assert fold(fold(word)) == fold(word) == fold(lower(word)), language
    found = list(tokens(written, stem_class=class_of(language)))
    assert all(0 <= token.start < token.end <= len(written) for token in found)


def test_suggestions_know_the_word_without_its_signs() -> None:
    assert distinct_words("Bun\u00addes\u00adtag, ‘don’t’ Ｗｉｄｅ ἄνθρωπος") == distinct_words(
        "bundestag don't wide ανθρωπος"
    )
    assert "bundestag" in distinct_words("Bun\u00addes\u00adtag")


def test_words_and_endings_of_persian_meet_however_they_are_joined() -> None:
    persian = class_of("fa")
    for written in ("کتاب\u200cها", "کتابها"):
        assert stem("کتابها", persian) in terms(written, stem_class=persian)
    assert words("می\u200cروم") == words("می روم")


@pytest.mark.parametrize(
    ("page", "typed"),
    [
        ("10-soft-hyphens/shy.test.html", "Bundesverfassungsgericht"),
        ("10-soft-hyphens/shy.test-wj.html", "Pruefsteinwj"),
        ("10-soft-hyphens/shy.test-bom.html", "Pruefsteinbom"),
        ("47-scripts-folding/x02.test-heb.html", "בראשית ברא"),
        ("47-scripts-folding/x02.test-fad.html", "1403"),
        ("47-scripts-folding/x02.test-grc.html", "ανθρωπος"),
    ],
)
def test_pages_of_the_cases_hold_what_is_typed(page: str, typed: str) -> None:
    parsed = read_file(page)
    stem_class = class_of(parsed.language)
    assert set(terms(typed, stem_class=stem_class)) <= set(terms(parsed.text, stem_class=stem_class))
