"""Link fields by RFC 8288, and what strangers make of them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawl.fetch.link_header import MAX_LINKS, HeaderLink, canonical_of, links_of, pages_beside

HERE = "http://a.test/dir/file.pdf"


def canonical(*fields: str) -> str:
    return canonical_of(links_of([("Link", field) for field in fields], HERE), HERE)


@pytest.mark.parametrize(
    ("field", "named"),
    [
        ('<http://a.test/real>; rel="canonical"', "http://a.test/real"),
        ("<real>;rel=canonical", "http://a.test/dir/real"),
        ("< /real > ; REL = Canonical", "http://a.test/real"),
        ('</n>; rel=next, </real>; rel="x CANONICAL y"', "http://a.test/real"),
        ('</n>; title="a, <b>; rel=canonical"; rel=next, </real>; rel=canonical', "http://a.test/real"),
        (r'</n>; title="\", </evil>; rel=canonical"; rel=next', ""),
        ("</a,b;c>; rel=canonical", "http://a.test/a,b;c"),
        ("</real>; rel=canonical; rel=next", "http://a.test/real"),
        ("</n>; rel=next; rel=canonical", ""),  # of several the first counts
        ('</real>; rel=canonical; anchor="/other"', ""),  # says something of another resource
        ('</real>; rel=canonical; anchor="#top"', "http://a.test/real"),
        ("</x>; rev=canonical", ""),
        (f"<{HERE}#x>; rel=canonical", ""),
        ("<javascript:x>; rel=canonical", ""),
        (",, </real>; rel=canonical ,", "http://a.test/real"),
        ("</n>, </real>; rel=canonical", "http://a.test/real"),
        ('</n>; nonsense "x, y" here, </real>; rel=canonical', "http://a.test/real"),
        ("/real; rel=canonical", ""),
        ("</real; rel=canonical", ""),
        ("", ""),
    ],
)
def test_what_a_response_calls_its_own_address(field: str, named: str) -> None:
    assert canonical(field) == named
    assert canonical("</n>; rel=next", field) == named


def test_the_next_page_and_translations_are_beside_a_response() -> None:
    field = '</2>; rel=next, </fr>; rel=alternate; hreflang=fr, </a.json>; rel=alternate; type="application/json"'
    assert pages_beside(links_of([("Link", field)], HERE)) == ["http://a.test/2", "http://a.test/fr"]


def test_feeds_are_named_with_their_type() -> None:
    field = '</f>; rel="alternate"; type="application/RSS+xml", </de>; rel=alternate; hreflang=de'
    feed, other = links_of([("link", field), ("X-Link", field)], HERE)
    assert feed == HeaderLink("http://a.test/f", frozenset({"alternate"}), "application/rss+xml")
    assert (feed.is_feed, other.is_feed) == (True, False)


@pytest.mark.parametrize("piece", ["<a>,", ";", "<a>;x=", '<a>;x="', '<a>;x="\\"', "<", ",", '"', "<a>;a;", ' "x" '])
def test_a_long_field_costs_little(piece: str) -> None:
    assert len(links_of([("Link", piece * 100_000)] * 100, HERE)) <= MAX_LINKS


PIECES = ("<", ">", "/x", ";", ",", "=", '"', "\\", "rel", "canonical", "anchor", " ", "\t", "\xe9", "*")


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60) | st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_any_field_is_read(field: str) -> None:
    found = links_of([("Link", field)], HERE)
    assert all(link.url.startswith("http") for link in found) and len(found) <= MAX_LINKS
