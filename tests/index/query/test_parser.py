"""The query parser: what people type, and what strangers try."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.errors import QueryError
from index.query.parser import Group, Language, Phrase, Site, Term, parse_query, select


def root(text: str) -> object:
    return parse_query(text).root


def test_words_must_all_occur() -> None:
    assert root("running  dogs") == Group(2, (Term("run"), Term("dog")))


def test_a_word_that_is_typed_twice_counts_once() -> None:
    assert root("dog dogs") == Term("dog")


def test_alternatives_bind_looser_than_words() -> None:
    assert root("a b OR c") == Group(1, (Group(2, (Term("a"), Term("b"))), Term("c")))
    assert root("a|b") == root("a OR b")


def test_exclusions() -> None:
    assert root('dog -"hot dog" NOT cat') == Group(1, (Term("dog"),), (Phrase(("hot", "dog")), Term("cat")))
    assert parse_query("dog -cat").leaves == (Term("dog"),)
    assert root("x - y") == Group(2, (Term("x"), Term("y")))
    assert root("dog -(a OR b)") == Group(1, (Term("dog"),), (Group(1, (Term("a"), Term("b"))),))


def test_phrases_and_words_with_inner_marks() -> None:
    assert root('"to be"') == Phrase(("to", "be"))
    assert root("x-ray") == Phrase(("x", "ray"))
    assert root('"one"') == Term("one")


def test_filters() -> None:
    assert root("site:Docs.Example.org:8080") == Site("docs.example.org:8080")
    assert root("lang:ZH 北京") == Group(2, (Language("zh"), Term("北京")))
    assert parse_query("a", language="en", site="b.org").root == Group(3, (Term("a"), Language("en"), Site("b.org")))


def test_a_short_chinese_run_wants_all_bigrams_a_long_one_some() -> None:
    assert root("北京大学") == Group(3, (Term("北京"), Term("京大"), Term("大学")))
    long = root("如何安装软件包")
    assert isinstance(long, Group)
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
