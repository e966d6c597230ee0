"""Levels are steps of √2, and do not flicker."""

from math import inf

import numpy as np
import pytest

from index.rank.rank_level import level_of, levels_of


@pytest.mark.parametrize(("share", "level"), [(0.2, 0), (1.0, 0), (2.0, 2), (2.9, 3), (1024.0, 20), (2.0**40, 63)])
def test_a_level_is_a_step_of_a_root_of_two(share: float, level: int) -> None:
    assert level_of(share / 1_000_000, 1_000_000) == level


def test_a_level_stays_until_the_rank_has_moved_by_more_than_half_a_step() -> None:
    up, down = 2 ** (4.55 / 2) / 100, 2 ** (4.45 / 2) / 100
    assert (level_of(up, 100), level_of(down, 100)) == (5, 4)
    assert [level_of(rank, 100, 4) for rank in (up, down)] == [4, 4]
    assert [level_of(rank, 100, 5) for rank in (up, down)] == [5, 5]
    assert level_of(2 ** (4.65 / 2) / 100, 100, 4) == 5


def test_no_rank_is_the_least_level() -> None:
    assert level_of(0.0, 10) == level_of(0.0, 0) == 0
    assert level_of(0.0, 10, 30) == 0
    assert level_of(inf, 10) == 63


def test_many_levels_are_those_of_each() -> None:
    values, before = (
        np.array([0.0, 0.15, 1.0, 5.1, 4.4, 4.4, 2e9, inf]),
        np.array([-1, 3, 0, 5, 5, -1, 63, -1], np.int8),
    )
    each = [level_of(value / 10, 10, None if had < 0 else int(had)) for value, had in zip(values, before, strict=True)]
    assert levels_of(values, 1.0, before).tolist() == each
    assert levels_of(values * 3, 3.0).tolist() == [level_of(value / 10, 10) for value in values]
