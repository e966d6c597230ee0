"""Measures where an owner's copy of a page spends the processor, stage by stage, in one process and without a network.

One package of real pages, with the URLs that they name beside them, goes through what an owner does with it: opened,
judged, written, read back from the change log, cut into terms, indexed. Only the line itself is missing: TLS, HTTP and
what owners say to each other. Each stage is timed by the processor's clock of this process with all its threads, and
the least of some rounds counts, so that a busy machine hardly shows. By turns the owner analyses the pages itself, and
takes the terms that their author sent along.
"""

import asyncio
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path

from msgspec.structs import astuple, replace

from benchmarks.figures import Row, row
from benchmarks.search.web_pages import WebPage
from benchmarks.store.corpus import SIGNER, document_drafts, pages_of, signed, visit_drafts
from crawl import ParseTask
from dht import Key, slot_of, system_clock
from index import DocumentChange, IndexConfig
from index.engine.forward_table import ForwardRow, TakenTerms
from index.engine.index_files import IndexFiles, entry_of
from index.engine.protocol import IndexEntry
from index.query.collection_statistics import CELL_BITS
from index.text.analyzer_rules import NEWEST_ANALYZER
from index.text.field_terms import analyse
from index.text.forward_index import encode_forward
from index.text.page_terms import PageTerms, open_terms
from index.text.surfaces import words_of
from node.crawling.page_analysis import analyse_page
from node.crawling.record_rules import RecordRules
from node.crawling.store_change_feed import StoreChangeFeed
from node.extras.demo.sample_web import unpack_sample
from store import (
    Draft,
    DraftTerms,
    RecordCheck,
    RecordStore,
    StoreConfig,
    decode_document,
    open_package,
    pack,
)
from store.record.page_terms import open_beside, pack_beside, sign_terms, sound_terms
from store.replication.terms_shelf import TermsShelf

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
        drafts = {is_told: list[Draft]() for is_told in (False, True)}
        rounds: dict[bool, list[dict[str, float]]] = {is_told: [] for is_told in drafts}
        sizes = dict.fromkeys(drafts, 0)
        for n, is_told in product(range(QUICK_ROUNDS if quick else ROUNDS), drafts):
            found = document_drafts(pages, turn=2 * n + is_told)
            if is_told:
                found = list(map(_with_terms, found, pages))
            package, terms = pack(signed([*found, *urls])), pack_beside([*sign_terms(found, SIGNER).values()])
            sizes[is_told] = len(package) + len(terms)
            copy = _Copy(folder / f"round-{n}-{is_told}")
            rounds[is_told].append(asyncio.run(copy.take(package, terms, len(pages))))
    found = list[Row]()
    for is_told, each in rounds.items():
        least = {stage: min(us[stage] for us in each) for stage in STAGES}
        how = "terms came along" if is_told else "analysed here"
        where = f"{how}; {len(pages)} pages, {URLS} URLs beside each, the least of {len(each)} rounds"
        found += [row(f"{stage}, a page ({where})", [us], "µs") for stage, us in least.items()]
        found.append(row(f"all of these, a page ({how})", [sum(least.values())], "µs"))
        found.append(row(f"on the line, a page ({how})", [sizes[is_told] / len(pages)], "B"))
    return found


def _with_terms(draft: Draft, page: WebPage) -> Draft:
    task = ParseTask(decode_document(draft.body).url, b"", "", "", 0, 0, analyzer=NEWEST_ANALYZER.number)
    made = analyse_page(task, page.found)
    return replace(draft, terms=DraftTerms(*astuple(made))) if made else draft


class _Copy:
    """One owner's disk and index, new and empty."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._us = dict.fromkeys(STAGES, 0.0)

    async def take(self, package: bytes, terms: bytes, pages: int) -> dict[str, float]:
        """Take a package of so many pages as owners do, and what came beside it; return what each stage took, in µs a
        page."""
        self._folder.mkdir()
        store = RecordStore.open(self._folder / "store", StoreConfig(), system_clock)
        index, shelf = IndexFiles(IndexConfig(), self._folder / "index"), TermsShelf()
        try:
            with self._stage("package opened"):
                opened, beside = open_package(package), open_beside(terms)
            with self._stage("known already?"):
                news = [record for record in opened if not store.knows(record)]
            with self._stage("proofs and flaws"):
                flaws = RecordCheck(RecordRules()).flaws(news)
                for each in sound_terms(beside, news):
                    shelf.put(each)
            with self._stage("written"):
                await store.put([record for record, flaw in zip(news, flaws, strict=True) if not flaw.reason])
            with self._stage("change log followed"):
                changes = await _followed(StoreChangeFeed(store, shelf.find))
            self._index(index, changes)
        finally:
            index.close()
            store.close()
        return {stage: us / pages for stage, us in self._us.items()}

    def _index(self, index: IndexFiles, changes: Sequence[DocumentChange]) -> None:
        """Index texts as `IndexFiles.apply` does."""
        rows, entries, taken = list[ForwardRow](), list[IndexEntry](), list[TakenTerms]()
        texts = [(change.text, change.offered) for change in changes if change.text]
        for number, (text, offered) in enumerate(texts, 1):
            cell = slot_of(text.key, CELL_BITS)
            if offered is not None:
                with self._stage("terms"):
                    terms = open_terms(text, offered, index.analyzer)
                    taken.append(TakenTerms(number, offered.author, offered.digest, offered.proof))
            else:
                with self._stage("terms"):
                    fields = analyse(text)
                with self._stage("forward record"):
                    record = encode_forward(text, fields)
                with self._stage("words, tags, names"):
                    terms = PageTerms(fields, words_of(text), record)
            rows.append(ForwardRow(number, text.id, Key(text.key), cell, text.version, terms.forward))
            with self._stage("words, tags, names"):
                entries.append(entry_of(number, cell, text, terms, index.analyzer))
        with self._stage("tantivy"):
            index.engine.add(entries)
            index.engine.commit()
        with self._stage("table of forward records"):
            index.table.commit([], rows, {}, b"", taken)

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
