"""The analyzer: what must be one term is one, in every script, and offsets point at what was read."""

import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.text import analyzer
from index.text.analyzer import (
    MAX_TERM_CHARS,
    MEMO_BYTES,
    MEMO_CHUNKS,
    MEMO_TERMS,
    PLAIN_RUN,
    TOKEN,
    fold,
    is_unspaced,
    terms,
    tokens,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Running dogs' John's don’t", ["run", "dog", "john", "don't"]),
        ("l'eau, d’État", ["l", "eau", "d", "etat"]),
        ("Ünïcode ŁÓDŹ straße ﬁne ＡＢＣ", ["unicod", "lodz", "strass", "fine", "abc"]),
        ("北京大学，东", ["北京", "京大", "大学", "东"]),
        ("战国无双3和ω-force", ["战国", "国无", "无双", "3", "和", "ω", "forc"]),
        ("ｶﾞｷﾞ", ["ガギ"]),
        ("한국어", ["한국", "국어"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("x_y 3.11 C++", ["x", "y", "3", "11", "c"]),
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
    assert [token.term for token in found] == terms(text)
    assert [token.position for token in found] == list(range(len(found)))
    assert [token.term for token in tokens(text, limit)] == terms(text, limit) == terms(text)[:limit]
    some = {token.term for token in found[::3]}
    assert list(tokens(text, limit, some)) == [token for token in found[:limit] if token.term in some]
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
    assert text.isascii() or fold(text) == analyzer._fold_together(text)


def test_no_folding_changes_plain_runs() -> None:
    plain = "".join(filter(PLAIN_RUN.fullmatch, map(chr, range(0x10000))))
    assert analyzer._fold_together(plain) == analyzer._fold_together(plain[::-1])[::-1] == plain
    assert len(plain) > 30_000


def test_the_memo_does_not_grow_without_end() -> None:
    rng = random.Random(1)
    for _ in range(3):
        terms(" ".join(f"w{rng.getrandbits(60)}" for _ in range(MEMO_CHUNKS // 2)))
        terms("，".join("".join(rng.choices("北京大学搜索引擎", k=12)) for _ in range(500)) + "b" * 200)
    assert len(analyzer._memo) <= MEMO_CHUNKS
    assert max(map(len, analyzer._memo)) <= MEMO_BYTES
    assert max(map(len, analyzer._memo.values())) <= MEMO_TERMS


@settings(max_examples=400, deadline=None)
@given(st.text(alphabet=st.sampled_from("aSsTtJ19_ '’\n.“éÉ\u030c\u0301ſβΣ我们ｶﾞ한ไ\ud800"), max_size=16))
def test_terms_are_those_of_one_token_after_another(text: str) -> None:
    expected = []
    for raw in TOKEN.findall(text):
        analyzer._memo.clear()
        expected += terms(raw)
    assert terms(text) == terms(text) == expected
