"""Why a node fetches nothing: pauses that end by themselves, hours of the day."""

from datetime import datetime, timedelta

from crawl import FetchHours
from dht import Now
from node.crawling.operator_pause import OperatorPause

EVENING = datetime(2026, 3, 28, 18, 0)


class Clock:
    """Both clocks, moved by the test."""

    def __init__(self) -> None:
        self.steady = 100.0

    def __call__(self) -> Now:
        return Now((EVENING + timedelta(seconds=self.steady - 100.0)).timestamp(), self.steady)


def test_a_pause_ends_by_itself_or_when_it_is_told_to() -> None:
    clock = Clock()
    pause = OperatorPause(FetchHours.parse(""), clock)
    assert pause.reason() == ""
    pause.pause(1800.0)
    clock.steady = 1899.0
    assert pause.reason() == "paused by its operator until 18:30; `dse-node resume` ends that"
    clock.steady = 1900.0
    assert pause.reason() == ""
    pause.pause(86_400.0)
    assert "until 2026-03-29 18:30" in pause.reason()
    pause.pause(None)
    clock.steady = 1e7
    assert pause.reason() == "paused by its operator; `dse-node resume` ends that"
    pause.resume()
    assert pause.reason() == ""


def test_the_hours_are_those_of_the_clock_on_the_wall() -> None:
    clock = Clock()
    pause = OperatorPause(FetchHours.parse("22:00-07:00"), clock)
    assert pause.reason() == "outside crawl.hours (22:00-07:00); goes on at 22:00"
    clock.steady += 5 * 3600.0
    assert pause.reason() == ""
