"""The analyzer: what must be one term is one, in every script, and offsets point at what was read."""

import random
from collections import Counter
from hashlib import sha256
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.text import analyzer, folding
from index.text.analyzer import (
    MAX_TERM_CHARS,
    MEMO_BYTES,
    MEMO_TERMS,
    is_unspaced,
    joined_word,
    terms,
    tokens,
    words,
)
from index.text.folding import fold, lower
from index.text.scripts import PLAIN_RUN, TOKEN, UNASSIGNED, plain_signs
from index.text.stem_classes import ENGLISH, class_of, stem


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Running dogs' John's don’t", ["run", "dog", "john", "don't"]),
        ("l'eau, d’État", ["l", "eau", "d", "etat"]),
        ("Ünïcode ŁÓDŹ straße ﬁne ＡＢＣ", ["unicod", "lodz", "strass", "fine", "abc"]),
        ("北京大学，东", ["北京", "京大", "大学", "东"]),
        ("战国无双3和ω-force", ["战国", "国无", "无双", "3", "和", "ω", "forc", "ωforce"]),
        ("ｶﾞｷﾞ", ["ガギ"]),
        ("한국어", ["한국", "국어"]),
        ("हिन्दी में", ["हिंद", "म"]),
        ("x_y 3.11 C++", ["x", "y", "3", "11", "c++", "xy"]),
        ("İstanbul Й й", ["istanbul", "й", "й"]),
        ("½", ["1", "2"]),
        ("— … !", []),
    ],
)
def test_terms_of(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_composed_and_decomposed_are_the_same_term() -> None:
    assert terms("naïve café") == terms("nai\u0308ve cafe\u0301") == ["naiv", "cafe"]


def test_a_token_of_a_million_letters_is_cut() -> None:
    (term,) = terms("q" * 1_000_000)
    assert len(term) <= MAX_TERM_CHARS


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60), st.integers(0, 20))
def test_both_ways_agree_and_offsets_ascend(text: str, limit: int) -> None:
    found = list(tokens(text))
    assert Counter(token.term for token in found) == Counter(terms(text))
    assert list(tokens(text, limit)) == found[:limit] and terms(text, limit) == terms(text)[:limit]
    some = {token.term for token in found[::3]}
    assert list(tokens(text, wanted=some)) == [token for token in found if token.term in some]
    assert [stem(word, ENGLISH) for word in words(text)] == terms(text)[: len(words(text))]
    assert all(a.start <= b.start for a, b in pairwise(found))
    for token in found:
        assert 0 <= token.start < token.end <= len(text)
        assert token.term
        assert not any(character.isspace() or character == "\0" for character in token.term)
        assert token.term in terms(text[token.start : token.end]) or not text.isascii()


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="北京大学搜索引擎", min_size=2, max_size=12))
def test_offsets_of_bigrams_are_exact(text: str) -> None:
    assert all(text[token.start : token.end] == token.term and is_unspaced(token.term) for token in tokens(text))


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=20))
def test_folding_twice_changes_nothing_for_case(text: str) -> None:
    assert fold(text.upper().lower()) == fold(fold(text.upper().lower())) or not text.isascii()


@settings(max_examples=400, deadline=None)
@given(
    st.text(st.characters(max_codepoint=0x3200) | st.sampled_from("ée\u0301\u0308ｶﾞ각가\u11a8\u1161ﬁ①’"), max_size=12)
)
def test_letter_by_letter_is_folding_as_a_whole(text: str) -> None:
    assert text.isascii() or fold(text) == folding._fold_together(text)


def test_no_folding_changes_plain_runs() -> None:
    plain = "".join(filter(PLAIN_RUN.fullmatch, map(chr, range(0x10000))))
    assert folding._fold_together(plain) == folding._fold_together(plain[::-1])[::-1] == plain
    assert len(plain) > 30_000


def test_the_memo_does_not_grow_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analyzer, "MEMO_CHUNKS", 4096)
    analyzer.forget()
    rng = random.Random(1)
    for _ in range(3):
        terms(" ".join(f"w{rng.getrandbits(60)}" for _ in range(2048)))
        terms("，".join("".join(rng.choices("北京大学搜索引擎", k=12)) for _ in range(500)) + "b" * 200)
        terms(" ".join(f"w{number}-x" for number in rng.sample(range(1 << 40), 1000)), stem_class=1)
    assert sum(len(memo) + len(memo.compounds) for memo in analyzer._memos) <= 4096
    for memo in filter(None, analyzer._memos):
        assert max(map(len, memo)) <= MEMO_BYTES
        assert max(map(len, memo.values())) <= MEMO_TERMS


@settings(max_examples=400, deadline=None)
@given(st.text(alphabet=st.sampled_from("aSsTtJ19_ '’\n.-“éÉ\u030c\u0301ſβΣ我们ｶﾞ한ไ\ud800+#cnet½㎏"), max_size=16))
def test_what_is_remembered_changes_nothing(text: str) -> None:
    expected = terms(text)
    assert terms(text) == expected
    analyzer.forget()
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("typed", "written"),
    [
        ("utf-8", "in UTF8"),
        ("utf8", "in UTF-8."),
        ("pgdump", "run pg_dump"),
        ("pg_dump", "run pgdump"),
        ("rfc2616", "see RFC 2616"),
        ("rfc-2616", "see RFC2616"),
        ("taskgroup", "asyncio.TaskGroup()"),
        ("asyncio.TaskGroup", "an asyncio TaskGroup"),
        ("3.11", "Python 3.11.4"),
        ("node.js", "with NodeJS"),
        ("x-ray", "Xray"),
        ("soft\u00adware", "software"),
    ],
)
def test_words_are_found_however_they_are_joined(typed: str, written: str) -> None:
    """A query asks for the words one after another, or for what they make together."""
    document = " ".join(terms(written))
    joined = stem(joined_word(typed) or "-", ENGLISH)
    assert " ".join(stem(word, ENGLISH) for word in words(typed)) in document or joined in document.split()


def test_names_of_languages_keep_their_signs() -> None:
    names = ["C", "C++", "C#", "F#", ".NET", "net"]
    assert len({tuple(terms(name)) for name in names}) == len(names)
    assert terms("used in C, C++ (or c#), .Net and F#.") == [
        "use", "in", "c", "c++", "or", "c#", ".net", "and", "f#"
    ]  # fmt: skip
    assert terms("example.net c#anchor") == ["exampl", "net", "c", "anchor", "examplenet"]


def test_traditional_and_simplified_han_meet_and_other_scripts_are_left_alone() -> None:
    assert terms("軟體網絡設定") == terms("软体网络设定")
    assert terms("頭髮 發展 臺灣 台湾 裏面 裡面") == terms("头发 发展 台湾 台湾 里面 里面")
    assert terms("ソフトウェア 소프트웨어 ซอฟต์แวร์")[:2] == ["ソフ", "フト"]
    assert len(terms("ソフトウェア")) == 5 and len(terms("소프트웨어")) == 4


@pytest.mark.parametrize(
    ("language", "forms"),
    [
        ("de", "Größe Groesse Grösse"),
        ("de", "Datenbank Datenbanken"),
        ("de", "Paket Paketen Pakete"),
        ("en", "index indices indexes"),
        ("en", "child children"),
        ("en", "write wrote written writing"),
        ("en", "colour colors coloured"),
        ("en", "analysis analyses"),
        ("fr", "fichier fichiers"),
        ("es", "información informacion informaciones"),
        ("ru", "книга книги книгу"),
        ("pl", "plik pliki"),
        ("fr", "actif active actifs"),
        ("pt", "nacional nacionais"),
        ("nl", "motor motoren"),
        ("sv", "nyckel nyckeln"),
        ("no", "program programmer"),
        ("fi", "palvelin palvelimen"),
        ("hu", "hálózat hálózatok"),
        ("ro", "eroare erori"),
        ("tr", "sunucu sunucular"),
        ("cs", "soubor soubory"),
        ("it", "errore errori"),
        ("da", "bruger brugere"),
    ],
)
def test_forms_of_a_word_meet_in_documents_of_their_language(language: str, forms: str) -> None:
    assert len({tuple(terms(form, stem_class=class_of(language))) for form in forms.split()}) == 1


def test_code_points_that_unicode_14_does_not_assign_separate_words() -> None:
    later = "\u0cf3\U00011f02\U0001e4d0"  # of Unicode 15.0: a Kannada sign, Kawi, Nag Mundari
    assert terms(f"ab{later}cd") == ["ab", "cd"]
    assert UNASSIGNED.sub(" ", f"ab{later}cd") == "ab   cd"
    assert not UNASSIGNED.search("aé北ไह한ßΩж")
    unassigned = [chr(code) for code in range(0x80, 0x20000) if UNASSIGNED.match(chr(code))]
    assert len(unassigned) > 40_000
    assert terms(" ".join(f"ab{each}cd" for each in unassigned)) == ["ab", "cd"] * len(unassigned)


def test_every_python_cuts_and_folds_every_character_alike() -> None:
    """The digest is that of Python 3.11, 3.12 and 3.13, which know Unicode 14.0, 15.0 and 15.1."""
    found = sha256()
    for code in (*range(0x80, 0xD800), *range(0xE000, 0x20000)):
        tokens = TOKEN.findall(plain_signs(f"ab{chr(code)}cd"))
        found.update(ascii((code, tokens, [fold(token) for token in tokens], list(map(lower, tokens)))).encode())
    assert found.hexdigest()[:16] == "a48667352a373454"
