"""Why a node fetches nothing: pauses that end by themselves, hours of the day."""

from datetime import datetime

from crawl import FetchHours
from node.crawling.operator_pause import OperatorPause

EVENING = datetime(2026, 3, 28, 18, 0)


def test_a_pause_ends_by_itself_or_when_it_is_told_to() -> None:
    still = OperatorPause(FetchHours.parse(""))
    assert still.paused(0.0) == ""
    still.pause(100.0, EVENING, 1800.0)
    assert still.paused(1899.0) == "paused by its operator until 18:30; `dse-node resume` ends that"
    assert still.paused(1900.0) == ""
    still.pause(100.0, EVENING, 86_400.0)
    assert "until 2026-03-29 18:00" in still.paused(101.0)
    still.pause(100.0, EVENING, None)
    assert still.paused(1e12) == "paused by its operator; `dse-node resume` ends that"
    still.resume()
    assert still.paused(1e12) == ""


def test_the_hours_are_those_of_the_clock_on_the_wall() -> None:
    still = OperatorPause(FetchHours.parse("22:00-07:00"))
    assert still.closed(EVENING) == "outside crawl.hours (22:00-07:00); goes on at 22:00"
    assert still.closed(EVENING.replace(hour=23)) == ""
