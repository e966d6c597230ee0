"""Asks a node for all pages of a reading, and keeps each answer in a spool; shows on standard error how far it is."""

import sys
import time
from collections.abc import Callable, Sequence

from node.cli.export_spool import ExportSpool
from node.cli.http_client import HttpClient

PAGES = 500  # in one answer, at most
LINE_EVERY_S = 10.0  # a line of progress where there is no terminal

Parameters = Sequence[tuple[str, str]]


def fetch_answers(
    node: HttpClient, spool: ExportSpool, readings: Callable[[], list[list[tuple[str, str]]]], each: Parameters
) -> None:
    """Ask the node for what a spool lacks: `readings` says what is to be read, where nothing was asked yet, and `each`
    is a part of every question. Raises NotRunning or RefusedByNode; what was answered until then is kept."""
    question, shown_at = spool.question or spool.begin(readings()), time.monotonic()
    while not spool.is_whole:
        wanted = [*question.readings[spool.reading], ("limit", PAGES), *each]
        body = node.get("/api/v1/documents", [*wanted, ("cursor", spool.cursor)] if spool.cursor else wanted)
        spool.add(body)
        line = f"{spool.pages:,} pages, {_share(spool):.0%} read"
        if sys.stderr.isatty():
            print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)
        elif time.monotonic() > shown_at + LINE_EVERY_S:
            shown_at = time.monotonic()
            print(line, file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print(file=sys.stderr)


def _share(spool: ExportSpool) -> float:
    """How much is read: by the key space, or of the results of a query."""
    readings = len(spool.question.readings) if spool.question else 1
    return (spool.reading + int(spool.cursor[:8] or "0", 16) / (1 << 32)) / max(1, readings)
