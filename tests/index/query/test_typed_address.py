"""A query that is an address: the canonical URLs that it may mean."""

import pytest

from index.query.typed_address import typed_urls


@pytest.mark.parametrize(
    ("typed", "urls"),
    [
        ("python.org", ("https://python.org/", "http://python.org/")),
        (" WWW.Python.org ", ("https://www.python.org/", "http://www.python.org/")),
        ("http://a.test:80/x?y=1#z", ("http://a.test/x?y=1", "https://a.test:80/x?y=1")),
        ("https://localhost", ("https://localhost/", "http://localhost/")),
        ("köln.de?q", ("https://xn--kln-sna.de/?q", "http://xn--kln-sna.de/?q")),
    ],
)
def test_an_address_means_both_schemes_and_both_names_the_typed_one_first(typed: str, urls: tuple[str, ...]) -> None:
    found = typed_urls(typed)
    assert found[:2] == urls and len(set(found)) == 4
    assert ("www." in found[0]) != ("www." in found[2])


@pytest.mark.parametrize(
    "typed",
    ["", "python", "python docs", "a.test b", "3.11", "site:a.test", "ftp://a.test/", '"a.test"', "a" * 70 + ".de"],
)
def test_other_words_are_no_address(typed: str) -> None:
    assert typed_urls(typed) == ()
