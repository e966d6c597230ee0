import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawl.wishes import header_wishes, is_unendorsed, meta_wishes


@pytest.mark.parametrize(
    ("value", "wishes"),
    [
        ("noindex, nofollow", {"noindex", "nofollow"}),
        ("other-bot: noindex, nofollow", set()),
        ("DSE-node: NoIndex", {"noindex"}),
        ("other-bot: nofollow, dse-node: noindex, noarchive", {"noindex", "noarchive"}),
        ("noindex, other-bot: nofollow", {"noindex"}),
        ("dse: noindex", set()),
        ("max-snippet: 20, noindex", {"max-snippet: 20", "noindex"}),
        ("unavailable_after: 25 Jun 2030 15:00:00 PST", {"unavailable_after: 25 jun 2030 15:00:00 pst"}),
        ("", set()),
    ],
)
def test_wishes_in_headers(value: str, wishes: set[str]) -> None:
    assert header_wishes((("Date", "noindex"), ("X-Robots-TAG", value)), "dse-node") == wishes


def test_wishes_of_all_fields_count_together() -> None:
    fields = [("X-Robots-Tag", "other-bot: nofollow"), ("x-robots-tag", "noindex")]
    assert header_wishes(fields, "dse-node") == {"noindex"}


def test_meta_elements_for_everybody_and_for_us_count_together() -> None:
    metas = [("robots", "NoArchive;  index"), ("dse-node", "noindex"), ("googlebot", "nofollow"), ("", "none")]
    assert meta_wishes(metas, "DSE-Node") == {"noarchive", "index", "noindex"}
    assert meta_wishes(metas, "") == {"noarchive", "index"}


@pytest.mark.parametrize("rel", ["nofollow", "UGC", "noopener sponsored", "external,NoFollow"])
def test_links_that_a_page_does_not_vouch_for(rel: str) -> None:
    assert is_unendorsed(rel)


@pytest.mark.parametrize("rel", ["", "next", "xnofollow", "noopener noreferrer"])
def test_links_that_it_does(rel: str) -> None:
    assert not is_unendorsed(rel)


@given(st.text(max_size=200), st.text("xnoidefl:, -_;*12", max_size=60))
def test_any_text_is_read(one: str, other: str) -> None:
    for text in (one, other):
        header_wishes((("x-robots-tag", text),), "dse-node")
        meta_wishes(((text, text), ("robots", text)), text)
        is_unendorsed(text)
