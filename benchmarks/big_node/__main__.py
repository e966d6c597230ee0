"""Fills one node with many documents and asks it: `python -m benchmarks.big_node --documents N [--corpora DIR]`.

The node is a process on loopback, a network of one. Its documents are made up of sentences of the bundled sample web,
and of the judged sets in --corpora. With --folder the node stays there, and the next run goes on with it. A million
documents take half an hour of one core's time.
"""

import sys
import tempfile
import tomllib
from argparse import Namespace
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from random import Random

from benchmarks.big_node import asking, goals
from benchmarks.big_node.building import Stage, build, until
from benchmarks.big_node.documents import Corpus, corpus, texts_of
from benchmarks.figures import Row, parser_for, row, show
from benchmarks.lone_node import LoneNode, new_node
from benchmarks.store.engines import drop_from_memory
from node.extras.demo.sample_web import unpack_sample

DOCUMENTS, QUICK_DOCUMENTS = 1_000_000, 20_000
QUERIES, QUICK_QUERIES = 300, 60
QUOTA_BYTES = 60 << 30
STOPS_WITHIN_S = 120.0


def rows(folder: Path, documents: int, of: Corpus, queries: int) -> list[Row]:
    """Build a node in a folder, or go on with the one that is there, and ask it after a restart."""
    home = folder / "node"
    node = _found(home) if home.exists() else new_node(folder, quota_bytes=str(QUOTA_BYTES))
    with node.running(STOPS_WITHIN_S) as pid:
        until(node.shows_page)
        until(lambda: node.status()["settled"])
        stages = build(node, pid, documents, of, folder / "stages.jsonl")
    drop_from_memory(home)
    chance = Random(1)
    first, *asked = asking.queries(of, documents, 1 + 2 * queries, chance)
    with node.running(STOPS_WITHIN_S) as pid:
        out = [*build_rows(stages), *asking.start_rows(node, pid, first)]
        out += asking.answer_rows(node, pid, asked[:queries], asked[queries:])
        return [row("documents", [documents], ""), *out, *asking.page_rows(node)]


def build_rows(stages: Sequence[Stage]) -> list[Row]:
    """Return the rows of a build; none where all documents were there."""
    if len(stages) < 2:
        return []
    last, part = stages[-1], max(1, len(stages) // 5)
    pages = last.pages - stages[0].pages
    slower = _cpu_ms(stages[-1 - part], last) / _cpu_ms(stages[0], stages[part])
    return [
        row("pages stored and indexed by the wall", [pages / (last.wall_s - stages[0].wall_s)], "1/s"),
        row("CPU of the node, a page", [_cpu_ms(stages[0], last)], "ms", goal=goals.BUILD_CPU_MS),
        row("the same, the last fifth over the first", [slower], "", goal=goals.SLOWER),
        row("store on disk, a page", [last.store_bytes / last.pages / 1000], "kB"),
        row("index on disk, a page", [last.index_bytes / last.pages / 1000], "kB"),
        row("both", [(last.store_bytes + last.index_bytes) / last.pages / 1000], "kB", goal=goals.DISK_KB),
        row("PSS while pages come, most", [max(stage.pss for stage in stages) / 1e6], "MB", goal=goals.PSS_MB),
    ]


def _cpu_ms(first: Stage, last: Stage) -> float:
    return (last.cpu_s - first.cpu_s) * 1000 / max(1, last.pages - first.pages)


def _found(home: Path) -> LoneNode:
    return LoneNode(home, tomllib.loads((home / "config.toml").read_text())["node"]["web_port"])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 0 whether goals are met or not."""
    parser = parser_for("a node with very many documents")
    parser.add_argument(
        "--documents", type=int, metavar="N", help=f"default {DOCUMENTS:,}, with --quick {QUICK_DOCUMENTS:,}"
    )
    parser.add_argument("--corpora", type=Path, metavar="DIR", help="judged sets, more sentences to make pages of")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="where the node stays, to be gone on with")
    chosen: Namespace = parser.parse_args(arguments)
    count = chosen.documents or (QUICK_DOCUMENTS if chosen.quick else DOCUMENTS)
    with ExitStack() as opened:
        folder, web = (Path(opened.enter_context(tempfile.TemporaryDirectory())) for _ in range(2))
        unpack_sample(web)
        of = corpus(texts_of(web, chosen.corpora))
        if chosen.folder:
            chosen.folder.mkdir(parents=True, exist_ok=True)
        found = rows(chosen.folder or folder, count, of, QUICK_QUERIES if chosen.quick else QUERIES)
    show("big node", found, ("tantivy", "zstandard"), as_json=chosen.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
