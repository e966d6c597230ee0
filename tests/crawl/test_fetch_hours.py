"""Hours of the day: every minute against a list of minutes; days on which clocks change."""

from datetime import datetime, time, timedelta
from random import Random
from zoneinfo import ZoneInfo

import pytest

from crawl.fetch_hours import FetchHours

DAY = 24 * 60


def open_minutes(text: str) -> set[int]:
    hours = FetchHours.parse(text)
    return {minute for minute in range(DAY) if not hours.closed(time(minute // 60, minute % 60, 59))}


def test_every_minute_of_the_day_by_a_list_of_minutes() -> None:
    rng = Random(3)
    for _ in range(60):
        ranges = [rng.sample(range(DAY), 2) for _ in range(rng.randrange(1, 4))]
        text = ", ".join("-".join(f"{at // 60:02}:{at % 60:02}" for at in each) for each in ranges)
        expected = {(first + n) % DAY for first, last in ranges for n in range((last - first) % DAY)}
        assert open_minutes(text) == expected, text


def test_no_range_is_always_and_the_next_opening_is_told() -> None:
    assert len(open_minutes("")) == DAY
    assert len(open_minutes("00:00-24:00")) == DAY
    hours = FetchHours.parse("22:00-07:00, 12:30-13:30")
    told = {at: hours.closed(time(*at)) for at in ((7, 0), (12, 29), (13, 30), (21, 59), (22, 0))}
    assert [reason.rpartition(" ")[2] for reason in told.values()] == ["12:30", "12:30", "22:00", "22:00", ""]


@pytest.mark.parametrize(
    "text", ["22-7", "25:00-07:00", "22:00-24:01", "22:00", "07:00-07:00", "22:00-07:00;1:00-2:00"]
)
def test_what_is_no_range_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a range of hours such as"):
        FetchHours.parse(text)


@pytest.mark.parametrize(("day", "open_hours"), [((2026, 3, 28), 9), ((2026, 3, 29), 8), ((2026, 10, 25), 10)])
def test_the_clock_on_the_wall_counts_when_it_is_put_forward_or_back(
    day: tuple[int, int, int], open_hours: int
) -> None:
    """In Berlin 02:00 becomes 03:00 on 29 March, 03:00 becomes 02:00 on 25 October: the night is as long as it is."""
    zone, hours = ZoneInfo("Europe/Berlin"), FetchHours.parse("22:00-07:00")
    noon_before = (datetime(*day, 12, tzinfo=zone) - timedelta(days=1)).timestamp()
    instants = [noon_before + 600 * n for n in range(25 * 6)]
    open_s = sum(600 for at in instants if not hours.closed(datetime.fromtimestamp(at, zone).time()))
    assert open_s == open_hours * 3600
