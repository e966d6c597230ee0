"""What a node makes of what it has seen: habits, departures, and the time that copies take."""

from collections import Counter

import pytest

from dht import NodeId
from store.replication.loss_estimate import (
    WEIGHT,
    HabitWatch,
    SeenHabits,
    copy_times,
    departures,
    habits_of,
    yearly_loss,
)
from store.replication.loss_model import DAY_S, LAPTOPS, SERVERS, CopyTimes

A, B = NodeId(b"a" * 20), NodeId(b"b" * 20)


def test_habits_are_the_usual_ones_until_others_were_seen() -> None:
    assert SeenHabits().among(SERVERS).awake_s == pytest.approx(SERVERS.awake_s, rel=0.05)
    assert SeenHabits().among(LAPTOPS).away_s == pytest.approx(LAPTOPS.away_s, rel=0.05)
    watch, now = HabitWatch(), 0.0
    for _ in range(1000):
        for away in ({}, {A: False}):
            watch.refresh(now, {A: False, B: True} if not away else {B: True}, away)
            now += 6 * 3600.0
    seen = habits_of(watch, 1.0, {})
    assert seen[False].awake_s == seen[False].away_s == pytest.approx(6 * 3600.0, rel=0.02)
    assert seen[True].awake_s > 30 * DAY_S and seen[True].away_s == pytest.approx(SERVERS.away_s, rel=0.05), (
        "it never fell silent"
    )


def test_what_a_node_slept_through_it_has_not_seen() -> None:
    watch = HabitWatch()
    watch.refresh(0.0, {A: False}, {})
    watch.stood_still()
    watch.refresh(1e6, {}, {A: False})
    watch.refresh(1e6 + 10.0, {}, {A: False})
    assert watch.seen[False] == SeenHabits(live_s=0.0, away_s=10.0, absences=0)


def test_more_departures_than_usual_count_and_fewer_do_not() -> None:
    members = {True: 10, False: 0}  # of whom one leaves in 33 days
    assert departures(0, members) == departures(0, {}) == 1.0
    assert departures(6, members) == pytest.approx((6 + WEIGHT) / (0.9 + WEIGHT))


def test_what_a_machine_held_is_shared_by_whoever_copies_it() -> None:
    assert copy_times(1_500_000, 40, (0.0, 100.0), (20.0, 50.0)) == CopyTimes(1000.0, 2000.0), "rounded"
    assert copy_times(0, 0, (60.0, 100.0), (1800.0, 50.0)) == CopyTimes(60.0, 1800.0)


def test_the_loss_is_the_mean_of_the_slots() -> None:
    habits, times = {True: SERVERS, False: LAPTOPS}, CopyTimes(960.0, 2600.0)
    servers, laptops = (yearly_loss(Counter({owners: 1}), habits, times) for owners in ((3, 0), (0, 3)))
    assert servers < 1e-4 < laptops
    mean = yearly_loss(Counter({(3, 0): 1, (0, 3): 3}), habits, times)
    assert mean == pytest.approx((servers + 3 * laptops) / 4)
    assert yearly_loss(Counter(), habits, times) == 0.0
