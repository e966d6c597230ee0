"""The store's benchmark counts correctly, on few made-up pages and without a network."""

import random
from pathlib import Path

import pytest

from benchmarks.search.web_pages import read_page
from benchmarks.store.corpus import BATCH, batched, document_drafts, items, packages, signed, visit_drafts
from benchmarks.store.engines import Ours, drop_from_memory, missing, others
from benchmarks.store.extent import Extent
from benchmarks.store.puts import LIMIT, parts_of, sides_of, squeezed
from benchmarks.store.reconciling import END, changed, made_up, session
from benchmarks.store.space import kept_bytes
from node.crawling.store_change_feed import RecordRules
from store import StoreConfig
from store.record.record_check import RecordCheck
from store.record.zstd import expand

PAGE = b"<html><title>A page</title><p>%s</p><a href='/other'>another</a><a href='/third'>third</a></html>"
PAGES = [read_page(f"http://a.example/{n}", PAGE % (b"text of page %d " % n * 40)) for n in range(5)]


def test_records_are_such_as_a_node_takes_and_no_two_have_a_name() -> None:
    check = RecordCheck(RecordRules())
    made = signed([*document_drafts(PAGES, 12), *document_drafts(PAGES, 12, turn=1), *visit_drafts(PAGES, 30)])
    assert [flaw.reason for flaw in check.flaws(made)] == [""] * 54
    assert len({(r.kind, r.id) for r in made}) == 54


def test_packages_are_as_large_as_the_replicator_makes_them() -> None:
    drafts = visit_drafts(PAGES, 600)
    assert [len(part) for part in packages(drafts)] == [256, 256, 88]
    small = StoreConfig(flush_bytes=10_000)
    assert all(sum(len(d.body) + 1024 for d in part) <= 10_000 for part in packages(drafts, small))


@pytest.mark.parametrize("make", [Ours, *others().values()])
def test_a_store_gives_back_forgets_and_is_read_again_after_it_left_memory(make: type[Ours], tmp_path: Path) -> None:
    found = items(document_drafts(PAGES, 20))
    store = make(tmp_path / "store")
    for batch in batched(found):
        store.put(batch)
    store.close()
    drop_from_memory(tmp_path)
    store = make(tmp_path / "store")
    assert store.get(found[7]) >= len(found[7].content)
    assert store.scan() == sum(item.size for item in found)
    store.forget(found[::2])
    store.compact()
    assert store.get(found[7]) >= len(found[7].content)
    store.close()


def test_the_limit_writes_what_lies_in_our_frames(tmp_path: Path) -> None:
    for found in (items(document_drafts(PAGES, 20)), items(visit_drafts(PAGES, BATCH))):
        parts = parts_of(found)
        assert [expand(each, 1 << 20) for each in squeezed(parts)[1::2]] == parts
        alone = sum(map(len, squeezed(parts)))
        segments, index = kept_bytes(found)
        assert 0.95 * alone < segments < 1.05 * alone + 30 * len(parts) and index > 0
        took = sides_of()[LIMIT](tmp_path / str(len(parts)), found)
        assert took.wall_s > 0


def test_missing_peers_are_named() -> None:
    assert {*missing(), *others()} == {"RocksDB", "LMDB"}


def test_a_session_finds_every_difference_and_counts_both_ways() -> None:
    rng = random.Random(3)
    ours = made_up(2_000, rng)
    theirs = changed(ours, 0.01, rng)
    apart, equal = session(ours, theirs, [(b"", END)]), session(ours, ours, [(b"", END)])
    assert apart.found == 20 and apart.trips > 1
    assert equal.found == 0 and equal.trips == 1 and equal.size < 200 < apart.size


def test_a_quick_run_is_smaller() -> None:
    assert Extent(Path("."), quick=True).of(2, 9) == 2 and Extent(Path(".")).of(2, 9) == 9
    assert Extent(Path("."), quick=True).rounds < Extent(Path(".")).rounds
