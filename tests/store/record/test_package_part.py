"""Records that are squeezed together come out as they went in; what a stranger packs otherwise is bounded."""

import random

import pytest
from msgspec.structs import replace

from store import Kind
from store.errors import BadReplica
from store.record.package import MAX_RECORDS, pack, size_of
from store.record.package_part import (
    LEAST_PART_BYTES,
    MAX_PARTS,
    MOST_PART_BYTES,
    PART_BYTES,
    PackagePart,
    is_plain,
    make_parts,
    open_parts,
    whole_parts,
)
from tests.store.support import draft, records

SIZES = random.Random(3)
PAGES = records(*(draft(n, size=SIZES.randrange(1, 30_000)) for n in range(60)))
VISITS = records(*(draft(n, kind=Kind.VISIT) for n in range(20)))
LARGE = records(draft(99, size=PART_BYTES))


def test_neighbours_lie_together_within_bounds_and_come_out_as_they_went_in() -> None:
    parts = make_parts([*PAGES, *VISITS, *LARGE])
    assert len(parts) > 4 and all(map(is_plain, parts))
    sizes = [sum(map(size_of, part.records)) for part in parts]
    assert min(sizes) >= LEAST_PART_BYTES and max(sizes) <= PART_BYTES
    inside = [record for part in parts for record in part.records]
    assert inside == sorted(inside, key=lambda record: record.key) and set(inside) <= set(PAGES)
    opened = open_parts([part.data for part in parts], 0)
    assert [record for part in opened for record in part.records] == inside
    assert make_parts(VISITS) == make_parts(PAGES[:1]) == [], "a few lie better by themselves"


def test_parts_of_which_something_is_missing_are_not_whole() -> None:
    parts = make_parts(PAGES)
    assert whole_parts(parts, PAGES) == parts
    missing = parts[1].records[0]
    assert whole_parts(parts, [record for record in PAGES if record is not missing]) == [parts[0], *parts[2:]]


def test_too_many_records_and_too_large_ones_are_refused() -> None:
    few = pack(VISITS)
    assert len(open_parts([few] * 3, MAX_RECORDS - 60)) == 3
    with pytest.raises(BadReplica, match="1025 records, 1024 allowed"):
        open_parts([few] * 3, MAX_RECORDS - 59)
    with pytest.raises(BadReplica, match="allowed"):
        open_parts([pack([replace(PAGES[0], content=bytes(MOST_PART_BYTES))])], 0)
    many = records(*(draft(n, size=LEAST_PART_BYTES) for n in range(2 * MAX_PARTS)))
    assert len(make_parts(many)) == MAX_PARTS


def test_what_holds_more_than_records_or_none_is_not_filed_as_it_came() -> None:
    assert not is_plain(PackagePart(pack([]), []))
    assert not is_plain(PackagePart(pack(VISITS) + bytes(size_of(VISITS[0]) * 20), VISITS))
    assert not is_plain(PackagePart(pack(VISITS * 7), VISITS * 7)), "more than a frame holds"
