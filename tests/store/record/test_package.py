"""Packages: every record proves itself, nothing forged passes, no bytes raise anything but BadReplica."""

import contextlib
import math

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from dht import Identity, Key, document_id, placement_key
from store import Document, Kind, Version, encode_document
from store.errors import BadReplica
from store.record.package import MAX_PACKAGE_BYTES, open_package, pack
from store.record.zstd import squeeze
from tests.store.support import CHECK, SIGNER, draft, flaws, records, url


@given(st.integers(1, 40), st.data())
@settings(max_examples=25, deadline=None)
def test_records_survive_the_wire_alone_and_without_content(count: int, data: st.DataObject) -> None:
    made = records(*(draft(n, kind=Kind.VISIT if n % 3 else Kind.DOCUMENT) for n in range(count)))
    chosen = data.draw(st.lists(st.sampled_from(made), min_size=1, max_size=5))
    bare = [replace(r, content=None) for r in chosen]
    assert open_package(pack(chosen)) == chosen
    assert open_package(pack(bare)) == bare
    assert flaws(chosen + bare) == [""] * (2 * len(chosen))


def test_anything_changed_is_found() -> None:
    good = records(*(draft(n) for n in range(5)))[3]
    other = records(draft(9))[0]
    changed = [
        replace(good, body=other.body),
        replace(good, content=b"another"),
        replace(good, content_digest=bytes(32)),
        replace(good, id=other.id),
        replace(good, key=other.key),
        replace(good, kind=Kind.VISIT),
        replace(good, expires_day=good.expires_day + 1),
        replace(good, version=Version(good.version.epoch + 1, *good.version[1:])),
        replace(good, proof=replace(good.proof, index=2)),
        replace(good, proof=replace(good.proof, index=900)),
        replace(good, proof=replace(good.proof, path=())),
        replace(good, proof=replace(good.proof, author=Identity.generate().public_key)),
        replace(good, proof=replace(good.proof, signature=bytes(64))),
    ]
    assert flaws([good]) == [""]
    assert all(flaws([record])[0] for record in changed)


def test_a_record_about_somebody_elses_url_is_refused_before_it_is_signed() -> None:
    assert CHECK.draft_flaw(draft(1)) == ""
    assert "id is not" in CHECK.draft_flaw(replace(draft(1), body=draft(2).body))
    assert "is no DOCUMENT" in CHECK.draft_flaw(replace(draft(1), body=b"\xc1"))


@given(st.binary(max_size=300))
@settings(max_examples=300, deadline=None)
def test_garbage_is_a_bad_replica_and_nothing_else(data: bytes) -> None:
    for attempt in (data, squeeze(data), squeeze(msgspec.msgpack.encode([data]))):
        with contextlib.suppress(BadReplica):
            assert open_package(attempt) == []


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_damaged_packages_never_pass_as_others(data: st.DataObject) -> None:
    made = records(draft(1), draft(2))
    raw = bytearray(msgspec.msgpack.encode(msgspec.msgpack.decode(__import__("zstandard").decompress(pack(made)))))
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    try:
        opened = open_package(squeeze(bytes(raw)))
    except BadReplica:
        return
    for record, flaw in zip(opened, flaws(opened), strict=True):
        assert flaw or record in made or replace(record, content=made[0].content) in made or record.content is None


def test_bombs_cost_nothing() -> None:
    bomb = squeeze(bytes(MAX_PACKAGE_BYTES + 1))
    assert len(bomb) < 2000
    with pytest.raises(BadReplica, match="allowed"):
        open_package(bomb)
    with pytest.raises(BadReplica):
        open_package(squeeze(b"\x91" * 100_000))


def test_too_many_records_are_refused() -> None:
    one = records(draft(1), signer=SIGNER)[0]
    with pytest.raises(BadReplica):
        open_package(pack([one] * 1025))


def test_nobody_may_place_a_page_where_its_url_does_not() -> None:
    moved = replace(draft(1), key=Key(bytes(10) + draft(1).key[10:]))
    assert "key is not" in CHECK.draft_flaw(moved)
    assert flaws(records(moved)) == ["key is not that of its URL"]


@pytest.mark.parametrize("at", [math.nan, math.inf, -math.inf])
def test_a_document_fetched_at_no_time_is_refused(at: float) -> None:
    body = encode_document(Document(url(1), at, 200))
    made = records(replace(draft(1), body=body))
    assert flaws(made) == [f"fetched_at is {at}"]
    body = encode_document(Document(url(1), 1.0, 200, published_at=at))
    assert flaws(records(replace(draft(1), body=body))) == [f"published_at is {at}"]


def test_a_document_first_seen_in_the_future_or_linked_by_more_than_all_is_refused() -> None:
    later = encode_document(Document(url(1), 1.0, 200, first_seen=60_000))
    assert flaws(records(replace(draft(1), body=later))) == ["first_seen is 60000"]
    famous = encode_document(Document(url(1), 1.0, 200, site_links=16))
    assert "site_links 16" in flaws(records(replace(draft(1), body=famous)))[0]


def test_a_url_that_nobody_can_fetch_is_refused() -> None:
    long = "http://a.test/" + "x" * 3000
    body = encode_document(Document(long, 1.0, 200))
    made = replace(draft(1), id=document_id(long), key=placement_key(long), body=body)
    assert "URL of 3014 characters" in flaws(records(made))[0]
