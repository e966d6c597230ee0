"""Says on a few lines how a node is and what it does now, as `dse-node top` shows it again and again.

Pure: answers of /api/v1/status with the time of each in, lines out; tolerant of what they lack.
"""

from collections import deque
from dataclasses import dataclass

from dht import counted
from node.views.lenient_json import Json, count, number, table
from node.views.status import StatusView, size, view_of

REMEMBERED = 60  # readings, which the small plots show
MAX_WARNINGS = 3
BLOCKS = "▁▂▃▄▅▆▇█"
BAR_CELLS = 20


@dataclass(frozen=True, slots=True)
class Line:
    """Holds one line: what it is of, what it says, a small plot of it over time or its share, if there is one."""

    name: str
    text: str
    plot: str = ""
    is_bad: bool = False


class Course:
    """Follows one node over several answers, so that its lines can say how fast things go."""

    def __init__(self) -> None:
        self._crawled: deque[float] = deque(maxlen=REMEMBERED)
        self._asked: deque[float] = deque(maxlen=REMEMBERED)
        self._before: tuple[float, int] | None = None

    def lines(self, status: Json, now: float) -> list[Line]:
        """Return the lines of one more answer. `now`: steady seconds at which it came."""
        view, queries = view_of(status), table(status, "queries")
        self._crawled.append(view.per_s)
        rate = self._query_rate(count(queries, "asked"), now)
        lines = [
            Line("state", state_sentence(view), is_bad=view.has_faults or bool(view.called_for)),
            Line("crawl", _crawl(view), sparks(self._crawled)),
            Line("queries", _queries(queries, rate), sparks(self._asked)),
            Line("peers", _peers(view)),
            Line("disk", _disk(view), bar(view.disk_share) if view.disk_quota else ""),
            Line("copies", _copies(view), is_bad=bool(view.under_replicated)),
        ]
        return lines + [Line("to look at", warning, is_bad=True) for warning in view.warnings[:MAX_WARNINGS]]

    def _query_rate(self, asked: int, now: float) -> float | None:
        """Return queries a second since the answer before; None where this is the first, or the node began anew."""
        before, self._before = self._before, (now, asked)
        if before is None or asked < before[1] or now <= before[0]:
            return None
        self._asked.append((asked - before[1]) / (now - before[0]))
        return self._asked[-1]


def state_sentence(view: StatusView) -> str:
    """Say in one sentence how a node is, and why."""
    if view.leaving:
        return f"It is leaving its network: {view.leaving}"
    if view.called_for and not view.has_faults:
        return f"It needs you: {view.called_for[0]}"
    if view.has_faults:
        return "Its machine has a fault: `dse-node doctor` shows it and the remedy"
    if view.is_client:
        return "It is a client: it stores nothing for others and fetches on request"
    if not view.owned:
        return "It owns no part of the network yet: it waits to be admitted"
    if view.ready < view.owned:
        return f"It compares with its peers: {view.ready:,} of {counted(view.owned, 'slot')} ready to answer"
    if view.under_replicated:
        return f"It answers; {counted(view.under_replicated, 'slot')} with too few copies"
    if view.is_settled:
        return "Everything is done: every page is fetched, copied and indexed"
    if view.is_crawling and view.per_s > 0:
        return f"It answers and crawls: {counted(view.due, 'address', 'addresses')} of the network to go"
    return f"It answers; the crawler is idle{f': {view.crawl_reason}' if view.crawl_reason else ''}"


def sparks(values: "deque[float]") -> str:
    """Draw values as blocks, the largest of them full; nothing where all are 0."""
    most = max(values, default=0.0)
    return "".join(BLOCKS[round(value / most * (len(BLOCKS) - 1))] for value in values) if most > 0 else ""


def bar(share: float) -> str:
    """Draw a share, 0…1."""
    full = round(min(1.0, max(0.0, share)) * BAR_CELLS)
    return "█" * full + "░" * (BAR_CELLS - full)


def _crawl(view: StatusView) -> str:
    reason = f" ({view.crawl_reason})" if view.crawl_reason else ""
    return f"{view.crawl_state}{reason}; {view.per_s:.1f} a second, {view.fetched:,} fetched, {view.frontier:,} wait"


def _queries(queries: Json, rate: float | None) -> str:
    asked = count(queries, "asked")
    pace = "" if rate is None else f", {rate:.1f} a second"
    if not queries.get("p50_ms"):
        return f"{asked:,} asked here{pace}"
    return f"{asked:,} asked here{pace}; {number(queries, 'p50_ms'):.0f} ms, 95 % in {number(queries, 'p95_ms'):.0f} ms"


def _peers(view: StatusView) -> str:
    if view.nodes <= 1 and not view.is_client:
        return "none: this node is its network's only member"
    others = view.nodes - (0 if view.is_client else 1)
    return f"{others - view.away:,} of {others:,} answer, IPv4 {view.ipv4:,}, IPv6 {view.ipv6:,}"


def _disk(view: StatusView) -> str:
    return f"{size(view.disk_used)} of {size(view.disk_quota)}" if view.disk_quota else size(view.disk_used)


def _copies(view: StatusView) -> str:
    found = ", ".join(f"{held} of {counted(many, 'slot')}" for held, many in view.slots_by_copies)
    state = f"too few of {counted(view.under_replicated, 'slot')}" if view.under_replicated else "complete"
    return f"{state} ({found})" if found else state
