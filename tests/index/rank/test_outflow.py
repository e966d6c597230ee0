"""One message is on its way at a time, and what the other lacks is known."""

from math import inf

import numpy as np
import pytest

from index.rank.inflow import InflowAck, unpacked
from index.rank.outflow import Outflow

NAMES = np.array([1, 2, 3], np.uint64)


def ack(sequence: int, epoch: int = 5, holder: int = 1) -> InflowAck:
    return InflowAck(0, 1, holder, epoch, sequence)


def told(outflow: Outflow, values: list[float], least: float = 0.0) -> dict[int, float] | None:
    found = outflow.message(np.array(values), least)
    return None if found is None else dict(zip(*(each.tolist() for each in unpacked(found)), strict=True))


def test_all_is_told_once_and_then_what_moved() -> None:
    outflow = Outflow(0, 1, 5, NAMES)
    assert told(outflow, [1, 2, 4], least=9.0) == {1: 1, 2: 2, 3: 4}
    outflow.acknowledge(ack(1))
    assert told(outflow, [1, 2, 4]) is None
    assert told(outflow, [1.25, 2, 5], least=0.5) == {3: 5}


def test_a_message_is_repeated_unchanged_until_it_is_acknowledged() -> None:
    outflow = Outflow(0, 1, 5, NAMES)
    first = outflow.message(np.array([1.0, 2, 4]), 0)
    assert outflow.message(np.array([8.0, 8, 8]), 0) is first
    outflow.acknowledge(ack(0))
    outflow.acknowledge(ack(7, epoch=4))
    assert outflow.message(np.array([8.0, 8, 8]), 0) is first
    outflow.acknowledge(ack(1))
    assert told(outflow, [8, 8, 4]) == {1: 8, 2: 8}


def test_what_the_other_lacks_is_known_whichever_message_it_has() -> None:
    outflow, values = Outflow(0, 1, 5, NAMES), np.array([1.0, 2, 4])
    assert outflow.owed(values) == inf
    outflow.message(values, 0)
    outflow.acknowledge(ack(1))
    assert outflow.owed(values) == 0
    outflow.message(values + 1, 0)
    assert outflow.owed(values) == pytest.approx(3)
    assert outflow.owed(values + 1) == pytest.approx(3)
    outflow.acknowledge(ack(2))
    assert outflow.owed(values + 1) == 0


def test_a_new_holder_that_has_less_is_told_everything() -> None:
    outflow = Outflow(0, 1, 5, NAMES)
    told(outflow, [1, 2, 4])
    outflow.acknowledge(ack(1))
    outflow.acknowledge(ack(1, holder=2))
    assert told(outflow, [1, 2, 4]) is None, "this one had it"
    outflow.acknowledge(ack(0, holder=3))
    assert told(outflow, [1, 2, 4]) == {1: 1, 2: 2, 3: 4}
    outflow.acknowledge(ack(2, holder=2))
    assert outflow.owed(np.array([1.0, 2, 4])) == inf, "what a former holder had is not what this one has"


def test_a_later_holder_of_the_source_ends_this_one() -> None:
    outflow = Outflow(0, 1, 5, NAMES)
    outflow.acknowledge(ack(1, epoch=6))
    assert outflow.is_superseded


def test_long_news_goes_in_parts_what_moved_most_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("index.rank.outflow.MOST_TOLD", 2)
    outflow = Outflow(0, 1, 5, NAMES)
    assert told(outflow, [1, 3, 2]) == {2: 3, 3: 2}
    outflow.acknowledge(ack(1))
    assert outflow.owed(np.array([1.0, 3, 2])) == pytest.approx(1.0)
    assert told(outflow, [1, 3, 2]) == {1: 1}


def test_who_is_given_nothing_any_more_is_told_once() -> None:
    outflow = Outflow(0, 1, 5, NAMES[:0])
    assert told(outflow, []) == {}
    outflow.acknowledge(ack(1))
    assert told(outflow, []) is None
