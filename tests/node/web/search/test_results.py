"""An answer of any shape becomes a page or is left out of it; it never breaks the page."""

from hypothesis import given, settings
from hypothesis import strategies as st

from node.web.search.results import result_page
from tests.node.bodies import junk

JUNK = junk()
FIELDS = st.sampled_from(
    [
        *("url", "title", "heading", "snippet", "highlights", "language"),
        *("fetched_at", "replicas", "similar", "site_more", "explain", "date"),
    ]
)
ENTRIES = st.dictionaries(FIELDS, JUNK, max_size=8) | st.dictionaries(FIELDS, JUNK).map(
    lambda entry: {**entry, "url": "http://a.test/x"}
)


@given(
    st.lists(ENTRIES, max_size=3),
    st.dictionaries(st.sampled_from(["coverage", "total", "took_ms", "facets", "facets_cut"]), JUNK),
)
@settings(max_examples=200, deadline=None)
def test_any_answer_can_be_shown(entries: list[dict[str, object]], rest: dict[str, object]) -> None:
    page = result_page({"results": entries, **rest})
    for result in page.results:
        assert result.url.startswith(("http://", "https://"))
        assert len(result.title) <= 160
        assert result.language.replace("-", "").isalnum() or not result.language


def test_an_answer_with_late_peers_is_partial_though_every_slot_answered() -> None:
    page = result_page({"partial": True, "coverage": {"slots": 4, "answered": 4}, "results": []})
    assert page.is_partial
    assert page.answered == page.slots


def test_an_address_that_is_none_costs_its_own_row_at_most_and_the_others_stay() -> None:
    bad = ["http://[::1", "http://[v1.x]y/", "http://a.test:99999999/", "javascript:alert(1)", None, 5]
    entries = [{"url": url, "title": "\ud800\x1b[31m"} for url in bad]
    page = result_page({"results": [*entries, None, "text", {"url": "http://good.test/", "title": "Good"}]})
    assert page.results[-1].title == "Good"
    assert all(result.url.startswith("http") for result in page.results)


def test_a_page_shows_its_own_date_and_when_it_was_collected() -> None:
    (result,) = result_page({"results": [{"url": "http://a.test/", "date": 86_400.0, "fetched_at": 172_800.0}]}).results
    assert (result.day, result.fetched_day) == ("1970-01-02", "1970-01-03")


def test_facets_of_one_name_narrow_nothing_and_odd_ones_are_left_out() -> None:
    names = [{"name": "2024", "count": 2}, {"name": "x' y", "count": 0}, {"name": 5}, None]
    facets = result_page({"facets": {"year": names, "type": names[:1], "site": 7}, "facets_cut": ["year", 3]}).facets
    assert [(facet.kind, facet.is_cut) for facet in facets] == [("year", True)]
    assert [(each.count, each.words) for each in facets[0].names][:2] == [(2, "after:2024 before:2025"), (0, "")]
