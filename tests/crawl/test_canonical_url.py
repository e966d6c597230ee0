import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawl.canonical_url import MAX_URL_BYTES, canonical_url, find_url
from crawl.errors import BadUrl

GOLDEN = [
    ("HTTP://EXAMPLE.com:80/a/../b/%7Euser/%c3%a9?x=%41 b#f", "http://example.com/b/~user/%C3%A9?x=A%20b"),
    ("https://example.com", "https://example.com/"),
    ("https://example.com:443/?", "https://example.com/"),
    ("http://bücher.de/ü?q=ü", "http://xn--bcher-kva.de/%C3%BC?q=%C3%BC"),
    ("http://example.com./x", "http://example.com/x"),
    ("http://0x7f.1/", "http://127.0.0.1/"),
    ("http://[2001:DB8::0:1]:8080/a", "http://[2001:db8::1]:8080/a"),
    ("http://a.test/%2%65%2e/b", "http://a.test/b"),
    ("http://a.test/a\\b\tc", "http://a.test/a/bc"),
    ("http://a.test/?b=2&a=1&utm_source=x", "http://a.test/?b=2&a=1"),
    ("http://a.test/x?UTM_Medium=1&fbclid=2#f", "http://a.test/x"),
    ("http://a.test/x?%75tm_medium=1&&c", "http://a.test/x?&c"),
    ("http://a.test/x?PHPSESSID=1&ASPSESSIONIDAB=2&sid=3", "http://a.test/x?sid=3"),
    ("http://a.test/a;JSessionID=8F/b;v=1?glide=1", "http://a.test/a/b;v=1?glide=1"),
    ("http://a.test/Index.html?gclid", "http://a.test/Index.html"),
    ("http://a.test/%zz%2f%2F", "http://a.test/%zz%2F%2F"),
    ("  http://a.test/x  ", "http://a.test/x"),
]


@pytest.mark.parametrize(("text", "expected"), GOLDEN)
def test_canonical_form_never_changes(text: str, expected: str) -> None:
    assert canonical_url(text) == expected
    assert canonical_url(expected) == expected


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("ftp://a.test/", "http"),
        ("mailto:me@a.test", "http"),
        ("http://me:secret@a.test/", "user"),
        ("http://a.test:0/", "port"),
        ("http://a..test/", "label"),
        ("nothing", "not a URL"),
        ("http://", "not a URL"),
        ("http://a.test/" + "x" * MAX_URL_BYTES, "longer"),
        ("http://a.test/" + "x" * 100_000, "longer"),
        ("http://\ud800.test/", "not a URL"),
    ],
)
def test_refused_with_a_reason(text: str, word: str) -> None:
    with pytest.raises(BadUrl, match=word):
        canonical_url(text)


def test_links_resolve_against_their_page() -> None:
    base = "http://a.test/dir/page.html?x"
    assert find_url("../other.html#top", base) == "http://a.test/other.html"
    assert find_url("//b.test", base) == "http://b.test/"
    assert find_url("?q", base) == "http://a.test/dir/page.html?q"
    assert find_url("javascript:void(0)", base) is None


WPT = json.loads((Path(__file__).parents[1] / "data" / "urltestdata-http.json").read_text())


def test_parsing_and_joining_follow_the_standard() -> None:
    """Each case of web-platform-tests gives the canonical form of the standard's result, or is refused with it."""
    accepted = 0
    for text, base, href in WPT:
        wanted = href and find_url(href, href)
        try:
            found = canonical_url(text, base)
        except BadUrl:
            found = None
        assert found == wanted, (text, base)
        accepted += found is not None
    assert accepted > 200


PIECES = (
    *("a", "B", ".", "/", "%2e", "%2F", "%65", "?", "#", "&", "=", ":", "@", "\\", "é", "中", "[", "]", ";j"),
    *("session", ";jsessionid=", "utm_x=", "%75tm_", "phpsessid=", "sid="),
)


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join))
def test_canonical_form_is_a_fixed_point(tail: str) -> None:
    url = find_url("http://Host.test/" + tail, "http://base.test/")
    if url is not None:
        assert canonical_url(url) == url
        assert url.isascii()
        assert "#" not in url


@settings(max_examples=400, deadline=None)
@given(
    st.sampled_from(("http://a.test:81", "https://a.test", "http://b.a.test")),
    st.lists(st.sampled_from(PIECES), max_size=20).map("".join),
)
def test_canonical_form_never_crosses_to_another_host_or_scheme(origin: str, tail: str) -> None:
    url = find_url(f"{origin}/{tail}", "http://base.test/")
    assert url is not None and url.startswith(f"{origin}/")


PLAIN = (
    *("a", "B", "b.html", "..", ".", "/", "//", "-", "~", "_", "1", "xn--a", "xn--", ":80", ":8080", ":443", "?x"),
    *("%41", "http://", "https://", "b.test", "127.1", "#", "c/d/", "é", "@", " ", ";jsessionid=1"),
    "x" * 2_040,
)


@settings(max_examples=600, deadline=None)
@given(
    st.lists(st.sampled_from(PLAIN), max_size=6).map("".join),
    st.sampled_from(("http://a.test/", "https://b.test:8443/c/d.html?e", "http://1.2.3.4/x", "http://localhost/x/y")),
)
def test_what_looks_canonical_already_is(text: str, base: str) -> None:
    try:
        wanted = canonical_url(text, base)
    except BadUrl:
        wanted = None
    assert find_url(text, base) == wanted
