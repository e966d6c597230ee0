"""Says in one sentence how a node is, for its owner: the first thing that matters, and why.

Pure: the answer of /api/v1/status in, a value out.
"""

from dataclasses import dataclass
from typing import Literal

from node.views.lenient_json import Json, tables
from node.views.readiness import not_ready_reasons
from node.views.safe_text import plain
from node.views.status import StatusView

StateKind = Literal["trouble", "leaving", "paused", "client", "unready", "watch", "crawling", "waiting", "idle"]

MAX_TEXT = 500


@dataclass(frozen=True, slots=True)
class OwnerState:
    """Holds the kind of state, a sentence that says why, and what needs the owner: a sentence each. Where nothing does,
    it holds what may need the owner soon."""

    kind: StateKind
    why: str
    needs: tuple[tuple[str, str], ...]  # topic and sentence


def owner_state(status: Json, view: StatusView) -> OwnerState:
    """Judge a status; `view` is the same as people read it."""
    if needs := _told(status, "trouble"):
        return OwnerState("trouble", needs[0][1], needs)
    near = _told(status, "near")
    if view.leaving:
        return OwnerState("leaving", view.leaving, near)
    if view.is_client:
        return OwnerState("client", view.crawl_reason, near)
    if reasons := not_ready_reasons(status):
        return OwnerState("unready", plain(reasons[0], MAX_TEXT), near)
    if view.crawl_state == "paused":
        return OwnerState("paused", view.crawl_reason, near)
    if near:
        return OwnerState("watch", near[0][1], near)
    kind: StateKind = "crawling" if view.is_crawling else "waiting" if view.crawl_state == "waiting" else "idle"
    return OwnerState(kind, view.crawl_reason, ())


def _told(status: Json, state: str) -> tuple[tuple[str, str], ...]:
    """Return topic and sentence of each need in this state."""
    found = [each for each in tables(status, "needs") if each.get("state") == state]
    return tuple((plain(each.get("topic", ""), 32), plain(each.get("text", ""), MAX_TEXT)) for each in found)
