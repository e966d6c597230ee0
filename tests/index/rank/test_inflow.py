"""Messages of strangers are read within bounds, and each once."""

import msgspec
import numpy as np
import pytest

from dht import BadMessage
from index.rank.inflow import UNKNOWN_MOST, InflowMessage, Inflows, packed_names, unpacked

PAGES = np.array([30, 10, 20], np.uint64)


def message(sequence: int, given: dict[int, float], since: int = 0, epoch: int = 1, source: int = 4) -> InflowMessage:
    names, values = np.array(sorted(given), np.uint64), np.array([given[name] for name in sorted(given)], "<f4")
    return InflowMessage(source, 7, epoch, sequence, since, packed_names(names), values.tobytes())


def test_a_message_is_read_as_it_was_written_in_ten_bytes_a_page() -> None:
    sent = message(1, {2**48 - 1: 2.5, 0: 0.0, 77: 1e-9})
    again = msgspec.msgpack.decode(msgspec.msgpack.encode(sent), type=InflowMessage)
    names, values = unpacked(again)
    assert names.tolist() == [0, 77, 2**48 - 1]
    assert values.tolist() == pytest.approx([0.0, 1e-9, 2.5])
    assert len(msgspec.msgpack.encode(message(1, dict.fromkeys(range(1000), 1.0)))) < 10_030


def test_values_are_absolute_and_only_newer_ones_count() -> None:
    inflows = Inflows(PAGES, 100)
    assert inflows.take(message(1, {10: 2.0, 30: 1.0}), 9) == pytest.approx(3.0)
    assert inflows.take(message(1, {10: 5.0}), 9) == 0.0
    assert inflows.take(message(2, {10: 2.5, 20: 0.5}, since=1), 9) == pytest.approx(1.0)
    assert inflows.total.tolist() == [1.0, 2.5, 0.5]
    assert inflows.take(message(4, {10: 9.0}, since=3), 99) == 0.0, "it builds on what was never heard"
    inflows.take(message(5, {10: 0.0}, since=2), 9)
    assert (inflows.total.tolist(), inflows.givers.tolist()) == ([1.0, 0.0, 0.5], [1, 0, 1])
    inflows.take(message(1, {20: 3.0}, epoch=2), 9)
    assert inflows.total.tolist() == [0.0, 0.0, 3.0]
    assert (inflows.heard_of(4).epoch, inflows.heard_of(4).sequence) == (2, 1)


def test_pages_of_several_sources_add_up() -> None:
    inflows = Inflows(PAGES, 100)
    inflows.take(message(1, {10: 2.0}), 9)
    inflows.take(message(1, {10: 1.0}, source=5), 9)
    assert (inflows.total.tolist(), inflows.givers.tolist()) == ([0, 3.0, 0], [0, 2, 0])


def test_what_is_beyond_the_limit_does_not_count_until_the_limit_rises() -> None:
    inflows = Inflows(PAGES, 100)
    inflows.take(message(1, {10: 6.0, 20: 2.0}), 4.0)
    assert inflows.total.tolist() == [0, 3.0, 1.0]
    assert inflows.refused == pytest.approx(4.0)
    assert inflows.limit(4, 8.0) == pytest.approx(4.0)
    assert (inflows.total.tolist(), inflows.refused) == ([0, 6.0, 2.0], 0.0)
    assert inflows.limit(99, 1.0) == 0.0


def test_pages_that_are_not_known_are_kept_within_bounds() -> None:
    inflows = Inflows(PAGES, 100_000)
    assert inflows.take(message(1, {11: 2.0}), 9) == 0.0
    assert inflows.heard_of(4).names.tolist() == [11]
    with pytest.raises(BadMessage, match="gives to"):
        inflows.take(message(2, dict.fromkeys(range(UNKNOWN_MOST + 4), 0.001)), 99)
    assert inflows.heard_of(4).sequence == 1


def test_all_sources_together_take_bounded_memory() -> None:
    inflows = Inflows(PAGES, 4)
    inflows.take(message(1, {10: 1.0, 20: 1.0, 30: 1.0}), 9)
    with pytest.raises(BadMessage, match="4 allowed"):
        inflows.take(message(1, {10: 1.0, 20: 1.0}, source=5), 9)
    inflows.take(message(2, {10: 1.0}), 9)
    inflows.take(message(1, {10: 1.0, 20: 1.0}, source=5), 9)


@pytest.mark.parametrize(
    ("names", "values"),
    [
        (b"\0" * 7, b"\0" * 4),
        (b"\0" * 6, b"\0" * 8),
        (b"\0" * 12, b"\0" * 8),
        (packed_names(np.array([2, 1], np.uint64)), b"\0" * 8),
        (b"\0" * 6, np.array([-1.0], "<f4").tobytes()),
        (b"\0" * 6, np.array([np.nan], "<f4").tobytes()),
        (b"\0" * 6, np.array([np.inf], "<f4").tobytes()),
    ],
)
def test_what_is_no_message_is_refused_and_changes_nothing(names: bytes, values: bytes) -> None:
    inflows = Inflows(PAGES, 100)
    with pytest.raises(BadMessage):
        inflows.take(InflowMessage(4, 7, 1, 1, 0, names, values), 9)
    assert not inflows.total.any() and not inflows.heard()


def test_a_slot_without_pages_hears_and_counts_nothing() -> None:
    inflows = Inflows(np.empty(0, np.uint64), 100)
    assert inflows.take(message(1, {10: 1.0}), 9) == 0.0
