"""Judges what the demo claims from outside: fetches by the sample web's own log, orders by brute force.

Which pages are fetched again because others look whether their author told the truth (PROTOCOL.md, 4.8) no site can
see. The nodes that ask write it into their logs, and so the judge tells these requests from all others.

Pure: takes values, returns values.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

NOT_PAGES = ("/robots.txt", "/sitemap.xml")
SECOND_LOOK = re.compile(r"^(\S+Z) INFO +node\.audit\.second_look second look url=(\S+)$", re.M)
ASKED_WITHIN_S = 60.0  # from the line in the log until the site is asked: no fetch lasts longer
MOST_SECOND_LOOK_SHARE = 0.03  # of all fetches: each node makes as many of its own at most (node/audit/second_look.py)


@dataclass(frozen=True, slots=True)
class SecondLookRequest:
    """One request for a second look: when it began (Unix seconds), and the URL's parts."""

    at: float
    host: str
    path: str


@dataclass(frozen=True, slots=True)
class Fetches:
    """Sums up what a web's log says of visitors. Gaps count from the end of one request to the start of the next."""

    pages: int  # different URLs answered 200
    duplicates: int  # answers below 400 beyond the first for one URL, but for second looks
    second_looks: int  # requests for second looks, robots.txt too
    second_look_share: float  # of all answers below 400 and these
    min_gap_s: float | None
    gaps_under_rule: int
    paths: frozenset[tuple[str, str]]  # (host, path) answered 200


def judge_fetches(rows: Iterable[Mapping[str, Any]], rule_s: float, looks: Iterable[SecondLookRequest] = ()) -> Fetches:
    """Count pages, duplicates and politeness from log rows {t, host, path, status, ms}.

    A tenth of the rule is allowed for the difference between the server's clock and the wire. robots.txt is outside
    the rule: where another host's redirects to it, that host's crawler must fetch it too (RFC 9309, 2.3.1.2).
    """
    answers: Counter[tuple[str, str]] = Counter()
    pages: set[tuple[str, str]] = set()
    by_host: dict[str, list[tuple[float, float]]] = defaultdict(list)
    own, second_looks = told_apart(rows, looks)
    for row in (*own, *second_looks):
        if row["path"] != "/robots.txt":
            by_host[row["host"]].append((row["t"], row["t"] + row["ms"] / 1000))
    for row in own:
        if row["path"] in NOT_PAGES or row["status"] >= 400:
            continue
        answers[row["host"], row["path"]] += 1
        if row["status"] == 200:
            pages.add((row["host"], row["path"]))
    gaps = [later[0] - earlier[1] for spans in by_host.values() for earlier, later in pairwise(sorted(spans))]
    fetched = sum(answers.values()) + len(second_looks)
    return Fetches(
        pages=len(pages),
        duplicates=sum(count - 1 for count in answers.values()),
        second_looks=len(second_looks),
        second_look_share=len(second_looks) / max(1, fetched),
        min_gap_s=round(min(gaps), 3) if gaps else None,
        gaps_under_rule=sum(gap < rule_s * 0.9 for gap in gaps),
        paths=frozenset(pages),
    )


def told_apart(
    rows: Iterable[Mapping[str, Any]], looks: Iterable[SecondLookRequest]
) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    """Return the requests of a log that were no second looks, and those that were; each look explains one request."""
    told: dict[tuple[str, str], list[float]] = defaultdict(list)
    for look in sorted(looks, key=lambda each: each.at, reverse=True):
        told[look.host, look.path].append(look.at)
    own, second_looks = list[Mapping[str, Any]](), list[Mapping[str, Any]]()
    for row in sorted(rows, key=lambda row: row["t"]):
        begun = told.get((row["host"], row["path"]), [])
        while begun and begun[-1] < row["t"] - ASKED_WITHIN_S:
            begun.pop()
        if begun and begun[-1] <= row["t"]:
            begun.pop()
            second_looks.append(row)
        else:
            own.append(row)
    return own, second_looks


def second_look_requests(log: str) -> list[SecondLookRequest]:
    """Read from a node's log its requests for second looks."""
    return [
        SecondLookRequest(datetime.fromisoformat(at).timestamp(), urlsplit(url).hostname or "", _path(url))
        for at, url in SECOND_LOOK.findall(log)
    ]


def _path(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"


def newest_copies(found: Iterable[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Return by URL the copies of the newest version of each document that is there, given all that nodes store.

    Beside them an older one may lie for minutes with a node that is no owner. It kept the copy for owners that were
    late, and drops it when they have shown theirs. Versions are ordered as in the store, by epoch and time; their
    digests say nothing of that."""
    copies: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in found:
        copies[row["url"]].append(row)
    newest = {url: max(map(_version, rows)) for url, rows in copies.items()}
    kept = {url: [row for row in rows if _version(row) == newest[url]] for url, rows in copies.items()}
    return {url: rows for url, rows in kept.items() if not rows[0]["gone"]}


def _version(row: Mapping[str, Any]) -> tuple[int, float, str]:
    return row["epoch"], row["fetched_at"], row["version"]


def same_order(got: Sequence[str], oracle: Sequence[str]) -> str | None:
    """Return None where both orders are equal, else a sentence about the first difference."""
    for rank, (ours, expected) in enumerate(zip(got, oracle, strict=False), 1):
        if ours != expected:
            return f"rank {rank} is {ours}, brute force says {expected}"
    if len(got) != len(oracle):
        return f"{len(got)} results, brute force has {len(oracle)}"
    return None
