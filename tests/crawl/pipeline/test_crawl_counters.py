"""What is counted, and under which name."""

import pytest

from crawl.pipeline.crawl_counters import CrawlCounters, kind_of


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("size: larger than 5 bytes", "size"),
        ("robots", "robots"),
        ("guard: 20 of 21 pages like it say nothing new", "guard: pages like it say nothing new"),
        ("guard: soft 404, 11 other pages of the site say the same", "guard: soft 404, pages of the site say the same"),
        ("guard: path repeats itself", "guard: path repeats itself"),
        ("rule 3 of strategy 1", "rule 3 of strategy 1"),
    ],
)
def test_reasons_are_counted_without_their_details(reason: str, kind: str) -> None:
    assert kind_of(reason) == kind


def test_a_trap_that_goes_on_fills_one_line_alone() -> None:
    counters = CrawlCounters()
    for pages in range(20, 300):
        counters.count_refusal(f"guard: {pages} of {pages + 1} pages like it say nothing new")
    counters.count_refusal("media type: image/png")
    assert counters.refused == {"guard: pages like it say nothing new": 280, "media type": 1}
