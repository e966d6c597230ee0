"""Addresses as people type them, and the remedy that a refusal names."""

import pytest

from crawl import BadUrl, canonical_url
from node.crawling.typed_address import bad_url_text, with_scheme


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("www.example.org", "https://www.example.org"),
        ("example.org:8080/a", "https://example.org:8080/a"),
        ("wiki:8080", "https://wiki:8080"),
        ("localhost/a.b", "https://localhost/a.b"),
        ("http://wiki/", "http://wiki/"),
        ("wiki", "wiki"),
        ("wiki/a.b", "wiki/a.b"),
        ("mailto:ann", "mailto:ann"),
    ],
)
def test_a_scheme_is_added_where_a_host_was_typed(typed: str, read: str) -> None:
    assert with_scheme(typed) == read


def test_a_word_is_no_address_until_its_scheme_says_so() -> None:
    remedies = {
        "notahost": "its host has no dot; write http://notahost/ if it is a host of your own network",
        "not a url": "not a URL; give an http or https URL such as https://example.org/",
    }
    for typed, remedy in remedies.items():
        with pytest.raises(BadUrl) as refused:
            canonical_url(with_scheme(typed))
        assert bad_url_text(typed, refused.value) == remedy
    assert canonical_url("http://notahost/") == "http://notahost/"
