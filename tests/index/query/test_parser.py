"""The query parser: what people type, and what strangers try."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.errors import QueryError
from index.query.parser import LanguageFilter, Phrase, QueryGroup, SiteFilter, Term, parse_query, select


def root(text: str) -> object:
    return parse_query(text).root


def test_words_must_all_occur() -> None:
    assert root("running  dogs") == QueryGroup(2, (Term("run"), Term("dog")))


def test_a_word_that_is_typed_twice_counts_once() -> None:
    assert root("dog dogs") == Term("dog")


def test_alternatives_bind_looser_than_words() -> None:
    assert root("a b OR c") == QueryGroup(1, (QueryGroup(2, (Term("a"), Term("b"))), Term("c")))
    assert root("a|b") == root("a OR b")


def test_exclusions() -> None:
    assert root('dog -"hot dog" NOT cat') == QueryGroup(1, (Term("dog"),), (Phrase(("hot", "dog")), Term("cat")))
    assert parse_query("dog -cat").leaves == (Term("dog"),)
    assert root("x - y") == QueryGroup(2, (Term("x"), Term("y")))
    assert root("dog -(a OR b)") == QueryGroup(1, (Term("dog"),), (QueryGroup(1, (Term("a"), Term("b"))),))


def test_phrases_and_words_with_inner_marks() -> None:
    assert root('"to be"') == Phrase(("to", "be"))
    assert root("x-ray") == Phrase(("x", "ray"))
    assert root('"one"') == Term("one")


def test_filters() -> None:
    assert root("site:Docs.Example.org:8080") == SiteFilter("docs.example.org:8080")
    assert root("lang:ZH 北京") == QueryGroup(2, (LanguageFilter("zh"), Term("北京")))
    assert parse_query("a", language="en", site="b.org").root == QueryGroup(
        3, (Term("a"), LanguageFilter("en"), SiteFilter("b.org"))
    )


def test_a_short_chinese_run_wants_all_bigrams_a_long_one_some() -> None:
    assert root("北京大学") == QueryGroup(3, (Term("北京"), Term("京大"), Term("大学")))
    long = root("如何安装软件包")
    assert isinstance(long, QueryGroup)
    assert (long.minimum, len(long.children)) == (3, 6)


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("", 0),
        ("  ... ", 0),
        ("-cat", 0),
        ("-a -b", 0),
        ("a (b", 2),
        ("a ) b", 2),
        ('say "hi', 4),
        ("x site:", 2),
        ("lang:!", 0),
        ("a OR -b", 0),
        ("a -(-b)", 2),
        ("x" * 2000, 1024),
        ("ab \ud800", 3),
        ("site:" + "a." * 200, 0),
        ("(" * 500, 16),
        (" ".join(f"w{i}" for i in range(100)), 246),
    ],
)
def test_an_error_says_where(text: str, position: int) -> None:
    with pytest.raises(QueryError) as caught:
        parse_query(text)
    assert caught.value.position == position
    assert caught.value.reason


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet='ab -()"|ORANDNOT:site.北京大', max_size=60) | st.text(max_size=80))
def test_anything_parses_or_says_where(text: str) -> None:
    try:
        query = parse_query(text)
    except QueryError as error:
        assert 0 <= error.position <= len(text)
    else:
        assert len(query.leaves) <= 64
        select(query.root, lambda leaf: frozenset({1}))
