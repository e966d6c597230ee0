"""Filters beside a query: whatever the words are, the parser reads them as words, and the filters as filters."""

from datetime import date

import pytest

from index.query.parser import parse_query
from node.extras.clients.narrowing import LAST_DAY, Narrowing, days_before, narrowed, since_range

TODAY = date(2026, 11, 24)
MANY = tuple(f"host{number}.test" for number in range(20))


def test_words_alone_stay_as_they_are() -> None:
    assert narrowed("cat OR dog", Narrowing()) == "cat OR dog"
    assert narrowed("x", Narrowing(since=date(1, 1, 1), until=date(9999, 12, 31))) == "x", "all that there is"


def test_filters_stand_before_the_words() -> None:
    by = Narrowing(("a.test", "b.test"), ("c.test",), date(2026, 1, 2), date(2026, 2, 28))
    expected = "-site:c.test after:2026-01-02 before:2026-03-01 (site:a.test OR site:b.test) AND (cat OR dog)"
    assert narrowed("cat OR dog", by) == expected


@pytest.mark.parametrize(
    "words", ["cat OR dog", "opening hours", 'a "phrase that', "rm -rf", "+must -not", "((", "site:x.test y"]
)
@pytest.mark.parametrize(
    "by",
    [
        Narrowing(MANY, tuple(f"not-{host}" for host in MANY)),
        Narrowing(since=date(1, 1, 1), until=date(1, 1, 1)),
        Narrowing(since=date(9999, 1, 1), until=LAST_DAY),
        Narrowing(("a.test",), (), date(2024, 2, 29), date(2024, 12, 31)),
    ],
)
def test_the_parser_reads_every_filter(words: str, by: Narrowing) -> None:
    odd = {reading.read_as.value for reading in parse_query(narrowed(words, by)).readings}
    assert not odd & {"no_filter", "cut_words", "cut_text", "literal"}


def test_ranges_begin_so_many_days_ago() -> None:
    assert since_range("day", TODAY) == since_range("d", TODAY) == date(2026, 11, 23)
    assert since_range("year", TODAY) == date(2025, 11, 23)
    assert since_range("decade", TODAY) is None
    assert days_before(TODAY, 10**9) == date(1970, 1, 1)
