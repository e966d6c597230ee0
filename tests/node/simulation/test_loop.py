"""Garbage is found later within, and as before after it."""

import gc

import pytest

from node.simulation.loop import rarely_collected


def test_thresholds_are_those_of_before_also_after_an_error() -> None:
    before = gc.get_threshold()
    with pytest.raises(ZeroDivisionError), rarely_collected():
        assert gc.get_threshold()[0] > before[0]
        raise ZeroDivisionError
    assert gc.get_threshold() == before
