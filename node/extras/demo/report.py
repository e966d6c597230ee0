"""Writes what the demo says: progress while it happens, and one JSON object at the end.

Pure: values in, text out; the caller prints.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec


class QueryReport(msgspec.Struct):
    """Reports one query as one node answered it."""

    q: str
    expect: str
    node: str
    coverage: float
    exact: bool
    why: list[str]
    took_ms: float
    results: list[str]


class AfterKill(msgspec.Struct):
    """Reports what remained when one node was killed without warning."""

    killed: str
    coverage: float
    same_top10: bool
    seconds_to_full_coverage: float


class DemoReport(msgspec.Struct):
    """The object that `demo --once --json` prints."""

    nodes: int = 0
    families: dict[str, int] = {}
    hosts: int = 0
    pages_fetched: int = 0
    documents: int = 0
    duplicate_fetches: int = 0
    second_looks: int = 0
    min_gap_s: float | None = None
    gaps_under_rule: int = 0
    replicas_min: int = 0
    slots: int = 0
    strategy: dict[str, Any] = {}
    queries: list[QueryReport] = []
    after_kill: AfterKill | None = None
    seconds: float = 0.0
    first_search_s: float = 0.0
    failures: list[str] = []


def progress_line(seconds: float, statuses: Sequence[Mapping[str, Any] | None]) -> str:
    """Write one line about all nodes: what is fetched, stored and waiting now."""
    alive = [status for status in statuses if status]
    fetched = sum(status["crawl"]["fetched"] for status in alive)
    waiting = sum(status["crawl"]["frontier"] for status in alive)
    copies = sum(status["documents"] for status in alive)
    return f"{seconds:5.0f} s   {fetched:4d} URLs fetched   {waiting:4d} waiting   {copies:5d} copies searchable"


def summary(report: DemoReport) -> str:
    """Sum up a demo run for people."""
    families = ", ".join(f"{count} with {name}" for name, count in report.families.items())
    lines = [
        "",
        f"{report.nodes} nodes ({families}) crawled {report.pages_fetched} pages of {report.hosts} hosts,",
        f"{report.duplicate_fetches} of them twice, and keep {report.documents} documents "
        f"on at least {report.replicas_min} nodes each.",
        f"Strategy {report.strategy.get('version')} signed by {', '.join(report.strategy.get('signed_by', []))}.",
    ]
    asked = {row.q for row in report.queries}
    if asked:
        slowest = max(row.took_ms for row in report.queries)
        lines.append(f"{len(asked)} queries asked at every node: slowest answer {slowest:.0f} ms.")
    if report.after_kill:
        kill = report.after_kill
        lines.append(
            f"{kill.killed} was killed without warning: coverage {kill.coverage:.2f} again after "
            f"{kill.seconds_to_full_coverage:.1f} s, {'the same' if kill.same_top10 else 'ANOTHER'} top ten."
        )
    lines += [f"NOT KEPT: {failure}" for failure in report.failures]
    lines.append(f"{'All promises kept' if not report.failures else 'Failed'} in {report.seconds:.0f} s.")
    return "\n".join(lines)
