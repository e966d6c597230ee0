"""Levels are doubted where an owner stands alone, and owners are believed again, later each time."""

from random import Random

import numpy as np

from dht import NodeId, Slot
from index.directory.level_doubts import (
    AGAIN_S,
    ALONE,
    DISBELIEVED_S,
    LATEST,
    LOOK_S,
    LOT_S,
    MOST_DISBELIEVED_S,
    LevelDoubts,
    ToldLevels,
)
from index.directory.witness_check import LevelClaim, WitnessVerdict

NOW = 1_000_000.0
PEER = NodeId(b"p" * 20)


def claim(term: int = 1, owner: NodeId = PEER, is_drawn: bool = False) -> LevelClaim:
    return LevelClaim(owner, Slot(1), term, 9, 1, 60.0, NOW, is_drawn)


def picked(doubts: LevelDoubts, told: ToldLevels, now: float, *suspected: int) -> list[tuple[int, int, bool]]:
    """What is picked; `suspected`: seats in all slots."""
    mask = np.isin(np.arange(told.told.shape[1]), suspected)
    return [tuple(each) for each in doubts.pick(told, np.tile(mask, (len(told.slots), 1)), now)]


def levels(*rows: tuple[int, ...]) -> ToldLevels:
    counted = np.array(rows, np.int64)
    return ToldLevels(np.arange(len(rows)), counted, counted)


def test_who_stands_alone_is_doubted_first_and_now_and_then_one_of_the_others() -> None:
    doubts = LevelDoubts(Random(1).random)
    assert doubts.wants(NOW) and not doubts.wants(NOW + LOOK_S / 2) and doubts.wants(NOW + LOOK_S)
    alone = levels((90, 90, 90), (90, 90 + ALONE, 0), (90, 89 + ALONE, 90), (ALONE, 0, 0))
    assert {each for _ in range(9) for each in picked(doubts, alone, NOW)} == {(1, 1, False), (3, 0, False)}
    levels_of_one = {(0, 1, True), (1, 1, True), (2, 1, True), (3, 0, False)}
    assert {each for _ in range(9) for each in picked(doubts, alone, NOW, 1)} == levels_of_one, "of a suspect any"
    agreed = levels((90, 90, 0))
    drawn = [picked(doubts, agreed, NOW + LOT_S * number / 4) for number in range(80)]
    assert sorted(map(len, drawn)) == [0] * 60 + [1] * 20
    assert {each for some in drawn for each in some} == {(0, 0, True), (0, 1, True)}, "who said nothing is not asked"
    soon = NOW + LOT_S * 19.5
    assert picked(doubts, levels((9,)), soon) == [] != picked(doubts, levels((ALONE,)), soon), "a slot of one owner"


def test_a_claim_waits_once_and_is_not_checked_again_soon() -> None:
    doubts = LevelDoubts(Random(1).random)
    doubts.offer(claim(1), NOW)
    doubts.offer(claim(2), NOW)
    assert doubts.next() == claim(1) and doubts.next() is None, "one of an owner"
    doubts.note(claim(1), WitnessVerdict.SHOWN, b"page", NOW)
    doubts.offer(claim(1), NOW + AGAIN_S - 1)
    assert doubts.next() is None
    doubts.offer(claim(1), NOW + AGAIN_S)
    assert doubts.next() == claim(1)
    for number in range(99):
        doubts.offer(claim(3, NodeId(bytes([number]) * 20)), NOW)
    assert not doubts.wants(NOW + LOOK_S), "the line is full"


def test_two_pages_belie_an_owner_and_one_page_does_not() -> None:
    doubts, now = LevelDoubts(Random(1).random), NOW
    assert not any(doubts.note(claim(term), WitnessVerdict.FALSE, b"one page", now) for term in (1, 2, 3))
    for for_s in (DISBELIEVED_S, 2 * DISBELIEVED_S):
        doubts.note(claim(4), WitnessVerdict.FALSE, b"one page", now)
        assert doubts.note(claim(4), WitnessVerdict.FALSE, b"another page", now)
        assert doubts.disbelieved(now + for_s - 1) == {PEER} and not doubts.disbelieved(now + for_s)
        now += for_s
    doubts.note(claim(), WitnessVerdict.FALSE, b"one page", now)
    assert not doubts.note(claim(), WitnessVerdict.FALSE, b"another page", now + MOST_DISBELIEVED_S), "a day apart"


def test_who_shows_half_is_believed_and_who_shows_less_is_not() -> None:
    shown, unshown = [WitnessVerdict.SHOWN] * (LATEST // 2), [WitnessVerdict.UNSHOWN] * (LATEST // 2)
    for verdicts, is_found_out in (([*unshown, *shown], False), ([*shown[1:], *unshown, unshown[0]], True)):
        doubts = LevelDoubts(Random(1).random)
        found = [doubts.note(claim(1, is_drawn=True), verdict, b"", NOW) for verdict in verdicts]
        assert found == [False] * (LATEST - 1) + [is_found_out]


def test_who_cannot_show_what_is_odd_is_asked_for_what_is_drawn_and_no_worse_off() -> None:
    doubts = LevelDoubts(Random(1).random)
    assert not any(doubts.note(claim(term), WitnessVerdict.UNSHOWN, b"", NOW) for term in range(9 * LATEST))
    assert list(doubts.suspects) == [PEER]
    assert not doubts.note(claim(1, is_drawn=True), WitnessVerdict.SHOWN, b"", NOW) and not doubts.suspects


def test_what_owners_told_too_little_of_is_forgotten() -> None:
    doubts = LevelDoubts(Random(1).random)
    for number in range(999):
        doubts.note_low(PEER, Slot(number), NOW)
    assert len(doubts.low(NOW)) == 256 and not doubts.low(NOW + DISBELIEVED_S)
