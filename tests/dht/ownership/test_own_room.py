"""A node goes down as soon as it must and up slowly, says so before it counts, and forgets nothing over restarts."""

import msgspec
import pytest

from dht.clock import DAY_S
from dht.ownership.own_room import OwnRoom, RoomReading, first_room, next_room
from dht.wire.room_step import FULL_STEP, RoomStep, are_steps, read_room_step

GB = 10**9
UNIT = 40 * GB
MIDNIGHT = 20_000 * DAY_S


def reading(quota_gb: float, used: float = 0.1, **more: bool) -> RoomReading:
    """`used`: of the quota."""
    return RoomReading(quota_gb * GB, quota_gb * GB, used * quota_gb * GB, UNIT, **more)


class Life:
    """Follows one node from an hour of a day on, looking every ten minutes."""

    def __init__(self, own: OwnRoom, hour: float = 0.0) -> None:
        self.own, self.wall = own, MIDNIGHT + hour * 3600.0

    def go(self, read: RoomReading, hours: float) -> list[tuple[float, int]]:
        """Return the steps that came into force, each with the hours since the first midnight."""
        found, ends = [], self.wall + hours * 3600.0
        before = self.own.said.in_force(self.wall)
        while self.wall < ends:
            self.own = next_room(self.own, read, self.wall)
            self.wall += 600.0
            if (now := self.own.said.in_force(self.wall)) != before:
                found.append(((self.wall - MIDNIGHT) / 3600.0, now))
                before = now
        return found


@pytest.mark.parametrize(
    ("quota_gb", "step"),
    [(1, -2), (5, -2), (10, -2), (20, -1), (28, -1), (29, 0), (40, 0), (56, 0), (200, 0), (9999, 0)],
)
def test_a_node_begins_with_what_its_quota_is_worth_and_no_more_than_the_usual_part(quota_gb: float, step: int) -> None:
    assert first_room(reading(quota_gb)).said == RoomStep(step, step)


def test_a_larger_quota_counts_a_day_later_from_midnight_on_one_step_a_day() -> None:
    assert Life(OwnRoom(-1, -1), 9.0).go(reading(200), 100.0) == [(48.0, 0), (72.0, 1), (96.0, 2)]


def test_a_quota_just_beyond_the_border_or_not_for_a_whole_day_changes_nothing() -> None:
    assert Life(OwnRoom(0, 0)).go(reading(60), 100.0) == [], "a quarter of a step beyond is 67 GB"
    life = Life(OwnRoom(0, 0))
    assert not life.go(reading(100), 23.0) and not life.go(reading(40), 1.0) and not life.go(reading(100), 23.0)


def test_a_step_up_that_was_announced_is_taken_back_with_the_quota() -> None:
    life = Life(OwnRoom(0, 0), 9.0)
    life.go(reading(100), 26.0)
    assert life.own.said == RoomStep(1, 0, int(MIDNIGHT // 3600) + 48)
    assert not life.go(reading(40), 60.0)


def test_a_smaller_quota_counts_from_the_next_full_hour_that_all_hear_of() -> None:
    assert Life(OwnRoom(0, 0), 9.5).go(reading(10), 5.0) == [(10.0, -2)]
    assert Life(OwnRoom(0, 0), 9 + 5 / 6).go(reading(10), 5.0) == [(pytest.approx(11.0), -2)], (
        "ten to ten is too late for ten"
    )


def test_a_disk_that_fills_up_goes_down_a_step_an_hour_and_is_full_at_last() -> None:
    assert Life(OwnRoom(1, 1), 0.5).go(reading(80, 0.93), 9.0) == [(1.0, 0), (2.0, -1), (3.0, -2)], "not above 95 %"
    assert Life(OwnRoom(-1, -1), 0.5).go(reading(20, 0.97), 3.0) == [(1.0, -2), (pytest.approx(1.5), FULL_STEP)]
    assert not Life(OwnRoom(0, 0)).go(reading(40, 0.89), 48.0)


def test_what_is_being_handed_over_is_waited_for_but_not_for_ever() -> None:
    life = Life(OwnRoom(0, 0), 0.5)
    assert life.go(reading(40, 0.93), 0.5) == [(1.0, -1)]
    assert life.go(reading(40, 0.93, is_handing_over=True), 9.0) == [(pytest.approx(8.0), -2)]


def test_a_node_that_refuses_what_comes_is_full_though_some_bytes_are_left() -> None:
    assert Life(OwnRoom(-2, -2)).go(reading(5, 0.8, is_refusing=True), 1.0) == [(pytest.approx(1 / 6), FULL_STEP)]
    assert not Life(OwnRoom(-2, -2)).go(reading(5, 0.3, is_refusing=True), 1.0), "a few large records"


def test_a_full_node_comes_back_with_more_room_or_after_a_week_and_does_not_swing() -> None:
    life = Life(OwnRoom(-2, -2), 9.0)
    assert life.go(reading(5, 0.97), 1.0)[0][1] == FULL_STEP
    assert not life.go(reading(5, 0.0), 150.0), "what it held would fill it again"
    assert [step for _, step in life.go(reading(5, 0.0), 72.0)] == [-2], "the network may have grown"
    life = Life(OwnRoom(-2, -2), 9.0)
    life.go(reading(5, 0.97), 1.0)
    assert life.go(reading(10, 0.2), 60.0) == [(48.0, -2)]


def test_a_node_with_much_in_it_does_not_go_up_only_to_come_down_again() -> None:
    assert not Life(OwnRoom(-1, -1)).go(reading(40, 0.6), 100.0)


def test_all_that_counts_is_noted_for_the_next_start() -> None:
    life = Life(OwnRoom(0, 0), 9.0)
    for _ in range(300):
        life.go(reading(100), 1 / 6)
        life.own = msgspec.json.decode(msgspec.json.encode(life.own), type=OwnRoom)
    assert life.own.said.in_force(life.wall) == 1


def test_a_clock_that_was_far_ahead_binds_nobody() -> None:
    ahead = OwnRoom(-2, 0, int(MIDNIGHT // 3600) + 9000)
    assert Life(ahead).go(reading(40), 5.0) == []


def test_heartbeats_say_each_change_in_two_small_numbers() -> None:
    hour = int(MIDNIGHT // 3600)
    for step in range(FULL_STEP, 3):
        for before in range(FULL_STEP, 3):
            for ahead in (-30, -1, 0, 1, 30):
                said = RoomStep(step, before, hour + ahead if step != before else 0)
                assert read_room_step(*said.code, MIDNIGHT + 1800.0) == said
                assert are_steps(*said.code) and 0 <= said.code[0] < 128
    assert not any(are_steps(*numbers) for numbers in ((36, 0), (-1, 0), (0, 128), (0, -1)))
