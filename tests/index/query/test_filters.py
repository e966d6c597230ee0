"""The filters of a query: each finds what it says, an odd value is named, and none is silently zero."""

import random
from dataclasses import replace
from typing import Any

import index_corpus as corpus
import pytest

from index.change_feed import Image, Text
from index.query.filters import FILTERS, read_filter
from index.query.image_query import image_query
from index.query.parser import ReadAs, parse_query
from index.results.oracle import SearchOracle

DAY = 86400.0


def page(url: str, title: str, body: str, published_at: float = 0.0, modified_at: float = 0.0) -> Text:
    made = corpus.text(random.Random(1), url)
    values: dict[str, Any] = {"title": title, "headings": (), "body": body, "language": "en", "boilerplate": ""}
    return replace(made, **values, published_at=published_at, modified_at=modified_at)


PAGES = {
    "tutorial": page("http://docs.a.org/python/start", "Python Tutorial", "sockets", 1704067200.0),  # 2024-01-01
    "paper": page("http://b.example/papers/peers.pdf", "On Peers", "a python of peers", 1704067200.0 - DAY),
    "old": page("http://c.example.org/", "Größe", "python sockets", 0.0, 951782400.0),  # 2000-02-29
    "undated": page("http://d.test/x.html", "网络配置", "python"),
    "gallery": replace(
        page("http://e.test/", "Wild animals", "snakes"),
        images=(
            Image("http://e.test/1.jpg", "A red fox", "Vulpes at dusk", "Predators"),
            Image("http://e.test/2.jpg", "", "", "狐狸"),
        ),
    ),
}


def found(query: str) -> set[str]:
    hits = SearchOracle(list(PAGES.values())).search(query).hits
    names = {text.id: name for name, text in PAGES.items()}
    return {names[hit.text.id] for hit in hits}


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("intitle:PYTHON", {"tutorial"}),
        ("python intitle:peers", {"paper"}),
        ("intitle:größe", {"old"}),
        ("intitle:网络", {"undated"}),
        ('intitle:"python tutorial"', {"tutorial"}),
        ("python -intitle:python", {"paper", "old", "undated"}),
        ("inurl:papers", {"paper"}),
        ("inimage:FOX", {"gallery"}),
        ('inimage:"red vulpes" inimage:predators', {"gallery"}),
        ("inimage:狐狸", {"gallery"}),
        ("snakes -inimage:fox", set()),
        ("inimage:python", set()),  # no image is told of by it
        (image_query("the (fox OR python) -hound site:e.test"), {"gallery"}),
        (image_query("a red hound"), set()),
        ("inurl:python/start", {"tutorial"}),
        ("filetype:pdf", {"paper"}),
        ("python filetype:.HTML", {"tutorial", "old", "undated"}),
        ("python before:2024", {"paper", "old"}),
        ("python after:2024", {"tutorial"}),
        ("python after:2023-12-31", {"tutorial", "paper"}),
        ("python after:2000-02-29 before:2000-03", {"old"}),
        ("python -before:2024", {"tutorial", "undated"}),
        ("site:*.org python", {"tutorial", "old"}),
        ("site:*.example.org", {"old"}),
        ("lang:en filetype:pdf python", {"paper"}),
        ("filetype: pdf", {"paper"}),  # dewey 9
        ("site: *.example.org", {"old"}),
    ],
)
def test_a_filter_finds_what_it_says(query: str, names: set[str]) -> None:
    assert found(query) == names


@pytest.mark.parametrize(
    "piece",
    ["before:1000000", "after:2024-13", "before:2023-02-29", "before:soon", "before:²⁰²⁴", "before:1969",
     "filetype:a/b", "site:*.*", "lang:english-please", "before:", "intitle:", "after:0000"],
)  # fmt: skip
def test_a_value_that_cannot_be_is_named_and_the_rest_is_answered(piece: str) -> None:
    query = f"python {piece}"
    assert [each.piece for each in parse_query(query).readings if each.read_as == ReadAs.NO_FILTER] == [piece]
    assert "undated" in found(query)


def test_a_word_behind_a_space_is_a_value_only_where_it_can_be() -> None:
    for text in ("site: the best python", "after: the python", "before:"):
        assert ReadAs.NO_FILTER in [each.read_as for each in parse_query(text).readings], text


def test_an_unknown_field_is_named_and_read_as_words() -> None:
    readings = parse_query("python author:peers").readings
    assert [(each.read_as, each.piece) for each in readings] == [(ReadAs.NO_FIELD, "author:")]
    assert "paper" in found("author:peers python")
    for text in ("http://a.example/", "std::vector", "10:30", "note: that"):
        assert not [each for each in parse_query(text).readings if each.read_as == ReadAs.NO_FIELD], text


def test_a_filters_word_scores_too() -> None:
    query = parse_query("intitle:python inurl:docs filetype:pdf before:2024")
    assert len(query.leaves) == 2


def test_every_filter_of_the_table_reads_its_own_example() -> None:
    for name, rule in FILTERS.items():
        field, colon, value = rule.example.partition(":")
        assert (field, colon) == (name, ":")
        assert read_filter(name, value) is not None, rule.example


@pytest.mark.parametrize(
    "text", ["before:1000000 " * 60, "intitle:* " * 100, "a* " * 340, "*" * 1000, "after:1970 " * 90]
)
def test_much_of_it_stays_harmless(text: str) -> None:
    query = parse_query(f"{text} python"[:1024])
    assert len(query.leaves) <= 64
    found(text)
