"""Processor time per page beside Scrapy's, and what the server saw of both."""

import asyncio
import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.crawl import goals, sides
from benchmarks.crawl.judged import Visitor, judge
from benchmarks.crawl.sides import Spent
from benchmarks.crawl.web import Tier, find_tier, flushed, served
from benchmarks.figures import Row, row

DELAY_S = 0.05  # between two requests to one host; the served web is on this machine and allows it
ROUNDS = 3
FULL, BARE = "scrapy-full", "scrapy-bare"


@dataclass(frozen=True, slots=True)
class Round:
    """One run of everything on one served web."""

    ours: Spent
    full: Spent
    bare: Spent
    fetch: Spent
    our_visit: Visitor
    full_visit: Visitor
    bare_visit: Visitor


def rows(quick: bool, web: Path | None) -> list[Row]:
    """Medians over the rounds."""
    with tempfile.TemporaryDirectory(prefix="dse-crawl-", ignore_cleanup_errors=True) as name:
        tier = find_tier(web, Path(name))
        rounds = []
        for number in range(1 if quick else ROUNDS):
            folder = Path(name) / f"round-{number}"
            folder.mkdir()
            rounds.append(asyncio.run(one_round(tier, folder)))
    return list(rows_of(rounds, tier.name))


async def one_round(tier: Tier, folder: Path) -> Round:
    """Ours, then Scrapy in full, then both clients alone over the pages that ours found."""
    log = folder / "web.jsonl"
    async with served(tier, folder) as web:
        spent = await sides.ours(web, folder, DELAY_S)
        await flushed(log)
        pages = _judged(log, "dse-node", from_start=False).pages
        urls = [f"http://{host}:{web.port}{path}" for host, path in sorted(pages)]
        full = await sides.scrapy(web, folder, DELAY_S, FULL, None)
        bare = await sides.scrapy(web, folder, DELAY_S, BARE, urls)
        fetch = await sides.bare(folder, DELAY_S, urls)
        await flushed(log)
    visits = [_judged(log, agent, from_start=agent != "dse-node") for agent in ("dse-node", FULL, BARE)]
    return Round(spent, full, bare, fetch, *visits)


def _judged(log: Path, agent: str, *, from_start: bool) -> Visitor:
    with log.open() as lines:
        return judge(map(json.loads, lines), agent, DELAY_S, from_start=from_start)


def rows_of(rounds: Sequence[Round], tier: str) -> list[Row]:
    """The table: `where` says on what and how politely."""
    pages = len(rounds[0].our_visit.pages)
    where = f"{tier}, {pages} pages, {DELAY_S} s a host"
    ours = [_us(r.ours.cpu_s, r.our_visit) for r in rounds]
    full = [_us(r.full.cpu_s, r.full_visit) for r in rounds]
    bare = [_us(r.bare.cpu_s, r.bare_visit) for r in rounds]
    fetch = [_us(r.fetch.cpu_s, r.our_visit) for r in rounds]
    without = [_us(r.ours.cpu_s - r.ours.index_s, r.our_visit) for r in rounds]
    by_server = "by the server's log"
    return [
        row(f"CPU a page, all processes ({where}); peer: Scrapy tuned", ours, "µs", peer=full),
        row("the same without the index's threads, which Scrapy has none of", without, "µs", peer=full),
        row("of it, parser processes", [_us(r.ours.parsers_s, r.our_visit) for r in rounds], "µs"),
        row("CPU a page, ours / Scrapy tuned", _over(ours, full), "×", goal=goals.CPU_RATIO),
        row("the same without the index's threads", _over(without, full), "×", goal=goals.CPU_RATIO),
        row("CPU a page against Scrapy bare: no parsing, no sink, URLs given", ours, "µs", peer=bare),
        row("our client alone over the same URLs: share of our CPU a page", _over(fetch, ours), "×"),
        row(
            "pages a second, wall", _rates(r.our_visit for r in rounds), "/s", peer=_rates(r.full_visit for r in rounds)
        ),
        row(
            f"pages that only one side fetched, {by_server}",
            [len(r.our_visit.pages - r.full_visit.pages) for r in rounds],
            "pages ours only",
            peer=[len(r.full_visit.pages - r.our_visit.pages) for r in rounds],
        ),
        row(
            f"fetched twice, {by_server}",
            [r.our_visit.repeats for r in rounds],
            "pages",
            goal=goals.REPEATS,
            peer=[r.full_visit.repeats for r in rounds],
        ),
        row(
            f"gaps under the rule of {DELAY_S} s, {by_server} (peer: from start to start)",
            [r.our_visit.gaps for r in rounds],
            "gaps",
            goal=goals.GAPS,
            peer=[r.full_visit.gaps for r in rounds],
        ),
        row(
            f"open requests a host over 1, {by_server}",
            [r.our_visit.open_over_one for r in rounds],
            "requests",
            goal=goals.OPEN_OVER_ONE,
            peer=[r.full_visit.open_over_one for r in rounds],
        ),
    ]


def _us(seconds: float, visit: Visitor) -> float:
    return seconds / max(1, len(visit.pages)) * 1e6


def _over(some: Sequence[float], others: Sequence[float]) -> list[float]:
    return [one / other for one, other in zip(some, others, strict=True) if other]


def _rates(visits: object) -> list[float]:
    return [len(v.pages) / v.wall_s for v in visits if v.wall_s]  # type: ignore[attr-defined]
