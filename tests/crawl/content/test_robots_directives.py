"""Pages may ask robots for something in several ways, and the crawler reads all of them."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawl.content.robots_directives import RobotsDirectives, header_directives, is_unendorsed, meta_directives

NOINDEX, NOFOLLOW, NOARCHIVE = (
    RobotsDirectives(noindex=True),
    RobotsDirectives(nofollow=True),
    RobotsDirectives(noarchive=True),
)


def at(*instant: int) -> float:
    return datetime(*instant, tzinfo=UTC).timestamp()  # type: ignore[arg-type, misc]


@pytest.mark.parametrize(
    ("value", "directives"),
    [
        ("noindex, nofollow", RobotsDirectives(noindex=True, nofollow=True)),
        ("other-bot: noindex, nofollow", RobotsDirectives()),
        ("DSE-node: NoIndex", NOINDEX),
        ("other-bot: nofollow, dse-node: noindex, noarchive", RobotsDirectives(noindex=True, noarchive=True)),
        ("noindex, other-bot: nofollow", NOINDEX),
        ("dse: noindex", RobotsDirectives()),
        ("*: none", RobotsDirectives(noindex=True, nofollow=True)),
        ("max-snippet: 20, noindex", RobotsDirectives(noindex=True, max_snippet=20)),
        ("max-snippet:20, nosnippet", RobotsDirectives(max_snippet=0)),
        ("max-snippet:-1", RobotsDirectives()),
        ("nocache", NOARCHIVE),
        ("other-bot: unavailable_after: 2020-01-01", RobotsDirectives()),
        ("", RobotsDirectives()),
    ],
)
def test_directives_in_headers(value: str, directives: RobotsDirectives) -> None:
    assert header_directives((("Date", "noindex"), ("X-Robots-TAG", value)), "dse-node") == directives


@pytest.mark.parametrize(
    ("date", "instant"),
    [
        ("25 Jun 2030 15:00:00 PST", at(2030, 6, 25, 23)),
        ("25-Aug-2027 15:00:00 EST", at(2027, 8, 25, 20)),
        ("Friday, 25-Jun-10 15:00:00 UTC", at(2010, 6, 25, 15)),
        ("Fri, 25 Jun 2010 15:00:00 GMT", at(2010, 6, 25, 15)),
        ("2020-09-21T10:00:00+02:00", at(2020, 9, 21, 8)),
        ("2020-09-21T10:00:00Z", at(2020, 9, 21, 10)),
        ("2020-09-21", at(2020, 9, 22)),  # to the end of that day
        ("25 Jun 2030", at(2030, 6, 26)),
        ("soon", 0.0),
        ("99999-01-01", 0.0),
    ],
)
def test_the_dates_after_which_a_page_is_unavailable(date: str, instant: float) -> None:
    for rest, other in (("", RobotsDirectives()), (", noarchive", NOARCHIVE)):
        wished = RobotsDirectives(unavailable_at=instant).strictest_with(other)
        assert header_directives([("X-Robots-Tag", f"unavailable_after: {date}{rest}")], "dse-node") == wished
        assert header_directives([("X-Robots-Tag", f"dse-node: unavailable_after:{date}{rest}")], "dse-node") == wished
        assert meta_directives([("robots", f"unavailable_after: {date}{rest}")], "dse-node") == wished


def test_the_strictest_wish_holds() -> None:
    one, other = (
        RobotsDirectives(max_snippet=30, unavailable_at=5.0),
        RobotsDirectives(noarchive=True, max_snippet=9, unavailable_at=7.0),
    )
    assert (
        one.strictest_with(other)
        == other.strictest_with(one)
        == RobotsDirectives(noarchive=True, max_snippet=9, unavailable_at=5.0)
    )
    assert one.strictest_with(RobotsDirectives()) == one


def test_directives_of_all_fields_count_together() -> None:
    fields = [("X-Robots-Tag", "other-bot: nofollow"), ("x-robots-tag", "noindex")]
    assert header_directives(fields, "dse-node") == NOINDEX


def test_meta_elements_for_everybody_and_for_us_count_together() -> None:
    metas = [("robots", "NoArchive;  index"), ("dse-node", "noindex"), ("googlebot", "nofollow"), ("", "none")]
    assert meta_directives(metas, "DSE-Node") == RobotsDirectives(noindex=True, noarchive=True)
    assert meta_directives(metas, "") == NOARCHIVE
    assert meta_directives([("robots", "nofollow max-snippet:7")], "") == RobotsDirectives(nofollow=True, max_snippet=7)


@pytest.mark.parametrize("rel", ["nofollow", "UGC", "noopener sponsored", "external,NoFollow"])
def test_links_that_a_page_does_not_vouch_for(rel: str) -> None:
    assert is_unendorsed(rel)


@pytest.mark.parametrize("rel", ["", "next", "xnofollow", "noopener noreferrer"])
def test_links_that_it_does(rel: str) -> None:
    assert not is_unendorsed(rel)


TEXTS = st.text(max_size=200) | st.text("xnoidefl:, -_;*12unavailable_after0FrJZ+", max_size=60)


@given(TEXTS)
def test_any_text_is_read(text: str) -> None:
    for asked in (text, f"unavailable_after:{text}", f"dse-node: max-snippet:{text}"):
        for found in (
            header_directives((("x-robots-tag", asked),), "dse-node"),
            meta_directives((("robots", asked),), text),
        ):
            assert -1 <= found.max_snippet < 1e9 and 0.0 <= found.unavailable_at < 5e9
    is_unendorsed(text)
