"""An answer of any shape becomes a page or is left out of it; it never breaks the page."""

from hypothesis import given, settings
from hypothesis import strategies as st

from node.web.results import result_page

JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
FIELDS = st.sampled_from(
    ["url", "title", "snippet", "highlights", "language", "fetched_at", "replicas", "similar", "site_more", "explain"]
)
ENTRIES = st.dictionaries(FIELDS, JUNK, max_size=8) | st.dictionaries(FIELDS, JUNK).map(
    lambda entry: {**entry, "url": "http://a.test/x"}
)


@given(st.lists(ENTRIES, max_size=3), st.dictionaries(st.sampled_from(["coverage", "total", "took_ms"]), JUNK))
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
