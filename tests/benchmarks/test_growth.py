"""A figure grows if the slope of its line, after the first hour, is above its limit."""

from random import Random

import pytest

from benchmarks.soak.growth import HOUR_S, growth, judged, slope


def line(per_hour: float, noise: float = 0.0, hours: float = 3.0, start: float = 100.0) -> list[tuple[float, float]]:
    rng = Random(1)
    return [(t, start + per_hour * t / HOUR_S + rng.gauss(0, noise)) for t in range(0, int(hours * HOUR_S), 30)]


def test_the_slope_is_that_of_the_line() -> None:
    per_s, error = slope([line(12.0)])
    assert per_s * HOUR_S == pytest.approx(12.0) and error == pytest.approx(0.0, abs=1e-9)
    per_s, error = slope([line(12.0, noise=5.0)])
    assert abs(per_s * HOUR_S - 12.0) < 3 * error * HOUR_S < 3.0
    assert slope([]) == slope([[(1.0, 2.0)]]) == slope([[(1.0, 2.0)] * 5]) == (0.0, 0.0)


def test_a_cache_that_fills_in_the_first_hour_is_no_growth() -> None:
    filled = [(t, 100 + min(40.0, 40 * t / HOUR_S)) for t in range(0, int(3 * HOUR_S), 30)]
    found = growth("a", "memory MB", filled)
    assert found.per_hour == pytest.approx(0.0) and not found.is_too_much and found.first == found.last == 140


@pytest.mark.parametrize(("per_hour", "is_too_much"), [(0.0, False), (0.9, False), (2.0, True), (600.0, True)])
def test_a_megabyte_an_hour_is_the_limit(per_hour: float, is_too_much: bool) -> None:
    assert growth("a", "memory MB", line(per_hour, noise=0.5)).is_too_much is is_too_much


def test_noise_alone_is_no_growth() -> None:
    assert not growth("a", "memory MB", line(0.0, noise=20.0, hours=1.0)).is_too_much


def test_each_block_is_judged_after_its_first_hour() -> None:
    """Caches fill anew in each block, to a level that differs: that is no growth."""
    blocks = [[(t, level + min(40.0, 40 * t / HOUR_S)) for t in range(0, 7200, 30)] for level in (100, 130)]
    points = [(7200.0 * number + t, value) for number, block in enumerate(blocks) for t, value in block]
    (found,) = judged({"memory MB": {"a": points}}, [0.0, 7200.0])
    assert found.per_hour == pytest.approx(0.0) and (found.first, found.last) == (140, 170)
    (grown,) = judged({"memory MB": {"a": [(t, value + 3 * t / HOUR_S) for t, value in points]}}, [0.0, 7200.0])
    assert grown.per_hour == pytest.approx(3.0) and grown.is_too_much


def test_figures_without_a_limit_are_only_drawn() -> None:
    assert not growth("a", "documents", line(1e6)).is_too_much
