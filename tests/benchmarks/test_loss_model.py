"""The chance of a loss: against formulas where there are some, and in the direction that each habit moves it."""

from dataclasses import replace
from math import exp

import pytest

from benchmarks.durability.loss_model import (
    DAY_S,
    LAPTOPS,
    MOST_COPIES,
    SERVERS,
    YEAR_S,
    CopyTimes,
    Kind,
    MachineHabits,
    bounded,
    slot_loss,
)

NEVER_S, AT_ONCE_S = 1e12, 1.0
AWAKE = MachineHabits(awake_s=NEVER_S, away_s=AT_ONCE_S, gone_a_day=0.01, expected_s=AT_ONCE_S)
TIMES = CopyTimes(960.0, 2600.0)


def loss(*kinds: Kind, times: CopyTimes = TIMES, span_s: float = YEAR_S) -> float:
    return slot_loss(kinds, times, span_s).probability


@pytest.mark.parametrize("copies", (1, 2, 3))
def test_what_is_never_copied_is_lost_when_the_last_machine_leaves(copies: int) -> None:
    all_left = (1 - exp(-0.01 * 100)) ** copies
    assert loss((AWAKE, copies), times=CopyTimes(NEVER_S, NEVER_S), span_s=100 * DAY_S) == pytest.approx(all_left, 1e-3)


def test_two_copies_are_lost_as_a_pair_of_disks_that_is_repaired() -> None:
    """Mean time to loss of a mirrored pair: (3 a + b) / (2 a²), a and b the rates of failure and repair."""
    repair_s, leaves = 40_000.0, 0.01 / DAY_S
    mean_s = (3 * leaves + 1 / repair_s) / (2 * leaves**2)
    assert loss((AWAKE, 2), times=CopyTimes(repair_s, repair_s)) == pytest.approx(1 - exp(-YEAR_S / mean_s), 2e-3)


def test_rare_losses_are_as_many_as_leave_within_the_time_that_nobody_knows_of_the_first() -> None:
    """Of r copies the first leaves at rate r a; the others must leave within the time T until it is made anew. Whether
    T is fixed, or ends by chance for each, makes no difference for rare losses: r a (a T)^(r - 1)."""
    for copies in (2, 3, 4):
        habits = replace(AWAKE, gone_a_day=0.001, expected_s=2 * DAY_S)
        rate = copies * 0.001 * (0.001 * 2) ** (copies - 1) / DAY_S
        assert loss((habits, copies), times=CopyTimes(AT_ONCE_S, AT_ONCE_S)) == pytest.approx(rate * YEAR_S, 0.02)


def test_a_loss_is_likelier_where_machines_leave_or_sleep_more_and_repair_is_late() -> None:
    usual = loss((LAPTOPS, 3))
    assert usual < loss((replace(LAPTOPS, gone_a_day=0.02), 3))
    assert usual < loss((replace(LAPTOPS, expected_s=72 * 3600.0), 3))
    assert usual < loss((LAPTOPS, 3), times=CopyTimes(960.0, 86_400.0))
    assert loss((SERVERS, 3)) < loss((SERVERS, 1), (LAPTOPS, 2)) < usual < loss((LAPTOPS, 2))


def test_the_figures_of_the_grace_alone_are_those_that_were_measured_before_it_was_chosen() -> None:
    """1.2e-5 a year for servers, 1.4e-2 and 3e-5 for three and five copies on laptops, within a factor of two."""
    wait_s = 7 * 3600.0  # a new owner that is a laptop sleeps, as a rule
    laptops = replace(LAPTOPS, expected_s=72 * 3600.0)
    assert 0.6e-5 < loss((replace(SERVERS, expected_s=12 * 3600.0), 3), times=CopyTimes(900.0, 900.0)) < 2.4e-5
    assert 0.7e-2 < loss((laptops, 3), times=CopyTimes(wait_s, wait_s)) < 2.8e-2
    assert 1.5e-5 < loss((laptops, 5), times=CopyTimes(wait_s, wait_s)) < 6e-5


def test_with_more_owners_than_are_told_apart_it_is_no_likelier() -> None:
    assert sum(copies for _, copies in bounded([(SERVERS, 3), (LAPTOPS, 9)])) == MOST_COPIES
    assert bounded([(SERVERS, 1), (LAPTOPS, 2)]) == ((SERVERS, 1), (LAPTOPS, 2))
    assert loss((SERVERS, 16)) == loss((SERVERS, MOST_COPIES))


def test_what_leaves_is_copied() -> None:
    assert slot_loss(((SERVERS, 3),), TIMES).copied == pytest.approx(0.003 * 365.25)
    assert slot_loss(((SERVERS, 1), (LAPTOPS, 1)), TIMES).copied == pytest.approx(0.0065 * 365.25)
