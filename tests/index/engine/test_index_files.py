"""An index knows its documents at an earlier instant, whatever order the versions came in, and closes at once."""

import random
import time
from pathlib import Path

import pytest

from dht import Slot, slot_of
from index.change_feed import DocumentChange
from index.config import IndexConfig
from index.engine.index_files import IndexFiles, entry_of
from index.engine.tantivy import TantivyEngine
from index.indexed_slots import IndexedSlots
from index.query.collection_statistics import mark_of
from index.query.parser import parse_query
from index.text.analyzer_rules import NEWEST_ANALYZER
from index.text.field_terms import analyse
from tests.index.index_corpus import text

CONFIG = IndexConfig()
BITS, URLS, SINCE = 2, 12, 40.0


@pytest.mark.parametrize("seed", range(12))
def test_two_indexes_that_took_the_same_versions_on_different_ways_agree_on_every_earlier_instant(seed: int) -> None:
    """Oracle: of each document the newest version written before the instant; what came before `SINCE` came to both."""
    rng = random.Random(seed)
    written = sorted((rng.uniform(0, 100), f"http://h{rng.randrange(URLS)}.example/") for _ in range(60))
    versions = [(at, text(random.Random(f"{url} {n}"), url, version=n)) for n, (at, url) in enumerate(written)]
    ways = []
    for way in range(2):
        files = IndexFiles(IndexConfig(engine="memory"), None)
        files.young_since = SINCE
        newest = {found.id: (at, found) for at, found in versions}
        left = [(at, found) for at, found in versions if at < SINCE or newest[found.id][0] == at or rng.random() < 0.7]
        while left:
            size = rng.randint(1, 9)
            batch, left = left[:size], left[size:]
            files.apply([DocumentChange(found.id, found, at) for at, found in batch], str(way).encode())
        ways.append(files.totals)
    for slot in map(Slot, range(1 << BITS)):
        assert ways[0].fingerprint_until(slot, BITS, 101.0) == ways[1].fingerprint_until(slot, BITS, 101.0)
    full = IndexFiles(IndexConfig(engine="memory"), None)
    full.young_since = SINCE
    for at, found in versions:
        full.apply([DocumentChange(found.id, found, at)], b"")
    for instant in (SINCE, 55.0, 70.0, 99.0):
        held = {found.id: found for at, found in versions if at < instant}
        for slot in map(Slot, range(1 << BITS)):
            marks = sum(mark_of(f.id + f.version) for f in held.values() if slot_of(f.key, BITS) == slot) % (1 << 256)
            assert full.totals.fingerprint_until(slot, BITS, instant) == marks.to_bytes(32, "big")


def test_what_is_older_than_anybody_asks_about_is_not_kept_apart() -> None:
    files = IndexFiles(IndexConfig(engine="memory"), None)
    found = text(random.Random(1), "http://a.example/")
    files.apply([DocumentChange(found.id, found, 10.0)], b"")
    slot = slot_of(found.key, BITS)
    assert files.totals.fingerprint_until(slot, BITS, 5.0) == files.totals.at(BITS)[slot].fingerprint_bytes
    files.young_since = 20.0
    other = text(random.Random(2), "http://a.example/", version=1)
    files.apply([DocumentChange(other.id, other, 30.0)], b"")
    assert files.totals.fingerprint_until(slot, BITS, 25.0) == mark_of(found.id + found.version).to_bytes(32, "big")
    files.apply([DocumentChange(other.id, None)], b"")
    assert files.totals.documents == 0


@pytest.mark.parametrize("engine", ["memory", "tantivy"])
def test_documents_that_are_only_stored_are_summed_and_are_indexed_and_dropped_later(
    engine: str, tmp_path: Path
) -> None:
    folder = None if engine == "memory" else tmp_path
    files, full = IndexFiles(IndexConfig(engine=engine), folder), IndexFiles(IndexConfig(engine="memory"), None)
    texts = [text(random.Random(n), f"http://h{n}.example/") for n in range(40)]
    changes = [DocumentChange(found.id, found, 1.0) for found in texts]
    some = IndexedSlots(frozenset({Slot(0), Slot(2)}), BITS)
    left = [found for found in texts if not some.holds(found.key)]
    everything = parse_query("site:*.example").counted

    def counted() -> tuple[int, int]:
        return files.engine.counts(everything, BITS).total, sum(files.unindexed.values())

    files.apply(changes, b"1", some)
    full.apply(changes, b"1")
    assert 0 < len(left) < 40 and counted() == (40 - len(left), len(left))
    for slot in map(Slot, range(1 << BITS)):
        both = (each.totals.at(BITS).get(slot) for each in (files, full))
        assert len({each and (each.documents, each.fingerprint) for each in both}) == 1, "it knows what others hold"
    if folder is not None:
        files.close()
        files = IndexFiles(IndexConfig(engine=engine), folder)
        assert counted() == (40 - len(left), len(left)), "after a start, too"
    while ids := files.unindexed_in(IndexedSlots(), 7):
        assert len(ids) <= 7
        files.apply([change for change in changes if change.id in ids], b"1")
    assert counted() == (40, 0) and files.totals.at(BITS) == full.totals.at(BITS)
    number: int | None = 0
    while number is not None:
        number = files.unindex(some, number)
    assert counted() == (40 - len(left), len(left))
    files.apply([DocumentChange(found.id, None) for found in texts], b"2", some)
    assert counted() == (0, 0) and files.documents == 0


def test_closing_does_not_wait_for_a_merge_and_loses_nothing(tmp_path: Path) -> None:
    """The merge of eight segments begins with the last commit. To wait for that of a million documents takes longer
    than a service manager waits for the end of a node."""
    texts = [text(random.Random(n), f"http://a.example/{n}") for n in range(100)]
    entries = [entry_of(n, 0, each, analyse(each, NEWEST_ANALYZER)) for n, each in enumerate(texts)]
    engine = TantivyEngine(tmp_path, CONFIG.writer_heap_bytes)
    for _ in range(8):
        engine.add(20 * entries)
        engine.commit()
    found, began = engine.word_counts("python", 0), time.process_time()
    engine.close()
    assert time.process_time() - began < 0.02
    again = TantivyEngine(tmp_path, CONFIG.writer_heap_bytes)
    assert again.word_counts("python", 0) == found != {}
    again.close()
