"""Fills a node as its owner would: `dse-node archive import` brings in archives of made-up pages."""

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path

from benchmarks.big_node.documents import Corpus, html_of, url_of
from benchmarks.cpu import pss_bytes, tree_s
from benchmarks.lone_node import LoneNode, dse_node
from node.captures.capture import Capture
from node.extras.archive.json_lines import write_json_lines

MOST, LEAST, ARCHIVES = 5_000, 100, 20  # pages of an archive, at most and at least; archives, where that allows it
ROUNDS = 10
AT_ONCE = 4  # imports: while one waits for the node, others write their archives
MADE_AT = 1_790_000_000.0
HEADERS = (("Content-Type", "text/html; charset=utf-8"), ("Server", "nginx"))
WITHIN_S = 1_800.0  # the index takes what an archive left over
LOOK_S = 0.5


@dataclass(frozen=True, slots=True)
class Stage:
    """One moment of a build: pages so far, seconds since the start by the wall and by the processors, bytes."""

    pages: int
    wall_s: float
    cpu_s: float
    pss: int
    store_bytes: int
    index_bytes: int


def build(node: LoneNode, pid: int, pages: int, of: Corpus, log: Path) -> list[Stage]:
    """Bring in what is missing of so many pages, in rounds, each of which ends once all is indexed.

    Return the stages of the way, the beginning first. Each is also a line of `log`.
    """
    size, there = max(LEAST, min(MOST, pages // ARCHIVES)), node.status()["documents"]
    if there >= pages:
        return []
    first = max(0, there - AT_ONCE * size)  # what was under way may have holes
    began, used, stages = time.monotonic(), tree_s(pid), list[Stage]()
    archives = [range(start, min(pages, start + size)) for start in range(first, pages, size)]
    a_round = -(-len(archives) // ROUNDS)
    for part in [[], *(archives[place : place + a_round] for place in range(0, len(archives), a_round))]:
        with ThreadPoolExecutor(AT_ONCE) as threads:
            list(threads.map(lambda each: bring_in(node, each, of), part))
        last = part[-1].stop if part else first
        until(partial(_has, node, last))
        sizes = (bytes_below(node.home / "store"), bytes_below(node.home / "index"))
        stages.append(Stage(last, time.monotonic() - began, tree_s(pid) - used, pss_bytes(pid), *sizes))
        with log.open("a") as out:
            print(json.dumps([getattr(stages[-1], name) for name in Stage.__slots__]), file=out, flush=True)
    return stages


def _has(node: LoneNode, pages: int) -> bool:
    return bool(node.status()["documents"] >= pages)


def bring_in(node: LoneNode, pages: range, of: Corpus) -> None:
    """Write an archive of pages, and import it."""
    archive = node.home.with_name(f"{pages.start}.jsonl")
    with archive.open("wb") as out:
        write_json_lines(captures(pages, of), out)
    dse_node("archive", "import", str(archive), "--data-dir", str(node.home))
    archive.unlink()


def captures(pages: range, of: Corpus) -> Iterator[Capture]:
    """Yield captures of pages."""
    for page in pages:
        content = html_of(page, of)
        digest = sha256(content).digest()
        yield Capture(url_of(page), MADE_AT + page, 200, HEADERS, content, digest, "text/html", "utf-8")


def until(holds: Callable[[], bool], within_s: float = WITHIN_S) -> None:
    """Wait until something holds."""
    began = time.monotonic()
    while not holds():
        if time.monotonic() - began > within_s:
            raise RuntimeError("the node does not get that far")
        time.sleep(LOOK_S)


def bytes_below(folder: Path) -> int:
    """Return the bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
