"""The lines of `dse-node top`: one sentence of state, and how fast things go between two looks."""

from collections import deque
from typing import Any

import pytest

from node.views.status import view_of
from node.views.top import REMEMBERED, Course, bar, sparks, state_sentence

STATUS: dict[str, Any] = {
    "members": 4,
    "peers": {"live": 2, "ipv4": 2, "ipv6": 1},
    "slots": {"owned": 8, "ready": 8, "leased": 2},
    "crawl": {"state": "crawling", "per_s": 2.5, "fetched": 1200, "frontier": 7, "due": 30},
    "queries": {"asked": 10, "p50_ms": 31.4, "p95_ms": 80.0},
    "disk": {"used": 500_000_000, "quota": 1_000_000_000},
    "copies": {"slots": {"3": 8}},
    "warnings": ["one", "two", "three", "four"],
}


def test_each_line_says_what_a_glance_wants() -> None:
    course = Course()
    lines = {line.name: line for line in course.lines(STATUS, 10.0)}
    assert lines["state"].text == "It answers and crawls: 30 addresses of the network to go"
    assert lines["crawl"].text == "crawling; 2.5 a second, 1,200 fetched, 7 wait"
    assert lines["queries"].text == "10 asked here; 31 ms, 95 % in 80 ms"
    assert lines["peers"].text == "2 of 3 answer, IPv4 2, IPv6 1"
    assert lines["disk"].text == "500 MB of 1.0 GB" and lines["disk"].plot == "█" * 10 + "░" * 10
    assert lines["copies"].text == "complete (3 of 8 slots)"
    shown = course.lines({**STATUS, "queries": {"asked": 14, "p50_ms": None}}, 12.0)
    assert shown[2].text == "14 asked here, 2.0 a second" and shown[2].plot == "█"
    assert [line.text for line in shown[6:]] == ["one", "two", "three"]
    assert "a second" not in course.lines({**STATUS, "queries": {"asked": 1}}, 14.0)[2].text, "it began anew"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"faults": [{"site": "store"}]}, "fault"),
        ({"needs": [{"topic": "member", "state": "trouble", "text": "n2 is silent"}]}, "needs you: n2 is silent"),
        ({"leaving": {"slots": 2}, "slots": {}}, "leaving its network: 2 slots left"),
        ({"role": "client"}, "client"),
        ({"slots": {}}, "waits to be admitted"),
        ({"slots": {"owned": 8, "ready": 3}}, "3 of 8 slots"),
        ({"under_replicated": 2}, "2 slots with too few copies"),
        ({"settled": True}, "Everything is done"),
        ({"crawl": {"state": "paused", "reason": "the operator paused it"}}, "is idle: the operator paused it"),
    ],
)
def test_one_sentence_says_how_it_is(more: dict[str, Any], words: str) -> None:
    assert words in state_sentence(view_of({**STATUS, **more}))


@pytest.mark.parametrize("odd", [{}, dict.fromkeys(STATUS, "\x1b[31m"), {key: [None] for key in STATUS}])
def test_answers_of_any_shape_give_lines(odd: dict[str, Any]) -> None:
    course = Course()
    for now in (0.0, 0.0, 1.0):
        assert not any("\x1b" in line.text for line in course.lines(odd, now))


def test_plots_stay_within_their_bounds() -> None:
    assert sparks(deque([0.0, 1.0, 2.0])) == "▁▅█" and sparks(deque([0.0])) == sparks(deque()) == ""
    assert bar(-1.0) == "░" * 20 and bar(7.0) == "█" * 20
    course = Course()
    for now in range(3 * REMEMBERED):
        lines = course.lines(STATUS, float(now))
    assert len(lines[1].plot) == REMEMBERED
