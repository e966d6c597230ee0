"""An owner finds sites by the beginning of their names and orders them by pages and visits, however many there are."""

from collections.abc import Iterator
from time import process_time

import pytest

from crawl.pipeline.site_survey import SiteFigures, SiteOrder, SiteSurvey, chosen_sites, site_survey
from crawl.schedule.url_state import History, Visit, VisitState

F, D, G, W = VisitState.FETCHED, VisitState.FAILED, VisitState.GONE, VisitState.WAITING


def visit(url: str, state: VisitState, at: float = 0.0, fails: int = 0, history: History = History()) -> Visit:  # noqa: B008
    return Visit(url, 1, state=state, visited_at=at, fails=fails, history=history)


TWICE, KEPT = History(seen_at=5, unchanged_s=60), History(seen_at=5, kept_at=5)
KNOWN = [
    ("a.test", visit("http://a.test/", F, 50.0, history=TWICE)),
    ("a.test", visit("http://a.test/failing", D, 70.0, 2, KEPT)),  # its page stays stored
    ("a.test", visit("http://a.test/new", W)),
    ("b.test", visit("http://b.test/", D, 90.0, 1)),
    ("b.test", visit("http://b.test/gone", G, 60.0)),
    ("ab.test", visit("http://ab.test/", F, 80.0)),
]


def survey(order: SiteOrder, beginning: str = "", start: int = 0, most: int = 50) -> SiteSurvey:
    return site_survey(lambda: iter(KNOWN), lambda visit: 1 / 31_536_000.0, beginning, order, start, most)


def test_a_site_is_summed_up_from_its_urls() -> None:
    a, ab, b = survey("name").rows
    assert a == SiteFigures("a.test", known=3, pages=2, failing=1, visited_at=70.0, changes_per_year=1.0), (
        "one page of it was seen twice"
    )
    assert b == SiteFigures("b.test", known=2, pages=0, failing=1, visited_at=90.0)
    assert (ab.pages, ab.changes_per_year) == (1, 0.0)


@pytest.mark.parametrize(
    ("order", "names"),
    [
        ("name", ["a.test", "ab.test", "b.test"]),
        ("pages", ["a.test", "ab.test", "b.test"]),
        ("visited", ["b.test", "ab.test", "a.test"]),
    ],
)
def test_sites_are_ordered_found_and_paged(order: SiteOrder, names: list[str]) -> None:
    assert list(survey(order).chosen.names) == names
    found = survey(order, "a", 0, 1).chosen
    assert (len(found.names), found.matching, found.all, found.after) == (1, 2, 3, 1)
    assert survey(order, "a", 1, 1).chosen.after is None and survey(order, "a", 9, 1).rows == ()


def test_pages_of_equal_sites_hold_each_once() -> None:
    marks = {f"{n:03}.test": 0.0 for n in range(100)}
    seen = [name for start in range(0, 100, 7) for name in chosen_sites(marks, "", start, 7).names]
    assert seen == sorted(marks)


@pytest.mark.parametrize("order", ["name", "pages", "visited"])
def test_a_hundred_thousand_sites_are_looked_through_within_a_third_of_a_second(order: SiteOrder) -> None:
    known = [(f"s{n % 100_000}.test", visit(f"http://s{n % 100_000}.test/{n}", F, float(n))) for n in range(200_000)]

    def all_known() -> Iterator[tuple[str, Visit]]:
        yield from known

    def took_s() -> float:
        began = process_time()
        assert site_survey(all_known, lambda visit: 0.0, "s", order, 0, 50).chosen.matching == 100_000
        return process_time() - began

    assert min(took_s() for _ in range(3)) < 0.3
