"""A visit's bytes: what went in comes out, and a URL that was only found takes little more than its text."""

from hypothesis import given
from hypothesis import strategies as st

from crawl import Visit, VisitState
from crawl.schedule.change_rate import History
from crawl.schedule.url_state import decode_visit, encode_visit

VISITS = st.builds(
    Visit,
    st.just("http://a.example/x"),
    st.integers(0, 100),
    st.integers(0, 10),
    st.sampled_from(VisitState),
    st.sampled_from([0.0, 1.7e9]),
    scope=st.sampled_from(["", "host:a.example"]),
    is_sitemap=st.booleans(),
    history=st.sampled_from([History(), History(seen_at=5)]),
)


@given(VISITS)
def test_what_went_in_comes_out(visit: Visit) -> None:
    assert decode_visit(encode_visit(visit)) == visit


def test_a_url_that_was_only_found_takes_little_more_than_its_text() -> None:
    assert len(encode_visit(Visit("http://a.example/x", 3, 1))) <= len("http://a.example/x") + 4
