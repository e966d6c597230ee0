"""When owners are challenged, what becomes of who shows nothing, and whose word about whom is heard."""

import random
from collections import Counter
from itertools import pairwise

from msgspec.structs import replace

from dht import CHALLENGE_EVERY_S, DocumentId, NodeId, Slot
from store import Kind, Record
from store.record.messages import MAX_STRETCH, Challenge
from store.repair.possession_audit import (
    AGAIN_S,
    DOUBTED_AGAIN_S,
    HEARD,
    HEARD_S,
    LOOKED_AT_BYTES,
    SUSPECTED,
    TOLD,
    Outcome,
    PossessionAudit,
    RecordName,
    answer,
    challenge,
    sample,
    shown,
    size_of,
)
from tests.store.support import draft, random_draft, records

A, B, C = (NodeId(bytes([n]) * 20) for n in range(3))
WALL = 1.7e9
SLOT, OTHER = Slot(1), Slot(2)


def name(number: int, slot: Slot = SLOT) -> RecordName:
    return RecordName(Kind.DOCUMENT, DocumentId(number.to_bytes(20, "big")), slot)


def audit() -> PossessionAudit:
    return PossessionAudit(0.0, lambda: 0.5)


def outcome(*missing: RecordName, shown: int = 0) -> Outcome:
    return dict.fromkeys(missing, False) | {name(1000 + n): True for n in range(shown)}


def test_a_challenge_is_due_once_a_minute_whatever_happens() -> None:
    found, due = audit(), list[float]()
    for second in range(400):
        due += [float(second)] if found.is_due(second) else []
    assert due[0] == CHALLENGE_EVERY_S / 2 and {b - a for a, b in pairwise(due)} == {CHALLENGE_EVERY_S}


def test_what_is_not_shown_is_compared_asked_again_and_only_then_held_against_a_peer() -> None:
    found = audit()
    verdict = found.judge(10.0, WALL, A, outcome(name(1), shown=15), is_again=False)
    assert verdict.compare == {SLOT} and not verdict.accuse
    assert not found.doubted(10.0) and not found.figures()[A].failed and not found.again(10.0 + AGAIN_S - 1)
    assert found.again(10.0 + AGAIN_S) == [(A, (name(1),))]
    verdict = found.judge(100.0, WALL, A, outcome(name(1)), is_again=True)
    assert verdict.accuse == (name(1),) and found.doubted(100.0) == {SLOT: {A}}
    figures = found.figures()[A]
    assert (figures.challenged, figures.answered, figures.failed, figures.last_failed_at) == (17, 15, 1, WALL)


def test_who_shows_it_later_counts_again() -> None:
    found = audit()
    found.judge(10.0, WALL, A, outcome(name(1), name(2, OTHER)), is_again=False)
    found.judge(100.0, WALL, A, outcome(name(1), name(2, OTHER)), is_again=True)
    assert found.doubted(100.0) == {SLOT: {A}, OTHER: {A}} and not found.again(100.0 + DOUBTED_AGAIN_S - 1)
    found.judge(700.0, WALL, A, {name(1): True, name(2, OTHER): False}, is_again=True)
    assert found.doubted(700.0) == {OTHER: {A}}
    found.judge(1400.0, WALL, A, {name(2, OTHER): True}, is_again=True)
    assert not found.doubted(1400.0) and not found.again(1e9)


def test_silence_is_counted_and_proves_nothing() -> None:
    found = audit()
    found.judge(10.0, WALL, A, outcome(name(1)), is_again=False)
    found.unheard(100.0, A)
    assert not found.doubted(100.0) and not found.again(100.0) and found.again(100.0 + AGAIN_S)
    assert found.figures()[A].silent == 1


def test_another_owners_word_counts_for_an_hour() -> None:
    found = audit()
    found.heard(0.0, B, A, frozenset({SLOT}))
    found.heard(0.0, C, A, frozenset({SLOT, OTHER}))
    assert found.doubted(HEARD_S - 1) == {SLOT: {A}, OTHER: {A}}
    assert not found.doubted(HEARD_S)


def test_what_is_remembered_of_strangers_is_bounded() -> None:
    found = audit()
    for number in range(HEARD + 500):
        found.heard(0.0, NodeId(number.to_bytes(20, "big")), A, frozenset({Slot(number)}))
        found.accused(NodeId(number.to_bytes(20, "big")), WALL, 1, 1)
    assert len(found.doubted(1.0)) == HEARD and len(found.accusations()) == TOLD
    for number in range(0, 400, 16):
        found.judge(0.0, WALL, A, outcome(*map(name, range(number, number + 16))), is_again=False)
    ((_, names),) = found.again(1e6)
    assert len(names) == SUSPECTED
    found.only([B])
    assert not found.again(1e6)


ASKER, ANSWERER, THIRD = (NodeId(bytes([n]) * 20) for n in range(3))
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
        shown(record, asked, NONCE, ASKER, THIRD),
        shown(record, asked, NONCE, THIRD, ANSWERER),
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
