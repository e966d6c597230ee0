"""Judges one visitor by the server's log.

Pure: rows in, figures out. Scrapy counts its delay from the start of one request to the start of the next. This node
counts from the end of one to the start of the next. Each is held to its own rule.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

ROBOTS = "/robots.txt"
TOLERANCE = 0.1  # of the rule: between the server's clock and the wire


@dataclass(frozen=True, slots=True)
class Visitor:
    """Says what one visitor did. `pages`: (host, path) of all different HTML pages that were answered 200. `repeats`:
    answers below 400 beyond the first of a URL, but of robots.txt, which each next crawler of a site reads for
    itself. `gaps`: requests to a host sooner than the rule allows. `open_over_one`: requests that began while another
    to the same host was open. `wall_s`: from the first request to the end of the last."""

    pages: frozenset[tuple[str, str]]
    requests: int
    repeats: int
    gaps: int
    least_gap_s: float
    open_over_one: int
    wall_s: float
    bytes: int


def judge(rows: Iterable[Mapping[str, Any]], agent: str, rule_s: float, *, from_start: bool) -> Visitor:
    """Sum up what the visitor did whose User-Agent starts with `agent`."""
    mine = [row for row in rows if row["ua"].startswith(agent)]
    answers = Counter((row["host"], row["path"]) for row in mine if row["status"] < 400 and row["path"] != ROBOTS)
    pages = {(row["host"], row["path"]) for row in mine if row["status"] == 200 and not _is_other(row["path"])}
    hosts: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for row in mine:
        hosts[row["host"]].append((row["t"], row["t"] + row["ms"] / 1000))
    pairs = [pair for spans in hosts.values() for pair in pairwise(sorted(spans))]
    gaps = [later[0] - earlier[not from_start] for earlier, later in pairs]
    ends = [end for spans in hosts.values() for _, end in spans]
    return Visitor(
        pages=frozenset(pages),
        requests=len(mine),
        repeats=sum(count - 1 for count in answers.values()),
        gaps=sum(gap < rule_s * (1 - TOLERANCE) for gap in gaps),
        least_gap_s=min(gaps, default=0.0),
        open_over_one=sum(later[0] < earlier[1] - 0.0005 for earlier, later in pairs),
        wall_s=max(ends, default=0.0) - min((row["t"] for row in mine), default=0.0),
        bytes=sum(row["bytes"] for row in mine),
    )


def _is_other(path: str) -> bool:
    """Tell whether a path is no page: robots.txt and images are fetched, too."""
    return path == ROBOTS or path.lower().rpartition(".")[2] in ("png", "gif", "jpg", "jpeg", "svg")
