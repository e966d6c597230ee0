"""Does the verb archive import: pages out of files that other programs wrote into the network, by way of the node.

A file is read piece by piece, and its pages go to the node in requests of bounded size. A page
that is brought twice is no news, so an interrupted command is given again.
"""

import sys
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import msgspec
from msgspec.structs import replace

from dht import counted
from node.captures.capture import Capture
from node.captures.imported_page import kept_request
from node.cli.commands.output import print_facts, print_json
from node.cli.commands.target_node import client
from node.cli.http_client import HttpClient
from node.errors import NothingToDo, RefusedByNode
from node.extras.archive.archive_files import Read, reader_of
from node.extras.archive.read_limits import DEFAULT_LIMITS, ArchiveFlaw
from node.views.safe_text import plain

BATCH, BATCH_BYTES = 200, 4 << 20  # pages in one request, and of their contents: some seconds of parsing
MOST_BYTES = 16 << 20  # of a page: more does not fit into a request
PAUSES_S = (1.0, 5.0, 15.0, 30.0)  # before what the network does not take now is brought again, while nothing is taken
LINE_EVERY_S = 10.0  # a line of progress where there is no terminal
SHOWN = 20  # flaws named one by one
REASONS = 100  # counted apart; archives of strangers may give any number
FOR_NOW = (502, 503, 504)  # statuses by which the node says: later
FORMATS = "WARC (.gz), WACZ, JSON lines (.gz), SPF, .webop or .webo"


@dataclass
class ImportCounts:
    """Counts what became of the pages of all files."""

    states: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    flaws: list[ArchiveFlaw] = field(default_factory=list)
    flaw_count: int = 0
    why_stopped: str = ""

    def note(self, state: str, reason: str) -> None:
        """Count a page."""
        self.states[state] += 1
        if state == "refused":
            self.refused[reason if reason in self.refused or len(self.refused) < REASONS else "other reasons"] += 1

    def note_flaw(self, flaw: ArchiveFlaw) -> None:
        """Count what cannot be read."""
        self.flaw_count += 1
        if self.flaw_count <= SHOWN:
            self.flaws.append(flaw)

    @property
    def pages(self) -> int:
        """How many pages have an outcome."""
        return self.states.total()


class Stopped(Exception):
    """Ends an import that the network takes no more of now."""


class Progress:
    """Shows how far an import is: on a terminal in one line, elsewhere a line now and then."""

    def __init__(self, told: ImportCounts, *, quiet: bool) -> None:
        self._told, self._quiet = told, quiet
        self._is_terminal = sys.stderr.isatty()
        self._shown_at = time.monotonic()

    def show(self, path: Path, share: float, note: str = "") -> None:
        """Show the place in a file, and why nothing moves, where nothing does."""
        pages = counted(self._told.pages, "page")
        line = f"{plain(path.name)}: {share:.0%} read; {pages}{': ' if note else ''}{plain(note)}"
        if self._quiet:
            return
        if self._is_terminal:
            print(f"\r\x1b[K{line[:160]}", end="", file=sys.stderr, flush=True)
        elif note or time.monotonic() > self._shown_at + LINE_EVERY_S:
            self._shown_at = time.monotonic()
            print(line, file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Leave an empty line on a terminal."""
        if self._is_terminal and not self._quiet:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def take(arguments: Namespace) -> int:
    """Import files; return 1 where one could not be read whole, or the network takes no more now."""
    node, told = client(arguments, needs_token=True), ImportCounts()
    progress = Progress(told, quiet=arguments.json)
    with ExitStack() as opened:
        files = [(path, *_open(opened, path)) for path in arguments.files]
        try:
            for path, file, read in files:
                _take_file(node, path, file, read, told, progress, arguments)
        except Stopped as stopped:
            told.why_stopped = str(stopped)
        finally:
            progress.clear()
            if told.pages or told.flaw_count or told.why_stopped:
                _tell(arguments, told)
    if not (told.pages or told.flaw_count or told.why_stopped):
        raise NothingToDo("archive import", "finds no page in these files", f"give {FORMATS}")
    return 1 if told.flaw_count or told.why_stopped else 0


def _open(opened: ExitStack, path: Path) -> tuple[BinaryIO, Read]:
    try:
        file = opened.enter_context(path.open("rb"))
        read = reader_of(file)
    except OSError as error:
        raise NothingToDo(
            str(path), f"cannot be read ({(error.strerror or str(error)).lower()})", "give another"
        ) from None
    if read is None:
        raise NothingToDo(str(path), "is not a known archive", f"give {FORMATS}")
    return file, read


def _take_file(
    node: HttpClient,
    path: Path,
    file: BinaryIO,
    read: Read,
    told: ImportCounts,
    progress: Progress,
    arguments: Namespace,
) -> None:
    size = max(1, path.stat().st_size)
    for batch in _batches(read(file, DEFAULT_LIMITS), told):
        share = min(1.0, file.tell() / size)
        progress.show(path, share)
        left: Sequence[Capture] = batch
        pauses = iter(PAUSES_S)
        while left:
            before = len(left)
            left, why = _bring(node, path, left, told, arguments)
            pauses = iter(PAUSES_S) if len(left) < before else pauses
            if left:
                pause_s = next(pauses, None)
                if pause_s is None:
                    raise Stopped(why)
                progress.show(path, share, f"{why}; trying again in {pause_s:.0f} s")
                time.sleep(pause_s)


def _bring(
    node: HttpClient, path: Path, pages: Sequence[Capture], told: ImportCounts, arguments: Namespace
) -> tuple[list[Capture], str]:
    """Bring pages, and return those that are not taken now, with the reason of one."""
    order = {"file": path.name[:255], "pages": pages, "dry_run": arguments.dry_run, "crawl": arguments.crawl}
    try:
        said = node.post("/api/v1/import", msgspec.json.encode(order))["pages"]
    except RefusedByNode as error:
        if error.status not in FOR_NOW:
            raise
        return list(pages), str(error)
    left, why = list[Capture](), ""
    for page, each in zip(pages, said, strict=True):
        if each["state"] == "later":
            left.append(page)
            why = str(each["reason"])
        else:
            told.note(str(each["state"]), str(each["reason"]))
    return left, why


def _batches(items: Iterable[Capture | ArchiveFlaw], told: ImportCounts) -> Iterator[list[Capture]]:
    """Yield so many pages as one request takes, without what the node finds out itself."""
    batch, size = list[Capture](), 0
    for item in items:
        if isinstance(item, ArchiveFlaw):
            told.note_flaw(item)
        elif len(item.content) > MOST_BYTES:
            told.note("refused", f"size: larger than {MOST_BYTES} bytes")
        else:
            if batch and (len(batch) == BATCH or size + len(item.content) > BATCH_BYTES):
                yield batch
                batch, size = [], 0
            batch.append(replace(item, text="", title="", request=kept_request(item)))
            size += len(item.content)
    if batch:
        yield batch


def _tell(arguments: Namespace, told: ImportCounts) -> None:
    counts = {name: told.states[name] for name in ("taken", "known", "older")}
    if arguments.json:
        body = {**counts, "refused": dict(told.refused), "flaws": told.flaw_count, "dry_run": arguments.dry_run}
        print_json({**body, "flawed": msgspec.to_builtins(told.flaws), "stopped": told.why_stopped})
        return
    facts = [
        ("would be taken" if arguments.dry_run else "taken", counted(counts["taken"], "page")),
        ("here already", f"{counts['known']:,}"),
        ("older than here", f"{counts['older']:,}"),
        ("refused", f"{told.refused.total():,}"),
        *((f"  {plain(reason)}", f"{count:,}") for reason, count in told.refused.most_common()),
        ("not readable", f"{told.flaw_count:,} records"),
    ]
    print_facts(facts)
    for flaw in told.flaws:
        print(f"at byte {flaw.place:,}: {plain(flaw.reason)} {plain(flaw.url)}".rstrip(), file=sys.stderr)
    if told.flaw_count > SHOWN:
        print(f"and {told.flaw_count - SHOWN:,} more", file=sys.stderr)
    if told.why_stopped:
        print(f"stopped: {plain(told.why_stopped)}\nthe same command goes on later", file=sys.stderr)
