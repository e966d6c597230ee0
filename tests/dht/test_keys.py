"""Placement is for ever: golden vectors, and what the key space promises."""

import json
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from hypothesis import given, settings
from hypothesis import strategies as st

from dht import Slot, distance, document_id, placement_key, site_of, slot_of, slot_range, slot_start
from dht.keys import KEY_BITS, split_url

VECTORS = json.loads((Path(__file__).parents[1] / "data" / "keys.json").read_text())
keys = st.binary(min_size=20, max_size=20)


def test_golden_vectors_hold() -> None:
    for row in VECTORS["urls"]:
        assert document_id(row["url"]).hex() == row["document_id"]
        for spread, key in row["placement_key"].items():
            assert placement_key(row["url"], int(spread)).hex() == key
        for bits, slot in row["slot"].items():
            assert slot_of(placement_key(row["url"]), int(bits)) == slot


def test_a_site_stays_together_whatever_the_scheme() -> None:
    urls = [f"{scheme}://a.example/p{n}?q={n}" for scheme in ("http", "https") for n in range(50)]
    assert len({slot_of(placement_key(url), 16) for url in urls}) == 1
    assert len({placement_key(url) for url in urls}) == 50
    assert site_of("http://a.example:8080/x") == "a.example:8080"


def test_a_spread_site_fills_its_shards_and_keeps_shard_zero_in_place() -> None:
    urls = [f"http://big.example/{n}" for n in range(400)]
    homes = {placement_key(url, 2)[:10] for url in urls}
    assert len(homes) == 4
    stayed = [url for url in urls if placement_key(url, 2) == placement_key(url)]
    assert 60 <= len(stayed) <= 140


@given(keys, st.integers(1, 16))
@settings(max_examples=200, deadline=None)
def test_a_slot_is_the_range_between_its_start_and_the_next(key: bytes, bits: int) -> None:
    slot = slot_of(key, bits)
    start = int.from_bytes(slot_start(slot, bits), "big")
    assert start <= int.from_bytes(key, "big") < start + 2 ** (KEY_BITS - bits)


@given(keys, st.integers(1, 15))
@settings(max_examples=100, deadline=None)
def test_doubling_splits_a_slot_into_two_and_the_even_child_starts_where_it_did(key: bytes, bits: int) -> None:
    slot = slot_of(key, bits)
    assert slot_of(key, bits + 1) in (2 * slot, 2 * slot + 1)
    assert slot_start(type(slot)(2 * slot), bits + 1) == slot_start(slot, bits)


@given(keys, keys, keys)
@settings(max_examples=100, deadline=None)
def test_distance_is_a_metric(a: bytes, b: bytes, c: bytes) -> None:
    assert distance(a, a) == 0
    assert distance(a, b) == distance(b, a)
    assert distance(a, c) <= distance(a, b) + distance(b, c)


@settings(max_examples=500, deadline=None)
@given(
    st.sampled_from(("http://", "https://", "HTTP://", "http:", "")),
    st.sampled_from(("a.b", "a.b:80", "a-b_c:", "[::1]", "u@a", "A.b", "")),
    st.text("ab/:?#@.&=%[]\t\n ~;\xe9", max_size=12),
)
def test_urls_are_taken_apart_as_the_library_does(scheme: str, site: str, rest: str) -> None:
    def by_library(url: str) -> tuple[str, ...]:
        parts = urlsplit(url)
        return parts.scheme, parts.netloc, parts.hostname or "", parts.path, parts.query

    def told(take: Callable[[str], tuple[str, ...]]) -> object:
        try:
            return tuple(take(scheme + site + rest))
        except ValueError:
            return ValueError

    assert told(split_url) == told(by_library)


def test_slot_ranges_tile_the_key_space() -> None:
    last = -1
    for slot in map(Slot, range(2**6)):
        first, end = (int.from_bytes(key, "big") for key in slot_range(slot, 6))
        assert first == last + 1
        last = end
    assert last == 2**160 - 1
