"""What filters ask of a document: types by address, and ranges of dates as the fewest tags."""

import random
from dataclasses import replace
from datetime import date, timedelta

import index_corpus as corpus
import pytest

from index.text.tags import bears, date_tags, tags_of, type_of


@pytest.mark.parametrize(
    ("url", "ending"),
    [
        ("http://a.example/", "html"),
        ("http://a.example/index.php?x=a.pdf", "html"),
        ("http://a.example/paper.PDF", "pdf"),
        ("http://a.example/v3.11", "html"),
        ("http://a.example/notes.txt#top.pdf", "txt"),
        ("http://a.example/a.b/c", "html"),
        ("http://a.example/x.tooolong", "html"),
        ("http://[broken", "html"),
    ],
)
def test_the_type_of_an_address(url: str, ending: str) -> None:
    assert type_of(url) == ending


@pytest.mark.parametrize("seed", range(20))
def test_a_range_of_dates_matches_its_days_and_no_others(seed: int) -> None:
    rng = random.Random(seed)
    first = date(2020, 1, 1) + timedelta(rng.randrange(900))
    last = first + timedelta(rng.randrange(1200))
    tags = set(date_tags(first, last))
    assert len(tags) < 100
    for number in range(-3, (last - first).days + 4):
        day = first + timedelta(number)
        borne = {f"date:{day.year // 10}", f"date:{day:%Y}", f"date:{day:%Y-%m}", f"date:{day:%Y-%m-%d}"}
        assert bool(borne & tags) == (first <= day <= last), day


def test_all_of_time_is_few_tags() -> None:
    assert len(list(date_tags(date.min, date.max))) == 13


@pytest.mark.parametrize("instant", [0.0, -1e18, 1e18, float("inf"), float("nan")])
def test_an_impossible_date_is_none(instant: float) -> None:
    text = replace(corpus.text(random.Random(1), "http://a.example/"), published_at=instant)
    assert not [tag for tag in tags_of(text) if tag.startswith("date:")]


def test_a_document_bears_its_tags_and_no_others() -> None:
    texts = corpus.web(random.Random(2), 40)
    every = {tag for text in texts for tag in tags_of(text)}
    assert {tag.partition(":")[0] for tag in every} == {"title", "url", "type", "date", "character"}
    for text in texts:
        assert {tag for tag in every if bears(text, tag)} == set(tags_of(text))
