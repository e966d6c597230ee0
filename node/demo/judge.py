"""Judges what the demo claims from outside: fetches by the sample web's own log, orders by brute force.

Pure: takes values, returns values.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

NOT_PAGES = ("/robots.txt", "/sitemap.xml")


@dataclass(frozen=True, slots=True)
class Fetches:
    """Sums up what a web's log says of visitors. Gaps count from the end of one request to the start of the next."""

    pages: int  # different URLs answered 200
    duplicates: int  # answers below 400 beyond the first for one URL
    min_gap_s: float | None
    gaps_under_rule: int
    paths: frozenset[tuple[str, str]]  # (host, path) answered 200


def judge_fetches(rows: Iterable[Mapping[str, Any]], rule_s: float) -> Fetches:
    """Count pages, duplicates and politeness from log rows {t, host, path, status, ms}.

    A tenth of the rule is allowed for the difference between the server's clock and the wire. robots.txt is outside
    the rule: where another host's redirects to it, that host's crawler must fetch it too (RFC 9309, 2.3.1.2).
    """
    answers: Counter[tuple[str, str]] = Counter()
    pages: set[tuple[str, str]] = set()
    by_host: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for row in rows:
        if row["path"] != "/robots.txt":
            by_host[row["host"]].append((row["t"], row["t"] + row["ms"] / 1000))
        if row["path"] in NOT_PAGES or row["status"] >= 400:
            continue
        answers[row["host"], row["path"]] += 1
        if row["status"] == 200:
            pages.add((row["host"], row["path"]))
    gaps = [later[0] - earlier[1] for spans in by_host.values() for earlier, later in pairwise(sorted(spans))]
    return Fetches(
        pages=len(pages),
        duplicates=sum(count - 1 for count in answers.values()),
        min_gap_s=round(min(gaps), 3) if gaps else None,
        gaps_under_rule=sum(gap < rule_s * 0.9 for gap in gaps),
        paths=frozenset(pages),
    )


def same_order(got: Sequence[str], oracle: Sequence[str]) -> str | None:
    """Return None where both orders are equal, else a sentence about the first difference."""
    for rank, (ours, expected) in enumerate(zip(got, oracle, strict=False), 1):
        if ours != expected:
            return f"rank {rank} is {ours}, brute force says {expected}"
    if len(got) != len(oracle):
        return f"{len(got)} results, brute force has {len(oracle)}"
    return None
