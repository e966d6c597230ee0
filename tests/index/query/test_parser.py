"""The query parser: what people type, and what strangers try."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.query.leaf import Term, leaf_of, phrase_of, term_of
from index.query.parser import (
    LanguageFilter,
    Query,
    QueryGroup,
    QueryNode,
    ReadAs,
    SiteFilter,
    enough_of,
    parse_query,
    select,
)
from index.query.query_tree import NOTHING


def terms(*names: str) -> tuple[Term, ...]:
    return tuple(map(term_of, names))


def group(minimum: int, *names: str) -> QueryGroup:
    return QueryGroup(minimum, terms(*names))


def told(query: Query) -> set[ReadAs]:
    return {each.read_as for each in query.readings}


def test_any_word_is_ranked_and_most_words_are_counted() -> None:
    query = parse_query("running  dogs chase fast cars")
    assert query.root == group(1, "running", "dogs", "chase", "fast", "cars")
    assert query.counted == group(4, "running", "dogs", "chase", "fast", "cars")
    assert parse_query("running dogs").counted == group(2, "running", "dogs")


def test_how_many_words_are_enough() -> None:
    assert [enough_of(n) for n in range(1, 16)] == [1, 2, 2, 3, 4, 4, 5, 6, 4, 4, 4, 4, 5, 5, 5]


def test_stop_words_are_left_out_and_told() -> None:
    query = parse_query("how do I open a socket in python")
    assert query.leaves == terms("open", "socket", "python")
    assert query.counted == group(2, "open", "socket", "python")
    assert [(each.read_as, each.piece) for each in query.readings] == [(ReadAs.COMMON, "how do i a in")]


def test_of_stop_words_alone_none_is_left_out() -> None:
    query = parse_query("to be or not to be")
    assert query.leaves == terms("to", "be", "or", "not")
    assert query.repeats == (2, 2, 1, 1)
    assert not query.readings
    assert parse_query("the the site:a.example").leaves == terms("the")
    assert parse_query("lang:de die").leaves == terms("die")


def test_stop_words_stand_in_phrases_and_where_they_are_demanded() -> None:
    assert parse_query('"the who" tour').leaves == (phrase_of("the", "who"), term_of("tour"))
    assert parse_query("+the python").root == term_of("the")
    assert parse_query("python -the").root == QueryGroup(1, terms("python"), terms("the"))


def test_a_word_counts_as_often_as_it_is_said_but_three_times_at_most() -> None:
    query = parse_query("dog cat Dog")
    assert (query.leaves, query.repeats) == (terms("dog", "cat"), (2, 1))
    assert query.counted == group(2, "dog", "cat")
    assert parse_query("dog " * 9).repeats == (3,)


def test_what_is_demanded_must_be_there_and_the_rest_is_wished() -> None:
    for text in ("+whale song", '"whale" song'):
        query = parse_query(text)
        assert query.root == term_of("whale")
        assert query.leaves == terms("whale", "song")
        assert query.counted == group(2, "whale", "song")
    assert parse_query("whale AND song blue").root == group(2, "whale", "song")
    assert parse_query("+北京大学").root == phrase_of("北京", "京大", "大学")


def test_and_in_a_sentence_all_in_capitals_is_a_word() -> None:
    query = parse_query("TRANSMISSION AT HIGH FREQUENCIES AND TIME OF DAY")
    assert query.root == group(1, "transmission", "high", "frequencies", "time", "day")
    assert ReadAs.LITERAL in told(query)
    assert parse_query("SQL AND XML").root == group(2, "sql", "xml")
    assert parse_query("PYTHON NOT SNAKE").root == QueryGroup(1, terms("python"), terms("snake"))


def test_a_quotation_in_a_long_text_is_a_wish() -> None:
    prose = 'articles on text formatting systems, including "green tea" and other famous kinds'
    query = parse_query(prose)
    assert phrase_of("green", "tea") in query.leaves
    assert query.root.minimum == 1 and phrase_of("green", "tea") in query.root.children
    assert ReadAs.LITERAL in told(query)
    assert parse_query(prose.replace('"green', '+"green')).root == phrase_of("green", "tea")
    assert phrase_of("tea", "kinds") not in parse_query(f'{prose} "tea kinds').leaves, "it never ends"
    assert parse_query('famous kinds "green tea"').root == phrase_of("green", "tea")


def test_alternatives_bind_looser_than_words() -> None:
    query = parse_query("red green OR blue")
    assert query.root == group(1, "red", "green", "blue")
    assert query.counted == QueryGroup(1, (group(2, "red", "green"), term_of("blue")))
    assert parse_query("red|blue").root == parse_query("red OR blue").root == group(1, "red", "blue")
    assert parse_query("whale (song OR call)").counted == QueryGroup(2, (term_of("whale"), group(1, "song", "call")))


def test_exclusions() -> None:
    query = parse_query('dog -"hot dog" NOT cat')
    assert query.root == QueryGroup(1, terms("dog"), (phrase_of("hot", "dog"), term_of("cat")))
    assert query.leaves == terms("dog")
    assert parse_query("x - y").root == group(1, "x", "y")
    assert parse_query("dog -(red OR blue)").root == QueryGroup(1, terms("dog"), (group(1, "red", "blue"),))
    assert parse_query("dog OR -cat").root == QueryGroup(1, terms("dog"), terms("cat"))


@pytest.mark.parametrize(
    "text",
    [
        "rm -rf /var/cache",
        "ls -la",
        "how to use tar -xzf archive.tgz",
        "tar -xzf a.tgz -C dir",
        "docker run -it ubuntu",
        "git commit -am fix",
        "sudo ps -ef",
        "find . -name pattern -type f",
        "java -jar app.jar",
        "gcc -Wall -std=c99 main.c",
        "python -m venv",
        "grep --include txt",
    ],
)
def test_options_of_commands_exclude_nothing(text: str) -> None:
    query = parse_query(text)
    assert not isinstance(query.root, QueryGroup) or not query.root.without
    options = [word for word in text.split() if word[0] == "-"]
    assert [each.piece for each in query.readings if each.read_as == ReadAs.OPTION] == list(dict.fromkeys(options))


@pytest.mark.parametrize(
    ("text", "excluded"),
    [
        ("coffee -java", "java"),
        ("jaguar -car", "car"),
        ("cat food -dog", "dog"),
        ("frameworks -js", "js"),
        ("make money -mlm", "mlm"),
        ("docker images -podman", "podman"),
        ("find hotels -booking", "booking"),
        ("linux tar archive viewers list -rar", "rar"),
        ("ls NOT la", "la"),
    ],
)
def test_words_are_excluded_beside_everyday_words_and_far_from_commands(text: str, excluded: str) -> None:
    query = parse_query(text)
    assert isinstance(query.root, QueryGroup) and query.root.without == terms(excluded)


@pytest.mark.parametrize(
    ("text", "root"),
    [
        ('"to be"', phrase_of("to", "be")),
        ("x-ray", leaf_of(("x", "ray"), [("xray",)])),
        ('"one"', term_of("one")),
        ("site:Docs.Example.org:", SiteFilter("docs.example.org")),
        ("lang:ZH 北京", QueryGroup(2, (term_of("北京"), LanguageFilter("zh")))),
        ('5" tablet', group(1, "5", "tablet")),  # an inch is no quotation mark
        ("喝 -茶", QueryGroup(1, (parse_query("喝").root,), (parse_query("茶").root,))),  # nor is this an option
    ],
)
def test_phrases_filters_and_words_with_inner_marks(text: str, root: QueryNode) -> None:
    assert parse_query(text).root == root


def test_language_and_site_may_stand_beside_a_query() -> None:
    query = parse_query("cat", language="en", site="b.org")
    assert query.root == QueryGroup(3, (term_of("cat"), LanguageFilter("en"), SiteFilter("b.org")))
    assert (query.language, query.site) == ("en", "b.org")


def test_a_run_without_spaces_wishes_for_all_bigrams() -> None:
    query = parse_query("网络配置")
    assert query.root == group(1, "网络", "络配", "配置")
    assert query.counted == group(2, "网络", "络配", "配置"), "the one across the border may be missing"
    mixed = parse_query("如何安装软件包 python").counted
    assert isinstance(mixed, QueryGroup) and mixed.minimum == 2
    assert isinstance(mixed.children[0], QueryGroup)
    assert (mixed.children[0].minimum, len(mixed.children[0].children)) == (3, 6)


@pytest.mark.parametrize(
    ("text", "root", "read_as"),
    [
        ("-v", term_of("v"), ReadAs.OPTION),
        ("--help", term_of("help"), ReadAs.OPTION),
        ("ls -l", group(1, "ls", "l"), ReadAs.OPTION),
        ("rm -rf node_modules", None, ReadAs.OPTION),
        ("-40 celsius", group(1, "40", "celsius"), ReadAs.LITERAL),
        ("-cat -dog", group(1, "cat", "dog"), ReadAs.LITERAL),
        ("OR", term_of("or"), ReadAs.LITERAL),
        ("red (blue", group(1, "red", "blue"), ReadAs.CLOSED),
        ('say "hi you', phrase_of("hi", "you"), ReadAs.CLOSED),
        ("red ) blue", group(1, "red", "blue"), ReadAs.UNPAIRED),
        ("(" * 500 + "red" + ")" * 600, term_of("red"), ReadAs.UNPAIRED),
        ("whale site:", group(1, "whale", "site"), ReadAs.NO_FILTER),
        ("lang:!", term_of("lang"), ReadAs.NO_FILTER),
        ("site:" + "a." * 200, None, ReadAs.NO_FILTER),
        ("", NOTHING, ReadAs.NOTHING),
        ("  ... ", NOTHING, ReadAs.NOTHING),
        ("x" * 2000, term_of("x" * 64), ReadAs.CUT_TEXT),
        (" ".join(f"w{i}" for i in range(100)), group(1, *(f"w{i}" for i in range(64))), ReadAs.CUT_WORDS),
    ],
)
def test_what_is_odd_is_read_as_well_as_can_be_and_told(text: str, root: QueryNode | None, read_as: ReadAs) -> None:
    query = parse_query(text)
    assert read_as in told(query)
    assert root is None or query.root == root


def test_a_filter_beside_the_query_that_cannot_be_is_left_out_and_told() -> None:
    query = parse_query("cat", language="!", site="." * 300)
    assert (query.root, query.language, query.site) == (term_of("cat"), "", "")
    assert [each.read_as for each in query.readings] == [ReadAs.NO_FILTER] * 2


def test_half_characters_are_dropped() -> None:
    assert parse_query("ab \ud800c").text == "ab c"


@pytest.mark.parametrize(
    "text", ["(" * 500_000, "x " * 500_000, "-" * 10**6, '"' * 1001, "a OR " * 10**5, "北" * 10**6]
)
def test_a_megabyte_is_read_at_once(text: str) -> None:
    began = time.process_time()
    assert len(parse_query(text).leaves) <= 64
    assert time.process_time() - began < 0.2


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet='ab +-()"|ORANDNOT:site.北京大', max_size=60) | st.text(max_size=80))
def test_anything_parses_and_what_it_is_cut_to_parses_alike(text: str) -> None:
    query = parse_query(text)
    assert len(query.leaves) == len(query.repeats) <= 64
    again = parse_query(query.text, query.language, query.site)
    assert (again.root, again.counted, again.leaves) == (query.root, query.counted, query.leaves)
    for tree in (query.root, query.counted):
        select(tree, lambda leaf: frozenset({1}))
