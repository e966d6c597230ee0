"""A page of rows comes back as it was, is small, and whatever else a stranger sends is refused by one kind of error."""

import random

import pytest

from dht import BadMessage, Slot
from index.directory.impact import DirectoryEpoch
from index.directory.row_page import MOST_PAGE_BYTES, MOST_ROWS, RowPage, most_named, pack_page, unpack_page
from index.directory.term_row import FEW_NAMED, MOST_NAMED, SlotEntry, SlotTerm, hash_of, merge_row

EPOCH = DirectoryEpoch(20_000, 5, 5, 14, 5_000_000, (9, 8, 7, 6))


def page(rows: int, seed: int = 1) -> RowPage:
    """Rows as of a network of a thousand: most terms in one slot, few in many."""
    rng = random.Random(seed)
    return RowPage(EPOCH, {hash_of(f"word{number}"): merge_row(_said(rng), most_named(rows)) for number in range(rows)})


def _said(rng: random.Random) -> list[SlotTerm]:
    count = min(int(rng.paretovariate(1.0)), 2_000)
    slots = rng.sample(range(1 << EPOCH.slot_bits), count)
    return [_in_slot(rng, Slot(slot), min(int(rng.paretovariate(1.0)), 900)) for slot in slots]


def _in_slot(rng: random.Random, slot: Slot, df: int) -> SlotTerm:
    by_class = ((0, df),) if df < 2 or rng.random() < 0.8 else ((0, df - 1), (rng.randint(1, 9), 1))
    return SlotTerm(SlotEntry(slot, rng.randint(0, 255), df, rng.random() < 0.1), by_class)


def test_a_page_comes_back_as_it_was() -> None:
    for written in (page(MOST_ROWS), page(1), page(0)):
        assert unpack_page(pack_page(written)) == written


def test_a_page_is_small() -> None:
    written = page(MOST_ROWS)
    named = sum(len(row.entries) for row in written.rows.values())
    assert len(pack_page(written)) < 100 + 12 * len(written.rows) + 5 * named
    assert max(len(row.entries) for row in written.rows.values()) == FEW_NAMED


def test_the_fewer_rows_the_more_slots_each_names() -> None:
    assert [most_named(rows) for rows in (0, 1, 16, 64, 256)] == [MOST_NAMED, MOST_NAMED, MOST_NAMED, 256, FEW_NAMED]
    slots = [_in_slot(random.Random(1), Slot(number), 1) for number in range(MOST_NAMED)]
    whole = {hash_of("all"): merge_row(slots)}
    assert unpack_page(pack_page(RowPage(EPOCH, whole))).rows == whole
    many = {hash_of(f"word{number}"): whole[hash_of("all")] for number in range(17)}
    with pytest.raises(BadMessage, match="1024 slots in a row"):
        unpack_page(pack_page(RowPage(EPOCH, many)))


def test_a_page_that_is_cut_or_changed_is_refused_or_within_bounds() -> None:
    data, rng, refused = pack_page(page(12)), random.Random(2), 0
    for end in range(len(data)):
        with pytest.raises(BadMessage):
            unpack_page(data[:end])
    for _ in range(3_000):
        changed = bytearray(data)
        for _ in range(rng.randint(1, 3)):
            changed[rng.randrange(len(data))] = rng.randrange(256)
        try:
            found = unpack_page(bytes(changed))
        except BadMessage:
            refused += 1
            continue
        for row in found.rows.values():
            slots = row.entries["slot"].tolist()
            assert slots == sorted(set(slots)) and all(slot < 1 << found.epoch.slot_bits for slot in slots)
            assert sum(df for _, df in row.by_class) <= found.epoch.documents
    assert refused > 500


@pytest.mark.parametrize("data", [b"", b"TD\x01", bytes(MOST_PAGE_BYTES + 1), b"TD\x02" + b"\xff" * 40], ids=len)
def test_what_is_no_page_is_refused(data: bytes) -> None:
    with pytest.raises(BadMessage, match="directory"):
        unpack_page(data, "somebody")
