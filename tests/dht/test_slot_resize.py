"""Sets of slots in other numbers, against looking at every key."""

from hypothesis import given
from hypothesis import strategies as st

from dht.keys import Slot
from dht.slot_resize import resize_inside, resize_overlapping

FINEST = 7


@given(st.data(), st.integers(0, FINEST), st.integers(0, FINEST))
def test_what_holds_for_all_keys_and_for_any_key(data: st.DataObject, bits: int, new_bits: int) -> None:
    slots = data.draw(st.frozensets(st.integers(0, (1 << bits) - 1).map(Slot)))
    keys = {key for key in range(1 << FINEST) if key >> (FINEST - bits) in slots}
    by_slot = {s: {k for k in range(1 << FINEST) if k >> (FINEST - new_bits) == s} for s in range(1 << new_bits)}
    assert resize_inside(slots, bits, new_bits) == {s for s, inside in by_slot.items() if inside <= keys}
    assert resize_overlapping(slots, bits, new_bits) == {s for s, inside in by_slot.items() if inside & keys}
