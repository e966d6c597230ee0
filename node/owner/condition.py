"""Puts how a node is into the few bytes of a heartbeat, and reads what other members say of themselves.

Pure: values in, values out. Codes stay what they are: a code that this release does not know is read as nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from dht import Condition
from node.owner.needs import TOPICS, OwnerNeed
from node.views.owner_state import StateKind

MOST_NEEDS = 2  # in a heartbeat
GIB = 1 << 30
MOST_ROOM = (1 << 16) - 1  # GiB

STATE_CODES: dict[StateKind, int] = {kind: code for code, kind in enumerate(get_args(StateKind), start=1)}
NEED_CODES: dict[str, int] = {
    "member": 1,
    "crawl": 2,
    "copies": 3,
    "disk": 4,
    "strategy": 5,
    "audit": 6,
    "evidence": 7,
    "update": 8,
    "machine": 9,
    "clock": 10,
    "heartbeat": 11,
    "limits": 12,
    "removal": 13,
}
# what stops a node comes first: the second half of what it needs may have no place
_URGENCY = ("machine", "disk", "clock", "copies", "crawl", "update", "strategy", "heartbeat", "member", "removal")


@dataclass(frozen=True, slots=True)
class Outlook:
    """Holds what a node needs of its owner, and what it tells other members of that."""

    needs: tuple[OwnerNeed, ...]
    condition: Condition


def condition_of(kind: StateKind, needs: Sequence[OwnerNeed], quota_bytes: float) -> Condition:
    """Return what a heartbeat says of a node's state, of its most urgent needs in trouble, and of its quota."""
    urgent = sorted(
        (need.topic for need in needs if need.state == "trouble" and need.topic in NEED_CODES),
        key=lambda topic: _URGENCY.index(topic) if topic in _URGENCY else len(_URGENCY),
    )
    codes = bytes(NEED_CODES[topic] for topic in urgent[:MOST_NEEDS])
    return Condition(STATE_CODES[kind], codes, min(MOST_ROOM, round(quota_bytes / GIB)))


def state_of(condition: Condition) -> str:
    """Return the state that a member says it is in, "" where this release knows no such state."""
    return next((kind for kind, code in STATE_CODES.items() if code == condition.state), "")


def room_of(condition: Condition) -> int:
    """Return the bytes that a member says it may keep."""
    return condition.room * GIB


def needs_in(condition: Condition) -> tuple[str, ...]:
    """Return the topics of what a member says that it needs."""
    topics = {code: topic for topic, code in NEED_CODES.items()}
    return tuple(topics[code] for code in condition.needs if code in topics)


assert set(NEED_CODES) == set(TOPICS), "each topic has a code"
