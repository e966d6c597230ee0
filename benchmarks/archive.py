"""Measures how fast pages leave as an archive and are read back, in each format, and what warcio makes of the same.

    python -m benchmarks.archive [--quick] [--json]

The pages are those of the bundled sample web, again and again under other names. Times are those of the processor, in
one process, from memory to memory: what the network, the disk and the parsing of pages take comes on top. The last row
has all but the network and the disk: parser, store and index of one simulated node.
"""

import io
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from hashlib import sha256
from itertools import cycle, islice
from pathlib import Path
from typing import IO

from benchmarks.figures import Row, parser_for, row, show
from node.captures.capture import Capture
from node.extras.archive.archive_output import ExportSummary
from node.extras.archive.json_lines import read_json_lines, write_json_lines
from node.extras.archive.read_limits import ArchiveFlaw
from node.extras.archive.spf import read_spf, write_spf
from node.extras.archive.wacz import read_wacz, write_wacz
from node.extras.archive.warc_reader import read_warc
from node.extras.archive.warc_writer import write_warc
from node.extras.demo.sample_web import unpack_sample
from node.extras.simulation.world import World, WorldPlan, simulate

MADE_AT = 1_750_000_000.0
PAGES, QUICK_PAGES = 10_000, 2_000
ROUNDS = 3
NODE_PAGES, BATCH = 2_000, 200  # 10,000 take five times as long: each page costs the same
PLAN = WorldPlan(hosts=1)
HEADERS = (
    ("Server", "nginx"), ("Date", "Tue, 14 Nov 2023 22:13:20 GMT"), ("Content-Type", "text/html; charset=utf-8"),
    ("Last-Modified", "Mon, 13 Nov 2023 22:13:20 GMT"), ("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding"),
)  # fmt: skip
Write = Callable[[list[Capture], IO[bytes]], ExportSummary]
Read = Callable[[IO[bytes]], Iterator[Capture | ArchiveFlaw]]
FORMATS: dict[str, tuple[Write, Read]] = {
    "WARC": (lambda pages, out: write_warc(pages, out, MADE_AT), read_warc),
    "WACZ": (lambda pages, out: write_wacz(pages, out, MADE_AT), read_wacz),
    "JSON lines": (write_json_lines, read_json_lines),
    "SPF": (lambda pages, out: write_spf(pages, out, MADE_AT), read_spf),
}


def captures(count: int) -> list[Capture]:
    """Return so many captures of the sample web's pages."""
    with tempfile.TemporaryDirectory() as folder:
        unpack_sample(Path(folder))
        found = [
            (path.relative_to(folder).as_posix(), path.read_bytes()) for path in sorted(Path(folder).rglob("*.html"))
        ]
    return [
        Capture(
            f"http://{name}?n={n}", MADE_AT - n, 200, HEADERS, content, sha256(content).digest(), "text/html", "utf-8",
            title=name, expires_at=MADE_AT + 86_400 * (n % 60),
        )
        for n, (name, content) in enumerate(islice(cycle(found), count))
    ]  # fmt: skip


def measure(count: int) -> list[Row]:
    """Measure each format on so many pages."""
    pages = captures(count)
    wanted = sorted((page.url, page.content_digest) for page in pages)
    about = f"{count:,} pages of {sum(len(page.content) for page in pages) / count / 1000:.1f} kB"
    rows: list[Row] = []
    for name, (write, read) in FORMATS.items():
        sizes, exports, imports, lost = [], [], [], 0
        for _ in range(ROUNDS):
            out = io.BytesIO()
            exports.append(count / _cpu_s(partial(write, pages, out)))
            sizes.append(len(out.getvalue()) / count)
            found: list[Capture | ArchiveFlaw] = []
            imports.append(count / _cpu_s(partial(_read_all, read, out.getvalue(), found)))
            got = sorted((page.url, page.content_digest) for page in found if isinstance(page, Capture))
            lost += len(set(wanted) ^ set(got)) + len(found) - len(got)
        peer = _warcio(pages) if name == "WARC" else (None, None)
        rows += [
            row(f"{name}: export, {about}", exports, "1/s", goal=2_000, at_least=True, peer=peer[0]),
            row(f"{name}: import of the same", imports, "1/s", goal=1_000, at_least=True, peer=peer[1]),
            row(f"{name}: pages that differ by digest", [lost], "pages", goal=0),
            row(f"{name}: bytes of a page", sizes, "bytes"),
        ]
    rows.append(row(f"one node takes {NODE_PAGES:,} such pages: parsed, stored, indexed", [_node_takes()], "1/s"))
    return rows


def _node_takes() -> float:
    """Return how many pages a second of processor time one node takes."""
    pages, took = captures(NODE_PAGES), list[float]()

    async def scenario(world: World) -> None:
        (node,) = await world.add(1)
        await world.until(lambda: len(node.node_core.store.replicator.ready_slots()) == 1 << PLAN.slot_bits, 60.0)
        began = time.process_time()
        for first in range(0, NODE_PAGES, BATCH):
            part = pages[first : first + BATCH]
            states = await node.node_core.jobs.page_import.take(part, "sample.warc.gz", is_dry=False, crawls=False)
            assert all(each.state == "taken" for each in states), states
        await world.until(lambda: node.node_core.index.local.documents >= NODE_PAGES, 600.0)
        took.append(time.process_time() - began)

    simulate(scenario, PLAN)
    return NODE_PAGES / took[0]


def _read_all(read: Read, data: bytes, found: list[Capture | ArchiveFlaw]) -> None:
    found.extend(read(io.BytesIO(data)))


def _warcio(pages: list[Capture]) -> tuple[list[float] | str, list[float] | str]:
    """Return how many pages a second warcio writes and reads, or why not."""
    try:
        from warcio.archiveiterator import ArchiveIterator
        from warcio.statusandheaders import StatusAndHeaders
        from warcio.warcwriter import WARCWriter
    except ImportError:
        return "warcio is not installed", "warcio is not installed"
    out = io.BytesIO()

    def write() -> None:
        writer = WARCWriter(out, gzip=True)
        for page in pages:
            head = StatusAndHeaders("200 OK", list(page.headers[:4]), protocol="HTTP/1.1")
            content = io.BytesIO(page.content)
            writer.write_record(writer.create_warc_record(page.url, "response", content, http_headers=head))

    def read() -> None:
        for record in ArchiveIterator(io.BytesIO(out.getvalue())):
            sha256(record.content_stream().read()).digest()

    return [len(pages) / _cpu_s(write)], [len(pages) / _cpu_s(read)]


def _cpu_s(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 0 whether goals are met or not."""
    options = parser_for(__doc__.splitlines()[0]).parse_args(arguments)
    show("archive", measure(QUICK_PAGES if options.quick else PAGES), ["isal", "warcio"], as_json=options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
