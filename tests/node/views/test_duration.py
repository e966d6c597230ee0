"""Lengths of time as people type them."""

import pytest

from node.views.duration import BadDuration, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2h", 7200.0),
        ("30m", 1800.0),
        ("1h30m", 5400.0),
        (" 1D 2 h ", 93_600.0),
        ("90s", 90.0),
        ("366d", 366 * 86_400.0),
    ],
)
def test_what_people_type_is_read(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "2", "h", "2 hours", "-2h", "2h!", "0s", "367d", "1e3s", "\u0662h"])
def test_what_is_no_length_of_time_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(BadDuration, match=r"2h|366d"):
        parse_duration(text)
