"""Degrees: what is drawn from a law is found to be of that law, within its error."""

from random import Random

import numpy as np
import pytest
from scipy import stats

from node.extras.web_report.degrees import MAX_VALUES, distribution_of


@pytest.mark.parametrize("exponent", [2.1, 2.7])
def test_the_exponent_of_a_power_law_is_found_within_its_error(exponent: float) -> None:
    drawn = stats.zipf.rvs(exponent, size=20_000, random_state=np.random.default_rng(7))
    law = distribution_of(np.minimum(drawn, 1 << 40), Random(1)).law
    assert law is not None
    assert abs(law.exponent - exponent) < 3 * law.error < 0.2
    assert law.distance < 0.02 and law.tail > 1000
    assert law.exponential.ratio > 0 and law.exponential.p < 0.01


def test_what_is_no_power_law_is_said_to_be_better_told_by_another() -> None:
    drawn = np.random.default_rng(7).geometric(0.1, 20_000)
    law = distribution_of(drawn, Random(1)).law
    assert law is not None and (law.exponential.ratio < 0 or law.tail < 2000)


@pytest.mark.prove
def test_a_sample_of_many_values_gives_the_same_law() -> None:
    drawn = stats.zipf.rvs(2.1, size=3 * MAX_VALUES, random_state=np.random.default_rng(8))
    law = distribution_of(np.minimum(drawn, 1 << 40), Random(1)).law
    assert law is not None and abs(law.exponent - 2.1) < 3 * law.error


def test_counts_are_told_as_they_are() -> None:
    found = distribution_of(np.array([0, 0, 1, 1, 1, 4, 9]), Random(1))
    assert (found.count, found.zeros, found.median, found.largest, found.law) == (7, 2, 1.0, 9, None)
    shares = dict(found.points)
    assert shares[1] == pytest.approx(5 / 7) and shares[9] == pytest.approx(1 / 7)


@pytest.mark.parametrize("values", [[], [0], [0] * 100, [3] * 1000, [1] * 10, [1] * 40 + [2] * 9])
def test_too_little_is_no_law(values: list[int]) -> None:
    assert distribution_of(np.array(values, dtype=np.int64), Random(1)).law is None
