"""The owner's needs are judged by a node's status, with figures as a node gives them."""

from typing import Any

import pytest

from dht import Now
from node.owner.events import OwnerEvents
from node.owner.needs import TOPICS, needs_of

NOW = 1_800_000_000.0
DAY_S = 86_400.0
GONE = {"node_id": "1a" * 20, "endpoint": {"host": "127.0.0.1", "udp_port": 4300}, "silent_s": 120, "stable": True}
WELL: dict[str, Any] = {
    "members": 7,
    "peers": {"live": 5, "servers": 6, "silent_servers": 1},
    "silent": [],
    "crawl": {"still_s": 0, "reason": "3 pages not acknowledged yet by their owners"},
    "copies": {"least": 3, "oldest_s": 0},
    "under_replicated": 0,
    "disk": {"used": 5_000, "quota": 10_000, "refuses": ""},
    "strategy": {"version": 3, "newest": 3, "expires_at": NOW + 90 * DAY_S, "upgrade": []},
    "possession": {"accused_by": []},
    "faults": [],
}


def judged(told: dict[str, str] | None = None, **changes: Any) -> dict[str, tuple[str, str]]:
    return {need.topic: (need.state, need.text) for need in needs_of({**WELL, **changes}, told or {}, NOW)}


def test_a_node_that_is_well_needs_nobody() -> None:
    assert judged() == dict.fromkeys(TOPICS, ("fine", ""))
    assert {need.state for need in needs_of({}, {}, NOW)} == {"fine"}, "what another version leaves out is no need"


@pytest.mark.parametrize(
    ("topic", "changes", "state", "says"),
    [
        ("member", {"silent": [GONE]}, "trouble", "1a1a1a1a1a1a at 127.0.0.1:4300"),
        ("member", {"silent": [{**GONE, "farewell": True}]}, "near", "away: 1a1a"),
        ("crawl", {"crawl": {"still_s": 149}}, "fine", ""),
        ("crawl", {"crawl": {"still_s": 299}}, "near", "none was fetched for 5 minutes"),
        ("crawl", {"crawl": {"still_s": 300, "reason": "3 pages wait"}}, "trouble", "3 pages wait"),
        ("crawl", {"crawl": {"still_s": 300, "unheld": 40}}, "trouble", "40 slots without a crawler"),
        ("copies", {"copies": {"least": 1, "oldest_s": 1799}}, "near", "least 1"),
        (
            "copies",
            {"copies": {"least": 1, "oldest_s": 1800}, "under_replicated": 7},
            "trouble",
            "7 slots with too few live copies",
        ),
        ("disk", {"disk": {"used": 8_499, "quota": 10_000}}, "fine", ""),
        ("disk", {"disk": {"used": 8_600, "quota": 10_000}}, "near", "store.quota_bytes"),
        ("disk", {"disk": {"used": 9_000, "quota": 10_000}}, "trouble", "9.0 kB of 10.0 kB"),
        ("disk", {"disk": {"used": 1, "quota": 10_000, "refuses": "no space left"}}, "trouble", "no space left"),
        ("disk", {"disk": {"used": 1, "quota": 10_000, "given_up": 3}}, "trouble", "copies of 3 slots"),
        ("strategy", {"strategy": {"version": 3, "newest": 3, "expires_at": NOW + 8 * DAY_S}}, "fine", ""),
        ("strategy", {"strategy": {"version": 3, "newest": 3, "expires_at": NOW + DAY_S}}, "trouble", "in 1.0 days"),
        ("strategy", {"strategy": {"version": 3, "newest": 3, "expires_at": NOW - DAY_S}}, "trouble", "ended 1.0 days"),
        ("strategy", {"strategy": {"version": 3, "newest": 4, "expires_at": NOW + DAY_S}}, "fine", ""),
        ("audit", {"possession": {"accused_by": [{"at": NOW - 60, "records": 12}]}}, "trouble", "up to 12"),
        ("evidence", {"second_looks": {"contradicted": [{"node_id": "ab" * 20}]}}, "trouble", "`dse-node evidence`"),
        ("audit", {"possession": {"accused_by": [{"at": NOW - 2 * DAY_S, "records": 12}]}}, "fine", ""),
        ("update", {"strategy": {"upgrade": ["strategy 4 needs 'x': upgrade now"]}}, "trouble", "upgrade now"),
        ("machine", {"faults": [{"cause": "store: no handles", "remedy": "ulimit -n"}]}, "trouble", "ulimit -n"),
    ],
)
def test_each_topic_has_its_bounds_and_says_what_helps(
    topic: str, changes: dict[str, Any], state: str, says: str
) -> None:
    found = judged(**changes)
    assert found.pop(topic)[0] == state and says in judged(**changes)[topic][1]
    assert set(found.values()) == {("fine", "")}, "and nothing else is told"


@pytest.mark.parametrize(
    ("topic", "text"),
    [("clock", "the clock is 40 s behind"), ("heartbeat", "they are full"), ("removal", "1 request to remove pages")],
)
def test_what_the_node_itself_says_is_told_in_its_own_words(topic: str, text: str) -> None:
    found = judged({topic: text})
    assert found.pop(topic) == ("trouble", text) and set(found.values()) == {("fine", "")}


def test_all_that_fails_on_a_machine_is_told_and_one_thing_more_is_news() -> None:
    kinds = "store", "index", "votes", "log", "tasks"
    faults = [{"site": kind, "cause": f"{kind}: {'x' * 60}", "remedy": "r" * 200, "what_stops": "s"} for kind in kinds]
    events = OwnerEvents()
    one = needs_of({"faults": faults[:1]}, {}, NOW)
    assert not events.step(one, Now(NOW, 0.0)) and events.step(one, Now(NOW, 30.0))[0].text.startswith("store:")
    (more,) = events.step(needs_of({"faults": faults}, {}, NOW), Now(NOW, 31.0))
    assert (more.topic, more.state) == ("machine", "begins") and all(f"{kind}: x" in more.text for kind in kinds)
    assert not events.step(needs_of({"faults": faults}, {}, NOW), Now(NOW, 32.0))


def test_what_peers_or_files_are_called_does_no_harm() -> None:
    told = judged(faults=[{"cause": "a\x1b[31m\nb" + "c" * 9000}])["machine"][1]
    assert "\x1b" not in told and "\n" not in told and len(told) <= 500
