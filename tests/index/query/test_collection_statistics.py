"""Totals of slots: what was added and taken away again leaves no trace, in any order."""

from hypothesis import given, settings
from hypothesis import strategies as st

from dht import Slot
from index.query.collection_statistics import IndexTotals, SlotTotals, Statistics, total

DOCUMENTS = st.lists(st.tuples(st.binary(min_size=4, max_size=4), st.tuples(*[st.integers(0, 99)] * 4)), max_size=12)


@settings(max_examples=100, deadline=None)
@given(DOCUMENTS, DOCUMENTS, st.randoms(use_true_random=False))
def test_order_and_detours_do_not_matter(kept: list, dropped: list, rng) -> None:  # type: ignore[no-untyped-def,type-arg]
    straight = SlotTotals()
    for identity, lengths in kept:
        straight = straight.plus(identity, lengths)
    around = SlotTotals()
    steps = [(each, 1) for each in [*kept, *dropped]]
    rng.shuffle(steps)
    for (identity, lengths), sign in steps + [(each, -1) for each in dropped]:
        around = around.plus(identity, lengths, sign)
    assert around == straight
    assert len(straight.fingerprint_bytes) == 32
    assert SlotTotals().plus(b"a1", (1, 0, 0, 0)).fingerprint != SlotTotals().plus(b"a2", (1, 0, 0, 0)).fingerprint


def test_sums_of_nothing_and_of_two() -> None:
    assert total([], 2) == Statistics(0, (0, 0, 0, 0), (0, 0))
    parts = [Statistics(1, (1, 2, 3, 4), (1, 0)), Statistics(2, (5, 6, 7, 8), (2, 1))]
    assert total(parts, 2) == Statistics(3, (6, 8, 10, 12), (3, 1))


def test_columns_say_what_each_slot_holds_also_after_a_change() -> None:
    one, other = SlotTotals().plus(b"a1", (1, 2, 3, 4)), SlotTotals().plus(b"b2", (5, 6, 7, 8))
    before = IndexTotals({0: one, 1 << 15: one})
    after = before.changed({1 << 15: other})
    slots = [Slot(1), Slot(0), Slot(2)]
    for _ in range(2):
        for totals, last in ((before, one), (after, other)):
            counts, lengths, fingerprints = totals.columns(slots[:2], 1)
            assert (counts, lengths) == ((1, 1), (last.lengths, one.lengths))
            assert fingerprints == (last.fingerprint_bytes, one.fingerprint_bytes)
    assert after.columns(slots, 2)[0] == (0, 1, 1)
