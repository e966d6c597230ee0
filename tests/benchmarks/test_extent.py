"""How much is measured."""

import pytest

from benchmarks.overlay.extent import Extent, parse_seeds


def test_what_is_asked_for_replaces_a_part_s_own():
    sizes = (range(1, 2), 100), (range(1, 6), 1_000)
    assert Extent().of(*sizes) == (range(1, 6), 1_000)
    assert Extent(quick=True).of(*sizes) == (range(1, 2), 100)
    assert Extent(quick=True, seeds=parse_seeds("3-4"), nodes=50).of(*sizes) == (range(3, 5), 50)


def test_seeds_are_one_or_a_range():
    assert [*parse_seeds("3")] == [3] and [*parse_seeds("2-5")] == [2, 3, 4, 5]
    for bad in ("5-2", "", "a-b"):
        with pytest.raises(ValueError):
            parse_seeds(bad)
