"""A process that has just begun: how long its first query takes, and what memory it holds then and later.

`python -m benchmarks.query.cold_start FOLDER ENGINE` opens the index in FOLDER beside the file of its documents, asks
the queries that stand on standard input, one a line, and prints what it saw as JSON.
"""

import json
import pickle
import sqlite3
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.figures import ROOT, Row, row
from benchmarks.query.goals import FIRST_QUERY_MS, OPEN_MB, USED_MB
from benchmarks.query.timing import run_as_node
from benchmarks.search.figure import left_out
from benchmarks.search.one_node import node_of
from dht import DocumentId, Key
from index import Text

ASKED = 800  # queries, after which memory is looked at again
DOCUMENTS = "documents.sqlite"
_MEMORY = Path("/proc/self/smaps_rollup")


def cold_rows(folder: Path, texts: Sequence[Text], queries: Sequence[str], engine: str, has_goals: bool) -> list[Row]:
    """Return the rows of a process that opens the index in a folder, which holds these texts."""
    write_documents(folder / DOCUMENTS, texts)
    asked = [queries[number % len(queries)] for number in range(ASKED)] if queries else []
    command = [sys.executable, "-m", "benchmarks.query.cold_start", str(folder), engine]
    ended = subprocess.run(command, input="\n".join(asked), capture_output=True, text=True, cwd=ROOT)
    if ended.returncode:
        return [left_out("cold start", ended.stderr.strip().rpartition("\n")[2])]
    found = json.loads(ended.stdout)
    goals = (FIRST_QUERY_MS, OPEN_MB, USED_MB) if has_goals else (None,) * 3
    out = [row("opening the index and the first query", [found["first_ms"]], "ms", goal=goals[0])]
    if found["open_mb"] is not None:
        out.append(row("private memory, what opening adds", [found["open_mb"]], "MB", goal=goals[1]))
        out.append(row(f"the same after {len(asked)} queries", [found["used_mb"]], "MB", goal=goals[2]))
    return out


def write_documents(file: Path, texts: Sequence[Text]) -> None:
    """Write documents so that each can be read by itself, as a store has them."""
    with sqlite3.connect(file) as table:
        table.execute("CREATE TABLE document (id BLOB PRIMARY KEY, text BLOB)")
        table.executemany("INSERT INTO document VALUES (?, ?)", ((text.id, pickle.dumps(text)) for text in texts))
    table.close()


async def cold_start(folder: Path, engine: str, queries: Sequence[str]) -> dict[str, float | None]:
    """Open an index and ask it; memory is what is added to that of a process that has imported everything."""
    table = sqlite3.connect(folder / DOCUMENTS)

    async def read(wanted: Sequence[tuple[DocumentId, Key]]) -> Mapping[DocumentId, Text | None]:
        found = (table.execute("SELECT text FROM document WHERE id = ?", (id_,)).fetchone() for id_, _ in wanted)
        return {id_: pickle.loads(row[0]) if row else None for (id_, _), row in zip(wanted, found, strict=True)}

    before, began = private_mb(), time.perf_counter()
    async with node_of([], engine, folder, read) as node:
        await node.follow()
        opened = private_mb()
        await node.ask(queries[0] if queries else "")
        first_ms = (time.perf_counter() - began) * 1000
        for words in queries[1:]:
            await node.ask(words)
        used = private_mb()
    table.close()
    if before is None or opened is None or used is None:
        return {"first_ms": first_ms, "open_mb": None, "used_mb": None}
    return {"first_ms": first_ms, "open_mb": opened - before, "used_mb": used - before}


def private_mb() -> float | None:
    """Return the memory that is this process's alone and no file's; None where the system does not tell."""
    if not _MEMORY.is_file():
        return None
    lines = (line.split() for line in _MEMORY.read_text().splitlines())
    return next(int(line[1]) / 1000 for line in lines if line[0] == "Anonymous:")


if __name__ == "__main__":
    asked = cold_start(Path(sys.argv[1]), sys.argv[2], sys.stdin.read().splitlines())
    print(json.dumps(run_as_node(asked)))
