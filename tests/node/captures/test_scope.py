"""A scope accepts only the URLs that were asked for, and their records lie in the key ranges that it reads."""

import random

import pytest

from dht import Key, Slot, placement_key, shards, slot_of
from node.captures.scope import FIRST, LAST, Wish, following, scope_of, wish_of
from node.errors import NoSuchSlot

URLS = [
    f"{scheme}://{host}/{path}"
    for scheme in ("http", "https")
    for host in ("a.test", "a.test:8080", "www.a.test", "b.test", "ba.test")
    for path in ("", "x", "x/y", "x/y?z=1", "y")
]


def _read(wish: Wish, bits: int = 4, depth: int = 0, start: Key = FIRST) -> set[str]:
    places = lambda url: [placement_key(url, depth), placement_key(url, 0)]  # noqa: E731
    scope = scope_of(wish, bits, places, lambda site: shards(site)[: 1 << depth])
    pieces = list(scope.pieces(start, bits))
    assert pieces == sorted(pieces)
    assert all(slot_of(first, bits) == slot_of(last, bits) == slot for slot, first, last in pieces)
    inside = lambda key: any(first <= key <= last for _, first, last in pieces)  # noqa: E731
    return {url for url in URLS if scope.accepts(url) and inside(placement_key(url, depth))}


@pytest.mark.parametrize(
    ("url", "match", "found"),
    [
        ("http://a.test/x", "exact", {"http://a.test/x", "https://a.test/x"}),
        ("a.test/x", "", {"http://a.test/x", "https://a.test/x"}),
        ("a.test/x/*", "", {url for url in URLS if "//a.test/x/" in url}),
        ("a.test/x", "prefix", {url for url in URLS if "//a.test/x" in url}),
        ("a.test", "host", {url for url in URLS if "//a.test/" in url}),
        ("a.test:8080", "host", {url for url in URLS if "//a.test:8080/" in url}),
        ("*.a.test", "", {url for url in URLS if "//a.test" in url or "//www.a.test" in url}),
    ],
)
@pytest.mark.parametrize("depth", [0, 3])
def test_matches(url: str, match: str, found: set[str], depth: int) -> None:
    assert _read(wish_of(url, match), depth=depth) == found


def test_a_slot_and_some_pages() -> None:
    assert _read(Wish()) == set(URLS)
    assert _read(Wish(urls=tuple(URLS[3:5]))) == set(URLS[3:5])
    by_slot = [_read(Wish(slot=Slot(s))) for s in range(16)]
    with pytest.raises(NoSuchSlot, match="ask for 0 to 15"):
        _read(Wish(slot=Slot(16)))
    assert sum(map(len, by_slot)) == len(URLS)
    assert set().union(*by_slot) == set(URLS)
    assert _read(Wish("http://a.test/", "host", slot=slot_of(placement_key("http://a.test/"), 4))) == _read(
        Wish("http://a.test/", "host")
    )


def test_a_reading_goes_on_at_a_key() -> None:
    for url in random.Random(1).sample(URLS, 10):
        start = following(placement_key(url))
        assert _read(Wish(), start=start) == {each for each in URLS if placement_key(each) >= start}
    assert following(LAST) == LAST
    with pytest.raises(ValueError, match="matchType is none of exact"):
        wish_of("a.test", "range")
