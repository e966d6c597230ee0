"""Measures processor time per page beside Scrapy's, and what the server saw of both."""

import asyncio
import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from benchmarks.crawl import goals, sides
from benchmarks.crawl.judged import Visitor, judge
from benchmarks.crawl.sides import Spent
from benchmarks.crawl.web import BUILT, LOG, NAMES, Tier, find_tier, flushed, served
from benchmarks.figures import Row, row

DELAY_S = 0.05  # between two requests to one host; the served web is on this machine and allows it
ROUNDS = 3
QUICK_NAMES = 1  # of each host of the sample, so that all parts end within a minute
MISSING = "Scrapy is not installed: pip install -e '.[bench]'"
FULL, EQUAL, BARE = "scrapy-full", "scrapy-equal", "scrapy-bare"


@dataclass(frozen=True, slots=True)
class MeasuredRound:
    """Holds what one run of everything on one served web took and showed."""

    ours: Spent
    full: Spent | None  # None where Scrapy is not installed, as with the next two
    equal: Spent | None
    bare: Spent | None
    fetch: Spent
    our_visit: Visitor
    full_visit: Visitor
    equal_visit: Visitor
    bare_visit: Visitor


def rows(quick: bool, web: Path | None) -> list[Row]:
    """Return the rows: medians over the rounds."""
    with tempfile.TemporaryDirectory(prefix="dse-crawl-", ignore_cleanup_errors=True) as name:
        if web is None and BUILT.is_dir() and not quick:
            web = BUILT
        tier = find_tier(web, Path(name), QUICK_NAMES if quick else NAMES)
        rounds = []
        for number in range(1 if quick else ROUNDS):
            folder = Path(name) / f"round-{number}"
            folder.mkdir()
            rounds.append(asyncio.run(one_round(tier, folder)))
    return list(rows_of(rounds, tier.name))


async def one_round(tier: Tier, folder: Path) -> MeasuredRound:
    """Run ours, then Scrapy in full and with our work, then both clients alone over the pages that ours found."""
    log = folder / LOG
    async with served(tier, folder) as web:
        spent = await sides.ours(web, folder, DELAY_S)
        await flushed(log)
        pages = _judged(log, "dse-node", from_start=False).pages
        urls = [f"http://{host}:{web.port}{path}" for host, path in sorted(pages)]
        full = await sides.scrapy(web, folder, DELAY_S, FULL, None) if has_scrapy() else None
        equal = await sides.scrapy(web, folder, DELAY_S, EQUAL, None, indexes=True) if has_scrapy() else None
        bare = await sides.scrapy(web, folder, DELAY_S, BARE, urls) if has_scrapy() else None
        fetch = await sides.bare(folder, DELAY_S, urls)
        await flushed(log)
    visits = [_judged(log, agent, from_start=agent != "dse-node") for agent in ("dse-node", FULL, EQUAL, BARE)]
    return MeasuredRound(spent, full, equal, bare, fetch, *visits)


def _judged(log: Path, agent: str, *, from_start: bool) -> Visitor:
    with log.open() as lines:
        return judge(map(json.loads, lines), agent, DELAY_S, from_start=from_start)


def rows_of(rounds: Sequence[MeasuredRound], tier: str) -> list[Row]:
    """Return the table; every row names the web and the delay that it was taken with."""
    where = f"{tier}, {len(rounds[0].our_visit.pages)} pages, {DELAY_S} s a host"
    return [*_costs(rounds, where), *_manners(rounds, where)]


def _costs(rounds: Sequence[MeasuredRound], where: str) -> list[Row]:
    ours = [_us(r.ours.cpu_s, r.our_visit) for r in rounds]
    full = [_us(r.full.cpu_s, r.full_visit) for r in rounds if r.full]
    equal = [_us(r.equal.cpu_s, r.equal_visit) for r in rounds if r.equal]
    bare = [_us(r.bare.cpu_s, r.bare_visit) for r in rounds if r.bare]
    fetch = [_us(r.fetch.cpu_s, r.our_visit) for r in rounds]
    parsers = [_us(r.ours.parsers_s, r.our_visit) for r in rounds]
    index = [_us(r.ours.index_s, r.our_visit) for r in rounds]
    rest = [_us(r.ours.cpu_s - r.ours.index_s - r.ours.parsers_s, r.our_visit) for r in rounds]
    rates = [_rate(r.our_visit) for r in rounds]
    full_rates = [_rate(r.full_visit) for r in rounds if r.full]
    return [
        row(f"CPU a page, all processes; peer: Scrapy tuned ({where})", ours, "µs", goal=goals.CPU_US,
            peer=full or MISSING),
        row(f"of it, threads that index ({where})", index, "µs", goal=goals.INDEX_US),
        row(f"of it, parser processes ({where})", parsers, "µs"),
        row(f"of it, the rest ({where})", rest, "µs", goal=goals.REST_US),
        _compared(f"CPU a page, ours / Scrapy tuned ({where})", ours, full, goals.CPU_RATIO),
        row(f"CPU a page; peer: Scrapy with our extraction and index ({where})", ours, "µs", peer=equal or MISSING),
        _compared(f"CPU a page, ours / Scrapy with our extraction and index ({where})", ours, equal, goals.EQUAL_RATIO),
        row(f"CPU a page; peer: Scrapy bare, all URLs given ({where})", ours, "µs", peer=bare or MISSING),
        row(f"our client alone over the same URLs, share of our CPU a page ({where})", _over(fetch, ours), "×"),
        row(f"pages a second, wall ({where})", rates, "/s", peer=full_rates or MISSING),
        _compared(f"pages a second, wall, ours / Scrapy tuned ({where})", rates, full_rates, goals.WALL_RATIO,
                  at_least=True),
    ]  # fmt: skip


def _compared(
    what: str, ours: Sequence[float], scrapys: Sequence[float], goal: float, *, at_least: bool = False
) -> Row:
    """Return ours over Scrapy's of each round; without Scrapy there is no figure, and so no goal that is missed."""
    if not scrapys:
        return row(what, [], "×", peer=MISSING)
    return row(what, _over(ours, scrapys), "×", goal=goal, at_least=at_least)


def _manners(rounds: Sequence[MeasuredRound], where: str) -> list[Row]:
    """Return the rows of manners by the server's log; Scrapy's gaps count from start to start, as its delay does."""

    def counted(what: str, count: Callable[[Visitor], int], unit: str, goal: float | None) -> Row:
        theirs = [count(r.full_visit) for r in rounds if r.full] or MISSING
        return row(
            f"{what}, by the server's log ({where})", [count(r.our_visit) for r in rounds], unit, goal=goal, peer=theirs
        )

    def alone(visit: Visitor) -> int:
        pair = next(_both(r) for r in rounds if visit in _both(r))
        return len(visit.pages - pair[visit is pair[0]].pages)

    return [
        *([counted("pages that the other side did not fetch", alone, "pages", None)] if rounds[0].full else []),
        counted("pages fetched twice", lambda visit: visit.repeats, "pages", goals.REPEATS),
        counted("gaps under the rule", lambda visit: visit.gaps, "gaps", goals.GAPS),
        counted("open requests of a host over 1", lambda visit: visit.open_over_one, "requests", goals.OPEN_OVER_ONE),
    ]


def _both(each: MeasuredRound) -> tuple[Visitor, Visitor]:
    return each.our_visit, each.full_visit


def has_scrapy() -> bool:
    """Tell whether Scrapy is there to be measured."""
    return find_spec("scrapy") is not None


def _us(seconds: float, visit: Visitor) -> float:
    return seconds / max(1, len(visit.pages)) * 1e6


def _over(some: Sequence[float], others: Sequence[float]) -> list[float]:
    return [one / other for one, other in zip(some, others, strict=True) if other]


def _rate(visit: Visitor) -> float:
    return len(visit.pages) / visit.wall_s if visit.wall_s else 0.0
