"""Counts the bytes of the directory's rows: of real pages, and extrapolated to 10⁸ terms."""

from collections.abc import Iterable
from random import Random

from benchmarks.figures import Row, row
from benchmarks.scale.cells import Cells
from benchmarks.scale.goals import NODE_BYTES_S, NODE_MB
from dht import Slot
from index.directory.impact import DirectoryEpoch
from index.directory.row_page import MOST_ROWS, RowPage, pack_page
from index.directory.term_row import SlotEntry, SlotTerm, TermRow, hash_of, merge_row

TERMS, NODES, COPIES, SLOT_BITS = 100_000_000, 1_000, 3, 14  # slot bits as proposed for so many nodes
MADE_UP_PAGES = 8
DAY_S = 86_400.0
BATCH_BYTES, BATCH_S = 250, 600.0  # of head, proof and signature, to each owner of terms at most so often
TOLD_BYTES = 8.8  # of an entry, packed by some thousand: mostly its hash


def size_rows(cells: Cells, terms: Iterable[str]) -> list[Row]:
    """Return what the rows of some terms, neighbours by their hashes, take, and what they would at 10⁸ terms."""
    by_hash = {hash_of(term): cells.row(term) for term in terms}
    size = sum(map(len, _packed(cells.epoch, by_hash)))
    named = sum(len(each.entries) for each in by_hash.values())
    large = made_up_bytes()
    return [
        row(f"rows of {len(by_hash):,} terms, bytes a term", [size / len(by_hash)], "B"),
        row("slots that a row names, mean", [named / len(by_hash)], ""),
        row("the same with df as 1/d², 2¹⁴ slots, bytes a term", [large], "B"),
        row("rows of 10⁸ terms, 3 copies, 1,000 nodes", [node_mb(large)], "MB a node", goal=NODE_MB),
        row("all levels told anew each day, a node", [told_bytes_s(1.0)], "B/s", goal=NODE_BYTES_S),
        row("a tenth of them each day, a node", [told_bytes_s(0.1)], "B/s", goal=NODE_BYTES_S),
    ]


def node_mb(row_bytes: float, terms: float = TERMS, nodes: float = NODES) -> float:
    """Return the megabytes of rows that one node keeps."""
    return row_bytes * terms * COPIES / nodes / 1e6


def told_bytes_s(share: float, terms: float = TERMS, nodes: float = NODES, pairs: float = 4.74) -> float:
    """Return what a node sends to keep the directory when a share of all (term, slot) pairs changes each day: each of a
    slot's owners tells each of a term's. `pairs`: slots a term, the mean of min(d, 64) where df goes as 1/d²."""
    changes = terms * pairs * share * COPIES * COPIES / nodes * TOLD_BYTES / DAY_S
    most = min(
        nodes, terms * pairs * share * COPIES * COPIES / nodes / DAY_S * BATCH_S
    )  # owners told in a batch's time
    return changes + most * BATCH_BYTES / BATCH_S


def made_up_bytes() -> float:
    """Return the bytes a term of rows in a large network, where a node's rows share their hashes' first bytes."""
    rng, epoch = Random(1), DirectoryEpoch(20_000, 5, 5, SLOT_BITS, 10_000_000_000, (10**11,) * 4)
    rows_of_node = TERMS * COPIES // NODES
    pages, size = MADE_UP_PAGES, 0
    span = (1 << 64) * MOST_ROWS // rows_of_node // NODES * COPIES  # of hashes of a page
    for page in range(pages):
        begin = page * ((1 << 64) // pages)
        hashes = sorted(begin + rng.randrange(span) for _ in range(MOST_ROWS))
        rows = {each.to_bytes(8, "big"): _made_up(rng) for each in hashes}
        size += len(pack_page(RowPage(epoch, rows)))
    return size / pages / MOST_ROWS


def _made_up(rng: Random) -> TermRow:
    count = min(int(rng.paretovariate(1.0)), 1 << SLOT_BITS)
    return merge_row(_in_slot(rng, slot) for slot in rng.sample(range(1 << SLOT_BITS), count))


def _in_slot(rng: Random, slot: int) -> SlotTerm:
    df = min(int(rng.paretovariate(1.0)), 100_000)
    return SlotTerm(SlotEntry(Slot(slot), rng.randint(1, 255), df), ((0, df),))


def _packed(epoch: DirectoryEpoch, rows: dict[bytes, TermRow]) -> Iterable[bytes]:
    hashes = sorted(rows)
    for begin in range(0, len(hashes), MOST_ROWS):
        part = hashes[begin : begin + MOST_ROWS]
        yield pack_page(RowPage(epoch, {each: rows[each] for each in part}))
