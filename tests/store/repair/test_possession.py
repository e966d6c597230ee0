"""What a node shows of a record is worth nothing to anybody else, and cannot be had without the bytes."""

import random
from collections import Counter

from msgspec.structs import replace

from dht import DocumentId, NodeId
from store import Kind, Record
from store.record.messages import MAX_STRETCH, Challenge
from store.repair.possession import LOOKED_AT_BYTES, answer, challenge, sample, shown, size_of
from tests.store.support import draft, random_draft, records

ASKER, ANSWERER, OTHER = (NodeId(bytes([n]) * 20) for n in range(3))
NONCE = b"n" * 16
LARGE = 40_000


def flipped(record: Record, place: int) -> Record:
    """A record of which one bit is another."""
    whole = bytearray(record.body + (record.content or b""))
    whole[place] ^= 1
    cut = len(record.body)
    return replace(record, body=bytes(whole[:cut]), content=bytes(whole[cut:]))


def asking(record: Record, offset: int, length: int) -> Challenge:
    return replace(challenge(record, random.Random(1)), offset=offset, length=length)


def test_each_byte_that_is_asked_for_counts_and_no_other() -> None:
    (record,) = records(draft(1, size=500))
    begin = len(record.body) - 20
    asked = asking(record, begin, 40)  # the end of the body and the beginning of the content
    proof = shown(record, asked, NONCE, ASKER, ANSWERER)
    for place in range(size_of(record)):
        differs = shown(flipped(record, place), asked, NONCE, ASKER, ANSWERER) != proof
        assert differs is (begin <= place < begin + 40)


def test_what_one_shows_is_no_proof_for_another_nor_for_another_question() -> None:
    (record,) = records(draft(1))
    asked = challenge(record, random.Random(1))
    proof = shown(record, asked, NONCE, ASKER, ANSWERER)
    assert proof not in (
        shown(record, asked, b"m" * 16, ASKER, ANSWERER),
        shown(record, asked, NONCE, ASKER, OTHER),
        shown(record, asked, NONCE, OTHER, ANSWERER),
    )


def test_a_small_record_is_asked_for_whole_and_a_large_one_anywhere() -> None:
    small, large = records(draft(1), random_draft(2, LARGE))
    rng = random.Random(2)
    whole = challenge(small, rng)
    assert (whole.offset, whole.length) == (0, size_of(small))
    places = [challenge(large, rng) for _ in range(200)]
    assert all(each.length == MAX_STRETCH and each.offset + MAX_STRETCH <= size_of(large) for each in places)
    assert min(each.offset for each in places) < LARGE / 10
    assert max(each.offset for each in places) > size_of(large) - MAX_STRETCH - LARGE / 10
    empty = replace(small, body=b"", content=None)
    assert challenge(empty, rng).length == 1 and shown(empty, challenge(empty, rng), NONCE, ASKER, ANSWERER)


def test_another_version_is_named_what_is_missing_is_not_and_too_much_is_put_off() -> None:
    old, new = records(draft(1))[0], records(draft(1, at=5))[0]
    (absent,) = records(draft(2))
    (huge,) = records(random_draft(3, LOOKED_AT_BYTES))
    held = {(r.kind, r.id): r for r in (new, huge)}

    def find(kind: Kind, id: DocumentId) -> Record | None:
        return held.get((kind, id))

    asked = tuple(challenge(record, random.Random(1)) for record in (old, absent, new, huge, new))
    reply = answer(find, asked, NONCE, ASKER, ANSWERER)
    first, second, third, fourth, _ = reply.shown
    assert not first.digest and first.held is not None and first.held.version == new.version.short
    assert not second.digest and second.held is None
    assert third.digest == shown(new, asked[2], NONCE, ASKER, ANSWERER) and fourth.digest
    assert reply.later == (4,)


def test_each_of_many_is_as_likely_to_be_in_a_sample() -> None:
    rng, counts = random.Random(3), Counter[int]()
    for _ in range(2000):
        counts.update(sample(iter(range(20)), 5, rng))
    assert sum(counts.values()) == 10_000 and all(400 < counts[n] < 600 for n in range(20)), counts
    assert sample(range(3), 5, rng) == [0, 1, 2]
