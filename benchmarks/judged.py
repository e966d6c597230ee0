"""Measures how good the order is, on judged sets: nDCG@10 and hit rate of the real path, one node, all words joined by
OR.

A set is a directory with docs.jsonl.gz and queries.jsonl.gz ({"id", "text"} a line) and qrels.tsv (query, document,
relevance). `python -m benchmarks.judged --dir DIR [--json]`: one row a measure; also documents/s and ms a query.
"""

import argparse
import asyncio
import gzip
import json
import math
import random
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dht import DocumentId, Key, NodeId, Now, Slot, Strategy, document_id, placement_key
from index import DocumentChange, IndexConfig, LocalIndex, Searcher, SearchRequest, Text
from index.query.parser import MAX_CHARS, MAX_LEAVES
from index.text.analyzer import terms

ME = NodeId(b"\1" * 20)
STRATEGY = Strategy(network="00", version=1, effective_at=0, expires_at=1, next_at=1, slot_bits=4)
Relevance = Mapping[str, Mapping[str, int]]


@dataclass
class Alone:
    """The network of one node, and its store: Overlay, View and ChangeFeed in one."""

    texts: Sequence[Text]
    handlers: dict = field(default_factory=dict)
    node_id: NodeId = ME
    strategy: Strategy = STRATEGY

    @property
    def view(self) -> "Alone":
        return self

    def ready(self, slot: Slot) -> tuple[NodeId, ...]:
        return (ME,)

    def serve(self, message, handler) -> None:
        self.handlers[message] = handler

    async def ask(self, peer, message, answer, *, timeout_s):
        return await self.handlers[type(message)](ME, message)

    def knows(self, cursor: bytes) -> bool:
        return True

    def lag(self, cursor: bytes) -> int:
        return len(self.texts) - int(cursor or b"0")

    async def wait(self, cursor: bytes) -> None:
        await asyncio.Event().wait()  # nothing comes after the set

    async def changes(self, cursor: bytes, limit: int) -> tuple[Sequence[DocumentChange], bytes]:
        start = int(cursor or b"0")
        found = self.texts[start : start + limit]
        return [DocumentChange(text.id, text) for text in found], str(start + len(found)).encode() if found else cursor


def clock() -> Now:
    """Return the time."""
    return Now(time.time(), time.monotonic())


def lines(path: Path) -> dict[str, str]:
    """Read texts by id."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return {each["id"]: each["text"] for each in map(json.loads, file)}


def judgements(path: Path) -> Relevance:
    """Read the relevance of documents by query."""
    found: dict[str, dict[str, int]] = {}
    for line in path.read_text().splitlines():
        query, document, grade = line.split("\t")
        found.setdefault(query, {})[document] = int(grade)
    return found


def as_query(text: str) -> str:
    """Make every word an alternative, as far as a query may go; typed as it is, all words would have to occur."""
    found = list(dict.fromkeys(terms(text)))[:MAX_LEAVES]
    while len(query := " OR ".join(f'"{term}"' for term in found)) > MAX_CHARS:
        found.pop()
    return query


def ndcg(got: Sequence[str], judged: Mapping[str, int], k: int = 10) -> float:
    """Return the normalized discounted cumulative gain of the first k (Järvelin & Kekäläinen 2002)."""

    def gain(grades: Sequence[int]) -> float:
        return sum((2 ** max(grade, 0) - 1) / math.log2(rank + 2) for rank, grade in enumerate(grades[:k]))

    best = gain(sorted(judged.values(), reverse=True))
    return gain([judged.get(each, 0) for each in got]) / best if best else 0.0


async def measure(directory: Path, engine: str, typed: bool) -> list[dict]:
    """Index a judged set, ask its queries and return the rows."""
    documents = lines(directory / "docs.jsonl.gz")
    queries, relevance = lines(directory / "queries.jsonl.gz"), judgements(directory / "qrels.tsv")
    texts = []
    for name, body in documents.items():
        # The address says nothing, so that only the text is judged.
        url = f"http://{random.Random(name).getrandbits(40):x}.invalid/{len(texts)}"
        texts.append(Text(document_id(url), placement_key(url), name.encode().ljust(32), url, "", (), body, "", 0.0))
    named = {text.id.hex(): name for text, name in zip(texts, documents, strict=True)}
    by_id = {text.id: text for text in texts}

    async def read(wanted: Sequence[tuple[DocumentId, Key]]) -> Mapping[DocumentId, Text | None]:
        return {id_: by_id.get(id_) for id_, _ in wanted}

    with tempfile.TemporaryDirectory() as path:
        alone, config = Alone(texts), IndexConfig(engine=engine)
        local = LocalIndex.open(config, Path(path), alone, alone)
        began = time.perf_counter()
        while await local.step():
            pass
        built = time.perf_counter() - began
        searcher = Searcher(config, alone, local, read, clock, random.Random(1))
        sums, took, exact, asked = {"ndcg@10": 0.0, "hit@1": 0.0, "hit@10": 0.0}, [], 0, 0
        for name, text in queries.items():
            if name not in relevance:
                continue
            answer = await searcher.search(SearchRequest(text if typed else as_query(text), deadline_ms=20_000))
            got = [named[each["id"]] for each in answer["results"]]
            asked, exact = asked + 1, exact + answer["exact"]
            took.append(answer["took_ms"])
            sums["ndcg@10"] += ndcg(got, relevance[name])
            sums["hit@1"] += any(relevance[name].get(each, 0) > 0 for each in got[:1])
            sums["hit@10"] += any(relevance[name].get(each, 0) > 0 for each in got)
        await local.close()
    took.sort()
    rows = [{"what": what, "value": round(value / asked, 4)} for what, value in sums.items()]
    rows.append({"what": "exact", "value": round(exact / asked, 4)})
    rows.append({"what": "indexed documents/s", "value": round(len(texts) / built, 1)})
    rows.append({"what": "ms a query, p50", "value": took[len(took) // 2]})
    rows.append({"what": "ms a query, p95", "value": took[len(took) * 95 // 100]})
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dir", type=Path, required=True, help="directory of the judged set")
    parser.add_argument("--engine", default="tantivy", choices=["tantivy", "whoosh", "memory"])
    parser.add_argument("--typed", action="store_true", help="queries as they stand: all words must occur")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    rows = asyncio.run(measure(options.dir, options.engine, options.typed))
    if options.json:
        json.dump({"name": "judged", "set": options.dir.name, "engine": options.engine, "rows": rows}, sys.stdout)
    else:
        for row in rows:
            print(f"{row['what']:24} {row['value']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
