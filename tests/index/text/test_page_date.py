"""The date of a page, by its own word."""

from dataclasses import replace
from random import Random

import index_corpus as corpus
import pytest

from index.text.page_date import date_of


@pytest.mark.parametrize(
    ("published", "modified", "date"),
    [
        (0.0, 0.0, 0.0),
        (1e9, 0.0, 1e9),
        (1e9, 1.2e9, 1.2e9),
        (1e9, 4e9, 1e9),
        (4e9, 0.0, 0.0),
        (float("nan"), float("inf"), 0.0),
        (-5.0, 0.0, 0.0),
    ],
)
def test_the_last_change_counts_and_no_date_after_the_fetch(published: float, modified: float, date: float) -> None:
    text = replace(corpus.text(Random(1), "http://a.test/"), fetched_at=1.7e9)
    assert date_of(replace(text, published_at=published, modified_at=modified)) == date
