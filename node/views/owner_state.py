"""Says in one sentence how a node is, for its owner: the first thing that matters, and why.

Pure: the answer of /api/v1/status in, a value out.
"""

from dataclasses import dataclass
from typing import Literal

from node.views.lenient_json import Json, tables
from node.views.readiness import not_ready_reasons
from node.views.safe_text import plain
from node.views.status import StatusView

StateKind = Literal["trouble", "paused", "client", "unready", "crawling", "waiting", "idle"]

MAX_TEXT = 500


@dataclass(frozen=True, slots=True)
class OwnerState:
    """Holds the kind of state, a sentence that says why, and all that needs the owner, a sentence each."""

    kind: StateKind
    why: str
    needs: tuple[tuple[str, str], ...]  # topic and sentence


def owner_state(status: Json, view: StatusView) -> OwnerState:
    """Judge a status; `view` is the same as people read it."""
    needs = tuple(
        (plain(each.get("topic", ""), 32), plain(each.get("text", ""), MAX_TEXT))
        for each in tables(status, "needs")
        if each.get("state") == "trouble"
    )
    if needs:
        return OwnerState("trouble", needs[0][1], needs)
    if view.is_client:
        return OwnerState("client", view.crawl_reason, ())
    if reasons := not_ready_reasons(status):
        return OwnerState("unready", plain(reasons[0], MAX_TEXT), ())
    kind: StateKind = "crawling" if view.is_crawling else "paused" if view.crawl_state == "paused" else "idle"
    return OwnerState("waiting" if view.crawl_state == "waiting" else kind, view.crawl_reason, ())
