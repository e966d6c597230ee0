"""An owner is told in how many days the disk is full, where the last day says anything about that."""

from math import nan

import pytest

from node.owner.disk_outlook import full_in_days

GB, HOUR_S = 1e9, 3600.0


def day(grown: float, hours: float = 24.0, began: float = 10 * GB) -> list[tuple[float, float]]:
    """Figures of each minute, in which a disk grows by so many bytes a day."""
    return [(m * 60.0, began + grown * m / 1440) for m in range(int(hours * 60) + 1)]


@pytest.mark.parametrize(
    ("series", "days"),
    [
        (day(GB), 90.0),
        (day(GB, hours=2), 90.0),
        (day(GB, hours=0.5), None),  # too short to tell
        (day(0.0), None),
        (day(-GB), None),
        (day(0.2 * GB), None),  # 450 days: a year away
        (day(0.25 * GB), 360.0),
        ([], None),
        ([(0.0, nan), (9e9, nan)], None),
        ([(at, nan) for at, _ in day(0.0)][:700] + day(GB)[700:], 90.0),  # the node started half a day ago
    ],
)
def test_growth_of_the_last_day_says_when_the_disk_is_full(
    series: list[tuple[float, float]], days: float | None
) -> None:
    found = full_in_days(series, 10 * GB, 100 * GB)
    assert found == (None if days is None else pytest.approx(days, rel=0.01))
    assert full_in_days(series, 10 * GB, 0) is None, "without a quota nothing is ever full"


def test_a_fill_in_the_middle_of_the_day_counts_by_its_first_and_last_quarters() -> None:
    step = [(at, used + (GB if at > 12 * HOUR_S else 0.0)) for at, used in day(0.0)]
    assert full_in_days(step, 10 * GB, 100 * GB) == pytest.approx(90 * 0.75, rel=0.01), "in three quarters of a day"


def test_files_that_come_and_go_are_no_growth() -> None:
    wave = [(at, used + (GB if at // HOUR_S % 2 else 0.0)) for at, used in day(0.0)]
    assert full_in_days(wave, 10 * GB, 100 * GB) is None or full_in_days(wave, 10 * GB, 100 * GB) > 300
    assert full_in_days(day(GB), 101 * GB, 100 * GB) == 0.0, "it is full already"
