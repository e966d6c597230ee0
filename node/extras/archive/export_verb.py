"""Does the verb archive export: pages out of the whole network into a file that other programs read."""

import sys
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

import msgspec

from dht import Identity, counted
from node.captures.capture import Capture
from node.cli.api_client import ApiClient
from node.cli.commands.output import print_facts, print_json, write_whole
from node.cli.commands.target_node import client, data_dir
from node.cli.export_spool import ExportSpool, fetch_answers
from node.errors import NothingToDo
from node.extras.archive.archive_output import ExportSummary
from node.extras.archive.export_digest import ExportDigest, signed_digest
from node.extras.archive.json_lines import write_json_lines
from node.extras.archive.parquet import write_parquet
from node.extras.archive.spf import write_spf
from node.extras.archive.wacz import write_wacz
from node.extras.archive.warc_writer import write_warc
from node.views.safe_text import plain
from node.views.status import size

URL_CHARS = 4000  # of all addresses in one request
RESULTS = 100  # of a query, in one answer
WITH = (("content", "true"),)
WITH_LINKS = (*WITH, ("links", "true"))  # for programs that analyse the web's shape

Write = Callable[[Iterable[Capture], BinaryIO, float], ExportSummary]
PARQUET = ".parquet"
FORMATS: dict[str, Write] = {
    ".wacz": write_wacz,
    ".warc.gz": write_warc,
    ".jsonl": lambda captures, file, made_at: write_json_lines(captures, file),
    ".spf": write_spf,
    PARQUET: lambda captures, file, made_at: write_parquet(captures, file),
}


def export(arguments: Namespace) -> int:
    """Export pages; return 1 where a part of the network could not be read."""
    out = Path(arguments.out)
    write, asked = _format(out, is_parquet=arguments.parquet), _asked(arguments)
    until, node = _instant(asked.get("at", "")), client(arguments)
    spool = ExportSpool(out.with_name(f"{out.name}.pages.part"), asked)
    spool.read_again()
    try:
        fetch_answers(node, spool, lambda: _readings(node, spool), WITH_LINKS if write is FORMATS[PARQUET] else WITH)
    finally:
        if not spool.is_whole and spool.pages:
            print(f"{counted(spool.pages, 'page')} kept in {spool.path}: the same command goes on", file=sys.stderr)
    late, made_at = Counter[str](), time.time()
    summary = write_whole(out, lambda file: write(_older(spool.captures(), until, late), file, made_at))
    digest = _digest(arguments, spool, summary, late, made_at)
    body = msgspec.json.format(msgspec.json.encode(digest)) + b"\n"
    write_whole(out.with_name(f"{out.name}.digest.json"), lambda file: file.write(body))
    if not digest.unread:
        spool.path.unlink()
    _tell(arguments, digest)
    return 1 if digest.unread else 0


def _asked(arguments: Namespace) -> dict[str, str]:
    asked = {name: getattr(arguments, name) for name in ("site", "prefix", "query", "at") if getattr(arguments, name)}
    asked |= {"all_versions": "true"} if arguments.all_versions else {}
    if len(asked.keys() - {"at", "all_versions"}) > 1:
        raise NothingToDo("archive export", "takes one of --site, --prefix and --query", "export them one by one")
    return asked


def _digest(
    arguments: Namespace, spool: ExportSpool, summary: ExportSummary, late: Counter[str], made_at: float
) -> ExportDigest:
    """Say what was written, signed where the node's key lies on this machine."""
    digest = ExportDigest(
        file=Path(arguments.out).name,
        bytes=summary.file_bytes,
        sha256=summary.file_digest.hex(),
        captures=summary.captures,
        content_bytes=summary.content_bytes,
        left_out=dict(spool.left_out + late),
        unread=spool.unread,
        asked=spool.asked,
        made_at=made_at,
    )
    key = data_dir(arguments).identity
    return signed_digest(digest, Identity.load(key)) if key.exists() else digest


def _format(out: Path, *, is_parquet: bool) -> Write:
    ending = PARQUET if is_parquet else next(filter(out.name.endswith, FORMATS), "")
    if not ending:
        raise NothingToDo("OUT", f"{out.name!r} names no format", f"let it end with one of {', '.join(FORMATS)}")
    if not out.parent.is_dir():
        raise NothingToDo("OUT", f"{str(out)!r} lies in no folder that is there", "make the folder first")
    if ending == PARQUET and find_spec("pyarrow") is None:
        raise NothingToDo(out.name, "needs pyarrow, which is not installed", "add it: pipx inject dse-node pyarrow")
    return FORMATS[ending]


def _instant(text: str) -> float | None:
    """The last second of a date, such as 2026-11-24, or an instant of it."""
    if not text:
        return None
    try:
        at = datetime.fromisoformat(f"{text}T23:59:59" if len(text) == 10 else text)
    except ValueError:
        raise NothingToDo("--at", f"{text!r} is not a date", "write 2026-11-24, or 2026-11-24T10:30:00") from None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()


def _readings(node: ApiClient, spool: ExportSpool) -> list[list[tuple[str, str]]]:
    """Return the parameters of each request: for a part of the network, or for as many results of a query as fit."""
    asked = spool.asked
    which = [("all_versions", "true")] if "all_versions" in asked else _as_of(asked.get("at", ""))
    if "query" not in asked:
        return [[*which, *((name, asked[name]) for name in ("site", "prefix") if name in asked)]]
    readings: list[list[tuple[str, str]]] = []
    room = 0
    for url in dict.fromkeys(_results(node, asked["query"])):
        if len(quote(url, safe="")) > room:
            readings.append([*which])
            room = URL_CHARS
        readings[-1].append(("url", url))
        room -= len(quote(url, safe="")) + len("&url=")
    return readings


def _as_of(text: str) -> list[tuple[str, str]]:
    """The parameter that asks for the versions of a date."""
    until = _instant(text)
    return [] if until is None else [("at", datetime.fromtimestamp(until, UTC).strftime("%Y%m%d%H%M%S"))]


def _results(node: ApiClient, query: str) -> Iterator[str]:
    for answer in node.answers(query, limit=RESULTS, deadline_ms=20_000):
        if answer.partial:
            print("some slots did not answer the query: results may be missing", file=sys.stderr)
        yield from (result.url for result in answer.results)


def _older(captures: Iterable[Capture], until: float | None, late: Counter[str]) -> Iterator[Capture]:
    """The captures up to an instant; the others are counted."""
    for capture in captures:
        if until is None or capture.captured_at <= until:
            yield capture
        else:
            late["later"] += 1


def _tell(arguments: Namespace, digest: ExportDigest) -> None:
    if arguments.json:
        print_json(msgspec.to_builtins(digest))
        return
    left_out = ", ".join(f"{count:,} {reason}" for reason, count in sorted(digest.left_out.items()))
    facts = [
        ("file", f"{arguments.out}, {size(digest.bytes)}"),
        ("pages", f"{digest.captures:,}, {size(digest.content_bytes)} of contents"),
        ("left out", left_out or "none"),
        ("sha256", digest.sha256),
        ("signed by", digest.public_key or "nobody: the key of the node is not on this machine"),
    ]
    print_facts(facts)
    for part in digest.unread:
        print(f"not read: slot {part.get('slot')}: {plain(part.get('reason'))}", file=sys.stderr)
    if digest.unread:
        print("the same command asks for what was not read, and writes the file anew", file=sys.stderr)
