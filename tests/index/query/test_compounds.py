"""Tokens of several words: what is looked for, and what may be missing."""

import pytest

from index.query.leaf import Leaf, leaf_of, term_of, ways_of
from index.query.parser import parse_query


def leaves(*words: str) -> tuple[Leaf, ...]:
    return tuple(map(term_of, words))


@pytest.mark.parametrize(
    ("text", "looked_for"),
    [
        ("l'eau potable", ("eau", "potable")),
        ("L’Oréal", ("oréal",)),
        ("jusqu'au bout du pont", ("bout", "pont")),
        ("d'Artagnan", ("artagnan",)),
        ("dell'arte", ("arte",)),
        ("O'Reilly books", ("reilly", "books")),
        ("Ankara'nın nüfusu", ("ankara", "nüfusu")),
        ("İstanbul'daki oteller", ("istanbul", "oteller")),
        ("Einstein's theory", ("einstein's", "theory")),
    ],
)
def test_what_grammar_adds_at_an_apostrophe_is_not_looked_for(text: str, looked_for: tuple[str, ...]) -> None:
    assert parse_query(text).leaves == leaves(*looked_for)


def test_the_words_of_a_compound_are_looked_for_each_and_as_one() -> None:
    query = parse_query("Dampfmaschinen-Indikator")
    joined = ("dampfmaschinenindikator",)
    assert query.leaves == (leaf_of(("dampfmaschinen",), [joined]), leaf_of(("indikator",), [joined]))
    assert query.counted != query.root, "any ranks, and both count"


@pytest.mark.parametrize("text", ["x-ray", "utf-8", "node.js", "3.11", "python3", "e-mail", "on-line", "2024-11-22"])
def test_short_pieces_and_numbers_follow_each_other(text: str) -> None:
    assert len(parse_query(text).leaves) == 1


def test_a_version_is_looked_for_with_and_without_its_letter() -> None:
    assert parse_query("v1.2.3").leaves == (leaf_of(("v1", "2", "3"), [("v123",), ("1", "2", "3")]),)
    assert leaf_of(("v3", "11")) in ways_of(parse_query("3.11").leaves[0])


def test_qualified_names_and_paths_are_worth_more_where_they_stand_whole() -> None:
    for text, parts in (("std::vector::push_back", 4), ("os.path.join", 3), ("https://docs.a.org/x/3.11/os.html", 7)):
        query = parse_query(text)
        assert len(query.leaves) == parts + 1, text
        assert query.leaves[-1] not in getattr(query.counted, "children", ()), "but need not"


@pytest.mark.parametrize("text", ['"l\'eau"', "+l'eau", "a OR l'eau"])
def test_what_is_quoted_or_demanded_stays_as_it_is_written(text: str) -> None:
    assert leaf_of(("l", "eau")) in parse_query(text).leaves
    assert leaf_of(("l", "eau")) in parse_query("l'eau", is_verbatim=True).leaves
