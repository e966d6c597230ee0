"""The bodies by which the operator pauses a node, has it leave, has its disk read, and logs in.

Pure: values only.
"""

from typing import Annotated, Literal

from msgspec import Meta

from node.api.body import RequestBody, ResponseBody
from node.views.duration import MAX_S

LeaveState = Literal["here", "leaving", "gone"]


class PauseOrder(RequestBody):
    """The body of POST /api/v1/pause."""

    paused: bool
    for_s: Annotated[float, Meta(gt=0.0, le=MAX_S)] | None = None


class Paused(ResponseBody):
    """Whether fetching is paused now, and why nothing is fetched."""

    paused: bool
    reason: str


class LeaveOrder(RequestBody):
    """The body of POST /api/v1/leave. `at_once`: say what that puts at risk, and do it where `sure`."""

    at_once: bool = False
    sure: bool = False


class BeginOrder(RequestBody):
    """The body of POST /api/v1/begin. Only where it is `sure`, the node goes on."""

    sure: bool = False


class Begun(ResponseBody):
    """Whether a node goes on without silent members now. `live`: how many other members answer. `silent`: those for
    which it waits, "" for none. `refusal`: why it may not go on, "" where it may."""

    live: int
    silent: str
    refusal: str
    begun: bool


class LeaveProgress(ResponseBody):
    """How far a node is on its way out.
    `slots`, `documents`: those that still lie here.
    `at_risk`: documents of which no live node has another copy.
    `silent`: the silent owners that it waits for."""

    state: LeaveState
    slots: int
    documents: int
    at_risk: int
    silent: list[str]


class ScrubProgress(ResponseBody):
    """How far the reading through of the disk is, and what was damaged; times are Unix seconds, 0 for never."""

    begun_at: int
    share: float
    ended_at: int
    found: int
    found_before: int
    lost: int
    healed: int
    read_records: int
    asked_at: int
    read_at: int
    damaged: int
    came_back: int
    open: int


class NoFields(RequestBody):
    """The body of a request that has nothing to say, such as POST /api/v1/scrub."""


class LoginLink(ResponseBody):
    """The path of a link that logs a browser in, once."""

    path: str
    expires_in_s: float
