"""The model of losses against machines that come and go under a node's own decisions, where much is lost."""

from math import log

import pytest

from benchmarks.durability import killed, moved
from benchmarks.durability.__main__ import SIMULATED, modelled
from benchmarks.durability.loss_model import YEAR_S
from benchmarks.durability.neighbourhood import DAY_S, Neighbourhood, TrialPlan, TrialResult, WorkingWeek, trials


def model(plan: TrialPlan) -> float:
    """Losses a slot and year."""
    span_s = plan.days * 86_400.0
    lost = modelled(plan.stable, plan.replicas, plan.hardship, by_need=plan.by_need, span_s=span_s).probability
    return -log(1 - lost) * YEAR_S / span_s


def test_one_seed_gives_one_trial_and_a_calm_world_loses_nothing_and_copies_little() -> None:
    plan = TrialPlan(3, 4.0, 3, 4, SIMULATED)
    first, again = Neighbourhood(plan).run(), Neighbourhood(plan).run()
    assert first == again and first.lost == 0
    assert first.slot_years == pytest.approx(16 * 4 / 365.25, rel=0.02)


def test_the_model_is_right_within_a_factor_of_three_where_two_laptops_hold_all() -> None:
    plan = TrialPlan(0, 8.0, 2, 0, SIMULATED, hardship=20.0, by_need=False)
    assert_alike(plan, range(3), 3.0)


def test_a_working_week_has_nights_and_a_weekend() -> None:
    week, hour_s = WorkingWeek(8 * 3600.0, 5), 3600.0
    friday = 4 * DAY_S
    assert week.is_awake(0.0) and week.span_s(hour_s) == 7 * hour_s
    assert not week.is_awake(8 * hour_s) and week.span_s(8 * hour_s) == 16 * hour_s
    assert week.is_awake(friday) and not week.is_awake(friday + DAY_S)
    assert week.span_s(friday + 8 * hour_s) == 64 * hour_s
    assert week.is_awake(-DAY_S) and week.span_s(-hour_s) == hour_s, "before the first week all days are alike"


@pytest.mark.parametrize("stable", [0, 4])
def test_nights_and_a_weekend_of_laptops_move_nothing(stable: int) -> None:
    plan = TrialPlan(1, 7.5, 3, stable, SIMULATED, 0.0, week=WorkingWeek(8 * 3600.0, 5))
    assert Neighbourhood(plan).run().made == 0


@pytest.mark.prove
def test_a_join_moves_no_more_than_two_of_n_and_a_record_to_each_but_once() -> None:
    found = moved.joined(1, 8, 60, 8_000)
    assert 0 < found.moved <= found.stored * moved.JOIN_SHARE / 8


@pytest.mark.prove
def test_two_of_six_killed_for_good_are_copied_in_the_time_that_the_granted_rate_takes() -> None:
    found = killed.killed(4, 200, 8_000, 100_000.0)
    assert not found.lost and found.whole == 1.0
    assert found.one.begun_s <= killed.ONE_COPY_S and found.two.begun_s <= killed.TWO_COPIES_S
    assert found.one.ended_s <= killed.SAFE_S + found.one.least_s


HARDSHIPS = ((16, 2, 20), (16, 3, 90), (0, 2, 5), (0, 3, 10), (4, 3, 12))  # stable machines of 16, copies, hardship


@pytest.mark.prove
@pytest.mark.parametrize(("stable", "copies", "hardship"), HARDSHIPS)
def test_the_model_is_right_within_a_factor_of_three_by_the_grace_alone(
    stable: int, copies: int, hardship: int
) -> None:
    assert_alike(TrialPlan(0, 30.0, copies, stable, SIMULATED, hardship, by_need=False), range(1, 11), 3.0)


@pytest.mark.prove
@pytest.mark.parametrize(("stable", "copies", "hardship"), HARDSHIPS)
def test_no_more_is_lost_by_need_than_the_model_says(stable: int, copies: int, hardship: int) -> None:
    """The model errs on the safe side there: whose habits nobody knows yet is given up sooner than it takes for
    granted."""
    plan = TrialPlan(0, 30.0, copies, stable, SIMULATED, hardship, by_need=True)
    lost, expected = simulated_and_expected(plan, range(1, 11))
    assert expected >= 5, "too few to judge"
    assert lost <= expected


def assert_alike(plan: TrialPlan, seeds: range, factor: float) -> None:
    lost, expected = simulated_and_expected(plan, seeds)
    assert lost >= 5, "too few to judge"
    assert 1 / factor < lost / expected < factor


def simulated_and_expected(plan: TrialPlan, seeds: range) -> tuple[int, float]:
    """How many losses some seeds find, and how many the model expects in as many slot-years."""
    found: list[TrialResult] = list(trials(plan, seeds))
    lost, years = sum(each.lost for each in found), sum(each.slot_years for each in found)
    expected = model(plan) * years
    print(f"{plan}: {lost} lost in {years:.1f} slot-years, {expected:.1f} by the model")
    return lost, expected
