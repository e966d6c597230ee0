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


class Team(msgspec.Struct):
    """Reports what one node does for the network: slots that it owns, slots that it crawls, pages that it keeps."""

    node: str
    owned: int
    crawled: int
    pages: int


class AfterStrategy(msgspec.Struct):
    """Reports a rule that was published while the network ran, and taken back: seconds until every node obeyed."""

    denied: str
    pages: int
    hidden_after_s: float
    back_after_s: float


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
    teams: list[Team] = []
    after_strategy: AfterStrategy | None = None
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


def team_lines(report: DemoReport) -> str:
    """Write which node does what, a line each."""
    lines = [f"{report.slots} parts of the web's addresses are shared out:"]
    lines += [
        f"  {team.node}  keeps {team.owned:3d}   crawls {team.crawled:3d}   holds {team.pages:4d} pages"
        for team in report.teams
    ]
    return "\n".join(lines)


def strategy_line(change: AfterStrategy) -> str:
    """Say how fast a published rule came into force, and out of it."""
    return (
        f"A strategy denied {change.denied}: its {change.pages} pages were hidden on all nodes after "
        f"{change.hidden_after_s:.1f} s.\n"
        f"The next strategy allowed it: they were fetched again and back after {change.back_after_s:.1f} s."
    )


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
    if report.after_strategy:
        lines.append(strategy_line(report.after_strategy))
    lines += [f"NOT KEPT: {failure}" for failure in report.failures]
    lines.append(f"{'All promises kept' if not report.failures else 'Failed'} in {report.seconds:.0f} s.")
    return "\n".join(lines)
