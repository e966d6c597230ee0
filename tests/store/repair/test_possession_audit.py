"""When owners are challenged, what becomes of who shows nothing, and whose word about whom is heard."""

import random
from itertools import pairwise

from dht import CHALLENGE_EVERY_S, CHALLENGED_RECORDS, DocumentId, NodeId, Slot
from store import Kind
from store.repair.possession_audit import (
    AGAIN_S,
    DOUBTED_AGAIN_S,
    HEARD,
    HEARD_S,
    SUSPECTED,
    TOLD,
    Outcome,
    PossessionAudit,
    RecordName,
)

A, B, C = (NodeId(bytes([n]) * 20) for n in range(3))
WALL = 1.7e9
SLOT, OTHER = Slot(1), Slot(2)


def name(number: int, slot: Slot = SLOT) -> RecordName:
    return RecordName(Kind.DOCUMENT, DocumentId(number.to_bytes(20, "big")), slot)


def audit() -> PossessionAudit:
    return PossessionAudit(0.0, lambda: 0.5)


def outcome(*missing: RecordName, shown: int = 0) -> Outcome:
    return Outcome(dict.fromkeys(missing, False) | {name(1000 + n): True for n in range(shown)})


def test_a_challenge_is_due_once_a_minute_whatever_happens() -> None:
    found, due = audit(), list[float]()
    for second in range(400):
        due += [float(second)] if found.is_due(second) else []
    assert due[0] == CHALLENGE_EVERY_S / 2 and {b - a for a, b in pairwise(due)} == {CHALLENGE_EVERY_S}


def test_who_lacks_one_record_in_a_hundred_is_noticed_within_the_time_that_the_protocol_says() -> None:
    rng, minutes = random.Random(5), list[int]()
    for _ in range(4000):
        minute = 1
        while all(rng.random() >= 0.01 for _ in range(CHALLENGED_RECORDS)):
            minute += 1
        minutes.append(minute)
    minutes.sort()
    assert 6 < sum(minutes) / len(minutes) < 7.5 and minutes[int(0.99 * len(minutes))] <= 31


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
    found.judge(700.0, WALL, A, Outcome({name(1): True, name(2, OTHER): False}), is_again=True)
    assert found.doubted(700.0) == {OTHER: {A}}
    found.judge(1400.0, WALL, A, Outcome({name(2, OTHER): True}), is_again=True)
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
