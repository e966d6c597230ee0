"""Does the verb crawl: hand URLs in, wait for them, or ask what would become of one."""

import sys
import time
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from crawl import scope_words
from dht import counted
from node.api.body import Json
from node.cli.commands.output import print_facts, print_json
from node.cli.commands.target_node import client
from node.cli.http_client import HttpClient
from node.crawling.typed_address import with_scheme
from node.errors import NothingToDo
from node.jobs.job_progress import MAX_ASKED
from node.jobs.job_wait import JobWait
from node.jobs.seed_files import read_seeds
from node.views.explain import explained_facts
from node.views.safe_text import plain

BATCH = 1000  # addresses in one request, as many as the node takes
LOOK_EVERY_S = 1.0
STILL_S = 10.0  # without news, before the line says what the crawler does
SHOWN = 20  # addresses of a dry run shown one by one


@dataclass
class _Answers:
    """Collects what the node said of all batches."""

    accepted: int = 0
    refused: list[Json] = field(default_factory=list)
    seeds: list[Json] = field(default_factory=list)
    behind: int = 0
    following: bool = False
    waits: str = ""

    def add(self, body: Json) -> None:
        self.accepted += body.get("accepted", 0)
        self.refused += body.get("refused") or []
        self.seeds += body.get("seeds") or []
        self.behind += body.get("behind", 0)
        self.following |= body.get("following", False)
        self.waits = body.get("waits") or self.waits


def crawl(arguments: Namespace) -> int:
    """Hand URLs to their owners; return 1 where one was refused."""
    if arguments.explain is not None:
        return _explain(arguments)
    if not (arguments.urls or arguments.files or arguments.sitemaps):
        raise NothingToDo("crawl", "names no address", "give a URL, --from FILE, --sitemap URL or --explain URL")
    if arguments.scope is None:
        is_one = len(arguments.urls) == 1 and not (arguments.files or arguments.sitemaps)
        arguments.scope = "host" if is_one else "whole"
    node, told = client(arguments, needs_token=True), _Answers()
    for urls, sitemaps in _batches(arguments):
        order = {"urls": urls, "sitemaps": sitemaps, "depth": arguments.depth, "scope": arguments.scope}
        order |= {"dry_run": arguments.dry_run, "every": arguments.every, "exclude": arguments.exclude}
        told.add(node.post("/api/v1/crawl", order))
    if not (told.accepted or told.refused):
        files = ", ".join(map(str, arguments.files))
        raise NothingToDo("--from", f"{files} holds no address", "give a text with one URL a line, or a WARC")
    if not arguments.json:
        _print_told(told, arguments)
    track = None
    if arguments.wait and not arguments.dry_run and told.seeds:
        track = _wait(node, JobWait(_followed(told.seeds, arguments.depth)), quiet=arguments.json)
    if arguments.json:
        counts = {"progress": {**track.counts, "waiting": track.waiting}} if track else {}
        body = {
            "accepted": told.accepted,
            "refused": told.refused,
            "seeds": told.seeds,
            "behind": told.behind,
            "following": told.following,
            "waits": told.waits,
        }
        print_json({**body, "dry_run": arguments.dry_run, **counts})
    has_failed = track is not None and track.counts["failed"] > 0 and not track.counts["fetched"]
    return 1 if told.refused or has_failed else 0


def _explain(arguments: Namespace) -> int:
    if arguments.urls or arguments.files or arguments.sitemaps:
        raise NothingToDo("--explain", "asks about its own URL alone", "leave the others out, or --explain")
    if arguments.exclude:
        raise NothingToDo("--explain", "asks about no job, so --exclude has no effect", "use --dry-run with both")
    body = client(arguments).get("/api/v1/explain", {"url": with_scheme(arguments.explain)})
    if arguments.json:
        print_json(body)
    else:
        print_facts(explained_facts(body, time.time()))
    return 0 if body["canonical"] else 1


def _batches(arguments: Namespace) -> Iterator[tuple[list[str], list[str]]]:
    """Yield (pages, sitemaps) to hand in together, at most BATCH of both."""
    pages = ((text, False) for text in _pages(arguments))
    sitemaps = ((text, True) for text in arguments.sitemaps)
    given: Iterator[tuple[str, bool]] = (entry for part in (pages, sitemaps) for entry in part)
    while batch := list(islice(given, BATCH)):
        yield [with_scheme(t) for t, is_map in batch if not is_map], [with_scheme(t) for t, is_map in batch if is_map]


def _pages(arguments: Namespace) -> Iterator[str]:
    yield from arguments.urls
    for file in arguments.files:
        yield from read_seeds(file)


def _print_told(told: _Answers, arguments: Namespace) -> None:
    for entry in told.refused:
        print(f"refused: {plain(entry.get('url', ''))}: {plain(entry.get('reason', ''))}", file=sys.stderr)
    if arguments.dry_run:
        print("\n".join(_preview(told)))
        return
    if told.accepted:
        scopes = list(dict.fromkeys(str(seed.get("scope", "")) for seed in told.seeds))
        within = f", within {_named(scopes)}" if any(scopes) and arguments.depth else ""
        count = counted(told.accepted, "address", "addresses")
        known = sum(bool(seed.get("known")) for seed in told.seeds)
        old = f" ({known:,} known already, {_behind(told)})" if known else ""
        again = f", and again {arguments.every}" if arguments.every else ""
        print(f"{count} added{again}{within}{old}; `dse-node jobs` shows the progress")
    if told.waits:
        print(plain(told.waits))


def _preview(told: _Answers) -> Iterator[str]:
    """Yield what a dry run found, one address a line."""
    for seed in told.seeds[:SHOWN]:
        what = "sitemap, its pages become seeds: " if seed.get("sitemap") else ""
        known = f" (known, so not fetched again: {plain(seed['known'])})" if seed.get("known") else ""
        within = f", within {plain(scope_words(seed['scope']))}" if seed.get("scope") else ""
        yield f"would be added: {what}{plain(seed.get('url', ''))}{within}{known}"
    if len(told.seeds) > SHOWN:
        yield f"… and {counted(len(told.seeds) - SHOWN, 'address', 'addresses')} more (all of them with --json)"
    count = sum(bool(seed.get("known")) for seed in told.seeds)
    known = f"{count:,} of them known already" + (f", {_behind(told)}" if count else "")
    handed = counted(told.accepted, "address", "addresses")
    yield f"dry run: {handed} would be added, {known}; {len(told.refused):,} refused; nothing was written"


def _behind(told: _Answers) -> str:
    """Say what comes of seeds that are known already."""
    if told.following:
        return "whose links are being followed"
    found = counted(told.behind, "new address", "new addresses")
    return f"with {found} behind" if told.behind else "without any effect"


def _followed(seeds: Iterable[Json], depth: int) -> Iterator[Json]:
    return ({"url": seed["url"], "depth": depth, "scope": seed.get("scope", "")} for seed in seeds)


def _wait(node: HttpClient, track: JobWait, *, quiet: bool) -> JobWait:
    """Wait until all has an outcome; show a line of progress on a terminal, one at the end in any case."""
    is_terminal = sys.stderr.isatty() and not quiet
    changed_at, before, why = time.monotonic(), "", ""
    try:
        while not track.is_done:
            began_at, asked = time.monotonic(), track.ask(MAX_ASKED)
            track.take(asked, node.post("/api/v1/crawl/progress", {"urls": asked})["urls"])
            line = track.line()
            is_news = line != before
            if is_news:
                changed_at, before, why = time.monotonic(), line, ""
            elif is_terminal and time.monotonic() - changed_at > STILL_S:
                why = f" (crawler here: {plain(node.get('/api/v1/status')['crawl']['reason'])})"
            if is_terminal:
                print(f"\r\x1b[K{line}{why}"[:200], end="", file=sys.stderr, flush=True)
            if not track.is_done and (track.waiting <= len(asked) or not is_news):
                time.sleep(pause_s(len(asked), track.waiting, time.monotonic() - began_at))
    finally:
        if is_terminal:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
        if not quiet:
            print("\n".join(_summary(track)))
    return track


def pause_s(asked: int, waiting: int, took_s: float) -> float:
    """Return the seconds between two questions without news: all that waits is asked for once in LOOK_EVERY_S at most,
    and half of the time the node has for other things."""
    return max(LOOK_EVERY_S * min(1.0, asked / max(1, waiting)), took_s)


def _summary(track: JobWait) -> Iterator[str]:
    if track.is_done:
        yield f"done: {track.line()}"
    else:
        yield f"not waited for any longer: {track.line()}; the network goes on with it"
    for reason, count in track.reasons.most_common(5):
        yield f"  {count:,} × {plain(reason)}"
    if track.is_cut:
        yield f"  only the first {track.followed:,} addresses were followed"


def _named(scopes: Sequence[str]) -> str:
    first = plain(scope_words(scopes[0]))
    return first if len(scopes) == 1 else f"{first} and {len(scopes) - 1:,} more"
