from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dht.errors import BadMessage
from dht.keys import Slot
from dht.slot_set import (
    check_slots,
    decode_positions,
    decode_slots,
    encode_positions,
    encode_slots,
    resize_inside,
    resize_overlapping,
)


@settings(max_examples=200, deadline=None)
@given(st.integers(4, 16).flatmap(lambda bits: st.tuples(st.just(bits), st.sets(st.integers(0, (1 << bits) - 1)))))
def test_what_goes_in_comes_out(case: tuple[int, set[int]]) -> None:
    bits, slots = case
    assert decode_slots(encode_slots(Slot(s) for s in slots), bits) == slots


@settings(max_examples=200, deadline=None)
@given(st.data(), st.integers(1, 9))
def test_any_set_is_told_by_positions_within_any_other(data: st.DataObject, bits: int) -> None:
    within, slots = (data.draw(st.frozensets(st.integers(0, (1 << bits) - 1).map(Slot))) for _ in range(2))
    assert decode_positions(encode_positions(slots, within), within, bits) == slots


def test_positions_of_a_set_inside_another_take_a_bit_for_each_of_the_other() -> None:
    within = frozenset(Slot(s) for s in range(0, 1 << 16, 512))
    assert len(encode_positions(sorted(within)[::3], within)) <= 1 + len(within) // 8


@pytest.mark.parametrize(
    ("slots", "limit"),
    [(range(256), 4), (range(0, 256, 2), 34), ([7, 99, 200], 4), (range(3, 250), 4), (range(0, 256, 17), 17), ([], 0)],
)
def test_usual_sets_are_small(slots: range, limit: int) -> None:
    assert len(encode_slots(Slot(s) for s in slots)) <= limit


def test_slots_out_of_range_are_refused() -> None:
    for slots in ([256], range(250, 260), range(0, 300, 2)):
        with pytest.raises(BadMessage):
            decode_slots(encode_slots(Slot(s) for s in slots), 8)


@settings(max_examples=500, deadline=None)
@given(st.one_of(st.binary(max_size=80), st.sets(st.integers(0, 300)).map(encode_slots)), st.integers(0, 16))
def test_checking_refuses_what_decoding_refuses(data: bytes, bits: int) -> None:
    def is_refused(read: Callable[[bytes, int], object]) -> bool:
        try:
            read(data, bits)
        except BadMessage:
            return True
        return False

    assert is_refused(check_slots) == is_refused(decode_slots)


FINEST = 7


@given(st.data(), st.integers(0, FINEST), st.integers(0, FINEST))
def test_what_holds_for_all_keys_and_for_any_key(data: st.DataObject, bits: int, new_bits: int) -> None:
    slots = data.draw(st.frozensets(st.integers(0, (1 << bits) - 1).map(Slot)))
    keys = {key for key in range(1 << FINEST) if key >> (FINEST - bits) in slots}
    by_slot = {s: {k for k in range(1 << FINEST) if k >> (FINEST - new_bits) == s} for s in range(1 << new_bits)}
    assert resize_inside(slots, bits, new_bits) == {s for s, inside in by_slot.items() if inside <= keys}
    assert resize_overlapping(slots, bits, new_bits) == {s for s, inside in by_slot.items() if inside & keys}
