"""The sentence of how a node is: what needs its owner comes first, then what keeps it from serving."""

from typing import Any

import pytest

from node.views.owner_state import owner_state
from node.views.status import view_of

SERVES: dict[str, Any] = {
    "slots": {"owned": 3, "ready": 3},
    "crawl": {"state": "crawling", "reason": "7 URLs in flight"},
    "needs": [{"topic": "disk", "state": "fine", "text": ""}],
}
NEAR = [{"topic": "member", "state": "near", "text": "away: 1a1a"}]
TROUBLE = [{"topic": topic, "state": "trouble", "text": f"{topic}\x1b is bad"} for topic in ("disk", "clock")]


@pytest.mark.parametrize(
    ("changes", "kind", "why"),
    [
        ({}, "crawling", "7 URLs in flight"),
        ({"needs": TROUBLE, "slots": {}}, "trouble", "disk is bad"),
        ({"needs": NEAR}, "watch", "away: 1a1a"),
        ({"needs": NEAR, "crawl": {"state": "paused", "reason": "by you"}}, "paused", "by you"),
        ({"needs": [*NEAR, *TROUBLE]}, "trouble", "disk is bad"),
        ({"leaving": {"slots": 3}, "slots": {}}, "leaving", "3 slots left"),
        ({"leaving": {"slots": 1}, "needs": NEAR}, "leaving", "1 slot left"),
        ({"slots": {"owned": 3, "ready": 0}}, "unready", "none of its 3 slots has been compared"),
        ({"role": "client", "slots": {}}, "client", "7 URLs in flight"),
        ({"crawl": {"state": "paused", "reason": "by you"}}, "paused", "by you"),
        ({"crawl": {"state": "waiting", "reason": "sites rest"}}, "waiting", "sites rest"),
        ({"crawl": {"state": "waiting", "reason": "sites rest", "per_s": 8.0}}, "crawling", "sites rest"),
        ({"crawl": {"state": "idle", "reason": "all done"}}, "idle", "all done"),
        ({"crawl": {"state": "dancing"}}, "idle", ""),
    ],
)
def test_the_first_thing_that_matters_is_said(changes: dict[str, Any], kind: str, why: str) -> None:
    status = {**SERVES, **changes}
    state = owner_state(status, view_of(status))
    assert state.kind == kind and state.why.startswith(why)


def test_all_that_needs_the_owner_is_listed() -> None:
    status = {**SERVES, "needs": TROUBLE}
    assert [topic for topic, _ in owner_state(status, view_of(status)).needs] == ["disk", "clock"]
