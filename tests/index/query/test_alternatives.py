"""Words that mean what was typed: which are adopted by the sums of all slots, and what they weigh."""

import pytest

from index.query.alternatives import (
    Alternative,
    AlternativeKind,
    Counted,
    adopt,
    bent_by,
    bent_statistics,
    joined_words,
    unsure_words,
    written_out,
)
from index.query.collection_statistics import Statistics
from index.query.leaf import leaf_of, phrase_of, term_of
from index.query.parser import parse_query
from index.query.scoring import idfs


def adopted(text: str, counts: dict[Counted, int], **likely: tuple[str, ...]) -> list[tuple[str, str, AlternativeKind]]:
    return [each[:3] for each in adopt(parse_query(text), counts, likely)]


@pytest.mark.parametrize(
    ("typed", "meant", "is_adopted"), [(0, 3, True), (0, 2, False), (1, 300, True), (1, 299, False), (3, 900, True)]
)
def test_a_slip_is_corrected_where_the_right_word_is_far_commoner(typed: int, meant: int, is_adopted: bool) -> None:
    found = adopted("git rebse", {"rebse": typed, "rebase": meant}, rebse=("rebase",))
    assert found == ([("rebse", "rebase", AlternativeKind.CORRECTION)] if is_adopted else [])


def test_neighbours_are_looked_for_as_one_word_where_pages_write_it() -> None:
    counts: dict[Counted, int] = {term_of("data"): 500, term_of("base"): 300, "database": 9}
    assert joined_words(parse_query("data base")) == ("database",)
    assert adopted("data base", counts) == [("data base", "database", AlternativeKind.JOINED)]
    assert not adopted("data base", counts | {"database": 2}), "too few to count"
    assert not adopted("data base", counts | {term_of("data"): 1000, term_of("base"): 1000}), "a slip, beside so many"


def test_one_word_is_looked_for_as_two() -> None:
    found = adopted("virtualhost", {phrase_of("virtual", "host"): 30}, virtualhost=("virtual host",))
    assert found == [("virtualhost", "virtual host", AlternativeKind.SPLIT)]


@pytest.mark.parametrize("text", ['"rebse"', "+rebse", "-rebse x", "rebse OR x", "intitle:rebse", "(rebse x)"])
def test_nothing_that_was_said_plainly_is_bent(text: str) -> None:
    assert "rebse" not in unsure_words(parse_query(text))
    assert not adopted(text, {"rebse": 0, "rebase": 900}, rebse=("rebase",))
    assert not unsure_words(parse_query("rebse", is_verbatim=True))


def test_a_rare_slip_makes_no_page_better() -> None:
    slip = Alternative("rebse", "rebase", AlternativeKind.CORRECTION, 900)
    query = parse_query("git rebse", bent=bent_by([slip]))
    assert query.leaves == (term_of("git"), leaf_of(("rebse",), [("rebase",)]))
    told = Statistics(1000, (1, 1, 1, 1), (400, 1))
    bent = bent_statistics(query, [slip], {term_of("git"): 400, term_of("rebse"): 1}, told)
    assert bent.df == (400, 900)
    assert idfs(bent)[1] < idfs(bent)[0]


def test_the_right_words_are_written_in_the_place_of_slips() -> None:
    slips = [
        Alternative("databse", "database", AlternativeKind.CORRECTION, 9),
        Alternative("a b", "ab", AlternativeKind.JOINED, 9),
    ]
    assert written_out("How does a Databse work?", slips) == "How does a database work?"


def test_the_words_of_a_path_are_corrected_each() -> None:
    found = adopted("org.apahce.logging", {"apache": 9}, apahce=("apache",))
    assert found == [("apahce", "apache", AlternativeKind.CORRECTION)]
    bent = parse_query("org.apahce.logging", bent=(("apahce", "apache"),))
    assert leaf_of(("apahce",), [("apache",)]) in bent.leaves
    assert joined_words(parse_query("search-engine.of.dogs")) == (), (
        "they are joined already, where any page joins them"
    )
