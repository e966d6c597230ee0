"""Says in log lines what an operator would miss: who came and went, what is ready, how the crawl goes.

Pure: two states of a node in, lines out. `node/process/run_node.py` compares every few seconds and logs the lines.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

COMPARE_EVERY_S = 5.0
GOES_ON_EVERY_S = 60.0  # a long crawl says so once in a while
FIGURES = re.compile(r"[0-9]+")
SIZES = re.compile(r"[0-9.]+ [kM]B")
BUSY = frozenset({"crawling", "waiting"})


@dataclass(frozen=True, slots=True)
class NodeState:
    """Describes a node at one time. `at`: steady seconds; `live`: ids of live peers; `pause_reason`: why it must not
    fetch, or ""."""

    at: float
    live: frozenset[str] = frozenset()
    owned: int = 0
    ready: int = 0
    crawl: str = ""
    pause_reason: str = ""
    waiting: int = 0
    fetched: int = 0
    failed: int = 0
    documents: int = 0
    is_settled: bool = False
    warnings: tuple[str, ...] = ()  # to the operator


class EventLog:
    """Compares a node's state with the one before it, and remembers what was said last."""

    def __init__(self, first: NodeState) -> None:
        self._last = replace(first, live=frozenset(), warnings=(), ready=0, owned=0, crawl="", is_settled=False)
        self._went_on_at = first.at
        self._settled_with = -1  # documents when "settled" was last said

    def lines(self, now: NodeState) -> list[str]:
        """Return what is new since the last state, in the form of log lines."""
        last, self._last = self._last, now
        return [
            *_warnings(last, now),
            *_peers(last, now),
            *_slots(last, now),
            *self._crawl(last, now),
            *self._settled(now),
        ]

    def _crawl(self, last: NodeState, now: NodeState) -> Iterator[str]:
        reason, before = (SIZES.sub("", state.pause_reason) for state in (now, last))
        if reason and reason != before:  # a disk that is full is a little fuller every few seconds
            yield f"crawl stopped reason={now.pause_reason}"
        elif before and not reason:
            yield "crawl may go on: there is room again"
        figures = f"fetched={now.fetched} failed={now.failed} waiting={now.waiting}"
        if now.crawl in BUSY and last.crawl not in BUSY:
            self._went_on_at = now.at
            yield f"crawl begins {figures}"
        elif last.crawl in BUSY and now.crawl not in BUSY:
            yield f"crawl {now.crawl} {figures}"
        elif now.crawl in BUSY and now.at - self._went_on_at >= GOES_ON_EVERY_S:
            self._went_on_at = now.at
            yield f"crawl goes on {figures}"

    def _settled(self, now: NodeState) -> Iterator[str]:
        if now.is_settled and now.crawl not in BUSY and now.documents != self._settled_with:
            self._settled_with = now.documents
            yield f"settled documents={now.documents}"


def _warnings(last: NodeState, now: NodeState) -> Iterator[str]:
    """Say each warning when it comes and when it is over; one whose figures alone differ is the same one."""
    before, after = ({FIGURES.sub("", told): told for told in state.warnings} for state in (last, now))
    yield from (f"to look at: {told}" for told in map(after.get, after.keys() - before.keys()))
    yield from (f"over: {told}" for told in map(before.get, before.keys() - after.keys()))


def _peers(last: NodeState, now: NodeState) -> Iterator[str]:
    for peer in sorted(now.live - last.live):
        yield f"peer live id={peer} live={len(now.live)}"
    for peer in sorted(last.live - now.live):
        yield f"peer away id={peer} live={len(now.live)}"


def _slots(last: NodeState, now: NodeState) -> Iterator[str]:
    """Say when all slots are ready, and when that is over; what lies between is of no use to anybody."""
    was, is_now = _complete(last), _complete(now)
    if is_now and (not was or now.owned != last.owned):
        yield f"slots ready count={now.ready}"
    elif was and not is_now:
        yield f"slots being reconciled ready={now.ready} owned={now.owned}"


def _complete(state: NodeState) -> bool:
    return 0 < state.owned <= state.ready
