from itertools import product
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawl import SCOPE_KINDS, ScopeKind, Visit, canonical_url, decode_visit, encode_visit, reach, scope_for
from crawl.scope import breadth, is_within, scope_after_redirect

SEED = "https://docs.example.co.uk:8443/guide/start.html?x=/y/"
HOSTS = ["docs.example.co.uk", "example.co.uk", "a.docs.example.co.uk", "badexample.co.uk", "other.co.uk"]
URLS = [
    canonical_url(f"{scheme}://{host}{port}{path}")
    for scheme, host, port, path in product(
        ("http", "https"), HOSTS, ("", ":8443"), ("/", "/guide/", "/guide/deep/page", "/guidebook", "/guide/?q=1")
    )
]


@pytest.mark.parametrize(
    ("kind", "text", "holds"),
    [
        ("whole", "", lambda url: True),
        ("host", "docs.example.co.uk", lambda url: "//docs.example.co.uk" in url),
        ("domain", "*.example.co.uk", lambda url: "//example.co.uk" in url or ".example.co.uk" in url),
        ("prefix", "docs.example.co.uk:8443/guide/", lambda url: "//docs.example.co.uk:8443/guide/" in url),
    ],
)
def test_each_scope_holds_what_its_name_says(kind: ScopeKind, text: str, holds: object) -> None:
    assert scope_for(kind, SEED) == text
    assert {url for url in URLS if is_within(text, url)} == {url for url in URLS if holds(url)}  # type: ignore[operator]


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("localhost", "localhost"),
        ("127.0.0.1", "127.0.0.1"),
        ("[::1]", "::1"),
        ("github.io", "github.io"),
        ("me.github.io", "*.me.github.io"),
        ("a.b.test", "*.b.test"),
        ("xn--bcher-kva.example", "*.xn--bcher-kva.example"),
    ],
)
def test_addresses_and_public_suffixes_are_their_own_domain(host: str, domain: str) -> None:
    assert scope_for("domain", f"http://{host}/") == domain
    assert is_within(domain, f"http://{host}/x")


@given(st.sampled_from(URLS), st.sampled_from(SCOPE_KINDS))
def test_a_seed_is_within_its_own_scope_and_wider_scopes_hold_more(url: str, kind: ScopeKind) -> None:
    assert is_within(scope_for(kind, url), url)
    held = [
        {each for each in URLS if is_within(scope_for(k, url), each)} for k in ("prefix", "host", "domain", "whole")
    ]
    assert held[0] <= held[1] <= held[2] <= held[3]
    assert [breadth(scope_for(k, "http://a.b.test/c/")) for k in ("prefix", "host", "domain", "whole")] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("scope", "url", "target", "then"),
    [
        ("a.test", "http://a.test/", "https://www.a.test/x", "www.a.test"),
        ("www.a.test", "http://www.a.test/", "http://a.test/", "a.test"),
        ("a.test/docs/", "http://a.test/docs/", "http://www.a.test/docs/", "www.a.test/docs/"),
        ("a.test", "http://a.test/", "http://b.test/", "a.test"),
        ("a.test", "http://a.test/", "http://www.b.test/", "a.test"),
        ("*.a.test", "http://a.test/", "http://www.a.test/", "*.a.test"),
        ("", "http://a.test/", "http://www.a.test/", ""),
        ("b.test", "http://a.test/", "http://www.a.test/", "b.test"),
    ],
)
def test_only_a_redirect_to_the_same_site_moves_a_scope(scope: str, url: str, target: str, then: str) -> None:
    assert scope_after_redirect(scope, url, target) == then


def test_of_two_finds_the_sitemap_the_deeper_and_the_wider_counts() -> None:
    url = "http://a.b.test/c/"
    finds = [
        Visit(url, depth, scope=scope_for(kind, url)) for depth in range(4) for kind in ("prefix", "host", "domain")
    ]
    finds += [Visit(url, 4), Visit(url, 0, is_sitemap=True), Visit(url, 1, is_sitemap=True)]
    shuffled = Random(1).sample(finds, len(finds))
    assert sorted(shuffled, key=reach) == finds


def test_visits_from_before_scopes_are_read_as_the_whole_web() -> None:
    visit = Visit("http://a.test/", 2, scope="a.test", is_sitemap=True)
    assert decode_visit(encode_visit(visit)) == visit
    old = msgspec.msgpack.encode(msgspec.msgpack.decode(encode_visit(visit))[:-4])
    assert decode_visit(old) == Visit("http://a.test/", 2)
