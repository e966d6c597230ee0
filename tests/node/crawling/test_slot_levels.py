"""Copies are level while a fresh comparison says so, and unlike when they have differed for long."""

from typing import Any

import msgspec
import pytest

from dht import NodeId, Now, Slot
from node.crawling.slot_levels import LEVEL_S, UNLIKE_S, SlotDigest, SlotDigests, SlotLevels

ME, PEER, OTHER = (NodeId(bytes([n]) * 20) for n in (1, 2, 3))
SLOT, WALL = Slot(5), 1_000_000.0
OWNERS = (PEER, ME, OTHER)
BY_SLOT = [OWNERS] * (SLOT + 1)
MINE, WHOLE = b"m" * 16, b"w" * 16


def at(second: float) -> Now:
    return Now(WALL + second, second)


def told(older: bytes = MINE, *, until: float = -15.0, whole: bytes = WHOLE, owed: int = 0) -> SlotDigests:
    return SlotDigests(4, WALL + until, owed, (SlotDigest(SLOT, older, whole),))


def hear(levels: SlotLevels, second: float, message: SlotDigests, peer: NodeId = PEER) -> None:
    levels.hear(at(second), peer, message, lambda slot, until: MINE if slot == SLOT else None)


def mask(levels: SlotLevels, second: float) -> int:
    (found,) = levels.masks(at(second), [SLOT], BY_SLOT, ME)
    return found


def test_an_equal_copy_is_level_for_a_while_and_its_own_bit_says_that_the_index_keeps_up() -> None:
    levels = SlotLevels()
    assert mask(levels, 0.0) == 0
    hear(levels, 0.0, told())
    levels.kept_up(WALL)
    assert mask(levels, LEVEL_S) == 0b011
    levels.kept_up(WALL + 5.0)
    assert mask(levels, LEVEL_S + 1.0) == 0b010, "the comparison is too old"
    assert mask(levels, LEVEL_S + 6.0) == 0, "the index is behind, too"


def test_a_mask_that_is_remembered_lapses_with_what_it_goes_by_and_is_that_of_the_owners_asked_about() -> None:
    levels = SlotLevels()
    hear(levels, 0.0, told())
    assert mask(levels, 1.0) == mask(levels, 2.0) == 0b001, "nothing of the index is known yet"
    levels.kept_up(WALL)
    assert mask(levels, 3.0) == 0b011
    assert levels.masks(at(4.0), [SLOT], [(ME, OTHER, PEER)] * (SLOT + 1), ME) == (0b101,)
    hear(levels, 5.0, told(until=-5.0), OTHER)
    assert mask(levels, 6.0) == 0b111
    hear(levels, 7.0, told(b"x" * 16), OTHER)
    levels.keep({SLOT}, {OTHER})
    assert mask(levels, 8.0) == 0b110, "level a moment ago; the other one is gone"
    assert mask(levels, 5.0 + LEVEL_S) == 0b100 and mask(levels, 5.5 + LEVEL_S) == 0


def test_a_comparison_about_long_ago_counts_for_less_and_one_about_the_future_for_no_more() -> None:
    levels = SlotLevels()
    hear(levels, 0.0, told(until=-44.0))
    assert mask(levels, 0.5) == 0b001
    assert mask(levels, 2.0) == 0
    hear(levels, 10.0, told(until=1e6))
    assert mask(levels, 10.0 + LEVEL_S) == 0b001
    assert mask(levels, 11.0 + LEVEL_S) == 0


def test_a_copy_is_unlike_when_it_has_differed_for_long_and_no_more_once_it_was_equal() -> None:
    levels = SlotLevels()
    for second in range(0, 40, 2):
        hear(levels, float(second), told(b"x" * 16))
    assert not levels.unlike(at(UNLIKE_S), [SLOT], lambda slot, peer: True)
    levels.keep({SLOT}, {PEER})
    assert levels.unlike(at(UNLIKE_S + 1.0), [SLOT, Slot(9)], lambda slot, peer: True) == (SLOT,)
    assert not levels.unlike(at(UNLIKE_S + 1.0), [SLOT], lambda slot, peer: peer == OTHER), "nobody whose copy counts"
    hear(levels, 40.0, told())
    assert not levels.unlike(at(41.0), [SLOT], lambda slot, peer: True)


def test_who_stopped_telling_of_a_slot_is_no_unlike_holder_of_it() -> None:
    levels = SlotLevels()
    hear(levels, 0.0, told(b"x" * 16))
    assert not levels.unlike(at(100.0), [SLOT], lambda slot, peer: True)


def test_what_nobody_holds_here_and_who_is_gone_is_forgotten() -> None:
    levels = SlotLevels()
    hear(levels, 0.0, told())
    levels.keep({SLOT}, {OTHER})
    assert mask(levels, 0.0) == 0
    hear(levels, 0.0, SlotDigests(4, WALL, 0, (SlotDigest(9, MINE, WHOLE),)))
    assert not levels.unlike(at(90.0), [Slot(9)], lambda slot, peer: True)


def test_all_is_settled_when_all_live_owners_say_the_same_and_owe_nothing() -> None:
    levels, teams = SlotLevels(), {SLOT: OWNERS}
    hear(levels, 0.0, told())
    assert not levels.are_alike({SLOT: WHOLE}, teams, ME)
    hear(levels, 0.0, told(), OTHER)
    assert levels.are_alike({SLOT: WHOLE}, teams, ME)
    assert not levels.are_alike({SLOT: b"else"}, teams, ME)
    hear(levels, 0.0, told(owed=1), OTHER)
    assert not levels.are_alike({SLOT: WHOLE}, teams, ME)
    hear(levels, 0.0, told(whole=b""), OTHER)
    assert not levels.are_alike({SLOT: b""}, teams, ME), "who changes just now is not settled"


@pytest.mark.parametrize(
    "raw",
    [
        [4, 0.0, 0, [[1, b"x" * 15, b"", 0, [0, 0, 0, 0]]]],
        [4, 0.0, 0, [[1, b"x" * 16, b"x" * 17, 0, [0, 0, 0, 0]]]],
        [4, 0.0, 0, [[70_000, b"x" * 16, b"", 0, [0, 0, 0, 0]]]],
        [4, 0.0, 0, [[1, b"x" * 16, b"", 0, [0, 0, 0, 0]]] * 1025],
        [4, -1.0, 0, []],
        [40, 0.0, 0, []],
    ],
)
def test_digests_beyond_their_bounds_are_not_read(raw: list[Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.msgpack.decode(msgspec.msgpack.encode(raw), type=SlotDigests)
