"""Asks a full node what its readers and its owner ask, after a start with no file of it in memory."""

import http.client
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from statistics import quantiles
from urllib.parse import quote_plus

from benchmarks.big_node import goals
from benchmarks.big_node.building import until
from benchmarks.big_node.documents import Corpus, rare_word, vocabulary
from benchmarks.cpu import memory_bytes, pss_bytes, tree_s
from benchmarks.figures import Row, row
from benchmarks.lone_node import LoneNode, dse_node

RARE = 0.15  # of a query's words; others are drawn by Zipf's law from the common ones
MOST_WORDS = 3
TURNS = 20  # of each page
PAGES = ("/owner", "/owner/sites", "/owner/work", "/owner/network", "/status")
PATIENCE_S = 300.0


@dataclass
class Caller:
    """Asks one node over one connection, as its owner. `refused`: answers other than 200."""

    node: LoneNode
    refused: int = 0
    _connection: http.client.HTTPConnection | None = field(default=None, repr=False)

    def get(self, path: str) -> tuple[float, bytes]:
        """Return the milliseconds that an answer took, and its body."""
        if self._connection is None:
            self._connection = http.client.HTTPConnection("127.0.0.1", self.node.port, timeout=60)
        began = time.perf_counter()
        self._connection.request("GET", path, headers={"Authorization": f"Bearer {self._token}"})
        answer = self._connection.getresponse()
        body = answer.read()
        self.refused += answer.status != 200
        return (time.perf_counter() - began) * 1000, body

    @property
    def _token(self) -> str:
        return (self.node.home / "admin.token").read_text().strip()


def queries(of: Corpus, pages: int, count: int, chance: Random) -> list[str]:
    """Return queries of one to three words, each as frequent as in the text by Zipf's law; some are rare."""
    known = vocabulary(pages)

    def word() -> str:
        if chance.random() < RARE:
            return rare_word(int(known ** chance.random()))
        return of.common[int(len(of.common) ** chance.random()) - 1]

    return [" ".join(word() for _ in range(1 + number % MOST_WORDS)) for number in range(count)]


@dataclass(frozen=True, slots=True)
class Asked:
    """The outcome of some queries: milliseconds of each by the wall, and of the processors on average.

    `not_exact` counts answers that may not be the network's, `found` those with results."""

    wall_ms: Sequence[float]
    cpu_ms: float
    not_exact: int
    found: int


def ask(caller: Caller, pid: int, asked: Sequence[str]) -> Asked:
    """Ask queries one after the other."""
    used, took, odd, found = tree_s(pid), list[float](), 0, 0
    for words in asked:
        ms, body = caller.get(f"/api/v1/search?limit=10&deadline_ms=10000&q={quote_plus(words)}")
        answer = json.loads(body)
        took.append(ms)
        odd += not answer.get("exact")
        found += bool(answer.get("results"))
    return Asked(took, (tree_s(pid) - used) * 1000 / len(asked), odd, found)


def start_rows(node: LoneNode, pid: int, first: str) -> list[Row]:
    """Wait for a node that starts; return what it took until its page, its readiness and its first whole answer."""
    began, _caller = time.monotonic(), Caller(node)
    until(node.shows_page, PATIENCE_S)
    page_s, page_cpu = time.monotonic() - began, tree_s(pid)
    early = Caller(node)
    while True:
        _, body = early.get(f"/api/v1/search?limit=10&q={quote_plus(first)}")
        if json.loads(body).get("whole"):
            break
        time.sleep(0.05)
    answer_s, answer_cpu = time.monotonic() - began, tree_s(pid)
    until(lambda: bool(node.status()["alike"]), PATIENCE_S)
    return [
        row("restart until the front page is there, wall", [page_s], "s"),
        row("the same, CPU", [page_cpu], "s", goal=goals.READY_CPU_S),
        row("restart until the first query is answered whole, wall", [answer_s], "s"),
        row("the same, CPU", [answer_cpu], "s", goal=goals.FIRST_ANSWER_CPU_S),
        row("searches refused before it", [early.refused], "", goal=goals.REFUSED),
        row("restart until all is settled, wall", [time.monotonic() - began], "s"),
        row("the same, CPU", [tree_s(pid)], "s"),
    ]


def answer_rows(node: LoneNode, pid: int, cold: Sequence[str], warm: Sequence[str]) -> list[Row]:
    """Ask queries: the first ones read files that are not in memory, those of before `warm` have read them."""
    out, caller = list[Row](), Caller(node)
    for name, asked in (("cold", cold), ("warm", warm)):
        found = ask(caller, pid, asked)
        cuts, limits = quantiles(found.wall_ms, n=20), goals.QUERY_MS[name]
        out += [
            row(f"{len(asked)} queries, {name}: p50 by the wall", [cuts[9]], "ms", goal=limits[0]),
            row("p95", [cuts[18]], "ms", goal=limits[1]),
            row("CPU, mean", [found.cpu_ms], "ms"),
            row("not exact", [found.not_exact], ""),
            row("with results", [found.found / len(asked)], ""),
        ]
    own = memory_bytes(pid, "Anonymous:") / 1e6
    return [
        *out,
        row("PSS after these queries, mapped files of the index in it", [pss_bytes(pid) / 1e6], "MB"),
        row("private memory, which is no file's", [own], "MB", goal=goals.PRIVATE_MB),
    ]


def page_rows(node: LoneNode) -> list[Row]:
    """Ask for the pages of the owner, and for the command `status`."""
    caller, out = Caller(node), list[Row]()
    for path in ("/api/v1/status", *PAGES):
        goal = goals.STATUS_MS if path.startswith("/api") else goals.PAGE_MS
        took = sorted(caller.get(path)[0] for _ in range(TURNS))
        out += [
            row(f"{path}, p95 of {TURNS} by the wall", [took[-2]], "ms", goal=goal),
            row("p50", [took[len(took) // 2]], "ms"),
        ]
    began = time.perf_counter()
    dse_node("status", "--data-dir", str(node.home))
    out.append(row("dse-node status, its own start with it", [(time.perf_counter() - began) * 1000], "ms"))
    return [*out, row("of these refused", [caller.refused], "", goal=0)]
