from itertools import product
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawl import (
    SCOPE_KINDS,
    ScopeKind,
    Visit,
    canonical_url,
    decode_visit,
    encode_visit,
    reach,
    scope_for,
    visit_flaw,
)
from crawl.errors import BadExclude
from crawl.scope import (
    ALL_EXCLUDE_CHARS,
    MAX_EXCLUDE_CHARS,
    MAX_EXCLUDES,
    MAX_SCOPE_CHARS,
    breadth,
    exclusion,
    is_within,
    scope_after_redirect,
    scope_words,
)

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


@given(st.sampled_from(URLS), st.sampled_from(SCOPE_KINDS), st.sampled_from(URLS))
def test_a_scope_leaves_out_what_a_pattern_matches_and_nothing_else(seed: str, kind: ScopeKind, url: str) -> None:
    bound = scope_for(kind, seed)
    scope = bound + exclusion(["/deep/", r"^http://.*[?]q=1$"])
    is_left_out = "/deep/" in url or (url.startswith("http://") and url.endswith("?q=1"))
    assert is_within(scope, url) == (is_within(bound, url) and not is_left_out)
    found = Visit(url, 3, scope=scope)
    assert visit_flaw(found, 0, reach(found)) == "" and decode_visit(encode_visit(found)) == found
    assert breadth(scope) == 0, "of two crawls that go equally deep the one that leaves out nothing counts"


def test_patterns_are_kept_apart_and_read_as_people_wrote_them() -> None:
    scope = "a.test/docs/" + exclusion(["(?i)/SECRET", "/x/", r"/y$"])
    for path, holds in (("secret", False), ("X/", True), ("x/", False), ("y", False), ("y/", True), ("z", True)):
        assert is_within(scope, f"http://a.test/docs/{path}") is holds, path
    assert scope_words(scope) == r"a.test/docs/ without (?i)/SECRET, /x/, /y$"
    assert scope_words(exclusion(["/x/"])) == "the whole web without /x/"
    assert (scope_words("a.test"), scope_words(""), exclusion([])) == ("a.test", "", "")


@pytest.mark.parametrize(
    ("patterns", "told"),
    [
        (["("], r"exclude: '\(' is no RE2 pattern .*; see the RE2 syntax page"),
        (["a b"], "exclude: 'a b' has characters that stand in no address; write them as the address does"),
        (["a#b"], "'a#b' has characters that stand in no address"),
        (["/\u79c1/"], "stand in no address; .* such as %20"),
        ([""], "exclude: '' has 0 characters; a pattern has 1 to 200"),
        (["x" * (MAX_EXCLUDE_CHARS + 1)], "has 201 characters"),
        (["x"] * (MAX_EXCLUDES + 1), "'17 patterns, 17 characters' is too much; at most 16 patterns"),
        (["x" * 150] * (ALL_EXCLUDE_CHARS // 150 + 1), "at most 16 patterns with 1,000 characters together"),
        (["(?:a|b|ab|ba){1,500}"], "is no RE2 pattern .*too large"),
    ],
)
def test_a_bad_pattern_is_named_with_what_helps(patterns: list[str], told: str) -> None:
    with pytest.raises(BadExclude, match=told):
        exclusion(patterns)


def test_as_many_patterns_as_are_taken_work_together() -> None:
    patterns = [f"/{n:02}" + "x" * 59 for n in range(MAX_EXCLUDES)]
    scope = "a.test" + exclusion(patterns)
    assert sum(map(len, patterns)) == 992 and len(scope) < MAX_SCOPE_CHARS
    assert is_within(scope, "http://a.test/x") and not any(is_within(scope, f"http://a.test{p}") for p in patterns)


@pytest.mark.parametrize("patterns", ["(", "#", "[", "(?:a|b|ab|ba){1,500}c", "\\", "x" * 2000, "#" * 2000])
def test_of_a_strangers_patterns_those_that_are_none_let_nothing_through(patterns: str) -> None:
    assert is_within("/#" + patterns, "http://a.test/x") is False


def test_patterns_move_along_with_a_redirect_to_the_same_site() -> None:
    left_out = exclusion(["/x/"])
    for bound, then in (("a.test", "www.a.test"), ("a.test/docs/", "www.a.test/docs/"), ("", ""), ("*.a.test", None)):
        moved = scope_after_redirect(bound + left_out, "http://a.test/docs/", "http://www.a.test/docs/")
        assert moved == (bound if then is None else then) + left_out
