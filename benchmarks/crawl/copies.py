"""Measures where an owner's copy of a page spends the processor, stage by stage, in one process and without a network.

One package of real pages, with the URLs that they name, passes through all steps of an owner. It is opened, judged,
written, read back from the change log, cut into terms and indexed. Only the line itself is missing: TLS, HTTP and what
owners say to each other. Each stage is timed by the processor's clock of this process with all its threads, and the
least of some rounds counts, so that a busy machine hardly shows.
"""

import asyncio
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.figures import Row, row
from benchmarks.store.corpus import document_drafts, pages_of, signed, visit_drafts
from dht import Key, slot_of, system_clock
from index import DocumentChange, IndexConfig
from index.engine.forward_table import ForwardRow
from index.engine.index_files import IndexFiles, entry_of
from index.engine.protocol import IndexEntry
from index.query.collection_statistics import CELL_BITS
from index.text.field_terms import analyse
from index.text.forward_index import encode_forward
from node.crawling.change_follower import ChangeFollower
from node.crawling.store_change_feed import RecordRules, StoreChangeFeed
from node.extras.demo.sample_web import unpack_sample
from store import RecordCheck, RecordStore, StoreConfig
from store.record.package import open_package, pack

PAGES, EVERY = 64, 7  # pages of a package, from all hosts of the web
URLS = 7  # found beside each page: with four nodes a page makes some seven
ROUNDS, QUICK_ROUNDS = 12, 3
READ_COUNT = 128  # changes read at once (index/shard/index_follower.py)
STAGES = (
    "package opened", "known already?", "proofs and flaws", "written", "change log followed", "terms", "forward record",
    "words, tags, names", "tantivy", "table of forward records",
)  # fmt: skip


def rows(quick: bool, web: Path | None) -> list[Row]:
    """Return the rows: µs a page for each stage, and their sum."""
    with tempfile.TemporaryDirectory(prefix="dse-copies-") as name:
        folder = Path(name)
        if web is None:
            unpack_sample(web := folder / "sample")
        pages = [page for page in pages_of(web) if page.found.text][::EVERY][:PAGES]
        urls = visit_drafts(pages, URLS * len(pages))
        rounds, size = list[dict[str, float]](), 0
        for n in range(QUICK_ROUNDS if quick else ROUNDS):
            package = pack(signed([*document_drafts(pages, turn=n), *urls]))
            size = len(package)
            rounds.append(asyncio.run(_Copy(folder / f"round-{n}").take(package, len(pages))))
    least = {stage: min(us[stage] for us in rounds) for stage in STAGES}
    where = f"{len(pages)} pages, {URLS} URLs beside each, the least of {len(rounds)} rounds"
    return [
        *(row(f"{stage}, a page ({where})", [us], "µs") for stage, us in least.items()),
        row("all of these, a page", [sum(least.values())], "µs"),
        row("on the line, a page", [size / len(pages)], "B"),
    ]


class _Copy:
    """One owner's disk and index, new and empty."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._us = dict.fromkeys(STAGES, 0.0)

    async def take(self, package: bytes, pages: int) -> dict[str, float]:
        """Take a package of so many pages as owners do; return what each stage took, in µs a page."""
        self._folder.mkdir()
        store = RecordStore.open(self._folder / "store", StoreConfig(), system_clock)
        index = IndexFiles(IndexConfig(), self._folder / "index")
        try:
            with self._stage("package opened"):
                opened = open_package(package)
            with self._stage("known already?"):
                news = [record for record in opened if not store.knows(record)]
            with self._stage("proofs and flaws"):
                flaws = RecordCheck(RecordRules()).flaws(news)
            with self._stage("written"):
                await store.put([record for record, flaw in zip(news, flaws, strict=True) if not flaw.reason])
            with self._stage("change log followed"):
                changes = await _followed(StoreChangeFeed(ChangeFollower(store), store))
            self._index(index, changes)
        finally:
            index.close()
            store.close()
        return {stage: us / pages for stage, us in self._us.items()}

    def _index(self, index: IndexFiles, changes: Sequence[DocumentChange]) -> None:
        """Index texts as `IndexFiles.apply` does."""
        rows, entries = list[ForwardRow](), list[IndexEntry]()
        for number, text in enumerate((change.text for change in changes if change.text), 1):
            cell = slot_of(text.key, CELL_BITS)
            with self._stage("terms"):
                fields = analyse(text)
            with self._stage("forward record"):
                record = encode_forward(text, fields)
            rows.append(ForwardRow(number, text.id, Key(text.key), cell, text.version, record))
            with self._stage("words, tags, names"):
                entries.append(entry_of(number, cell, text, fields))
        with self._stage("tantivy"):
            index.engine.add(entries)
            index.engine.commit()
        with self._stage("table of forward records"):
            index.table.commit([], rows, {}, b"")

    @contextmanager
    def _stage(self, name: str) -> Iterator[None]:
        began = time.process_time()
        yield
        self._us[name] += (time.process_time() - began) * 1e6


async def _followed(feed: StoreChangeFeed) -> list[DocumentChange]:
    found, cursor = list[DocumentChange](), b""
    while True:
        changes, after = await feed.changes(cursor, READ_COUNT)
        if after == cursor:
            return found
        found += changes
        cursor = after
