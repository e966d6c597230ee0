"""Rows of an index as they are looked up: many of a site, many sites, many names."""

from collections import Counter
from random import Random

import pytest

from dht import DocumentId, Key
from store import Kind, MemoryDisk
from store.catalog.catalog import Catalog
from store.catalog.catalog_reader import STEP
from store.catalog.row_table import CatalogRow
from store.record.record import ShortVersion
from store.segments.frame import SegmentPlace

FIRST, LAST = bytes(20), b"\xff" * 20


def bare(row: CatalogRow | None) -> CatalogRow | None:
    """As it was put."""
    return row and row._replace(sequence=0, frame=0)


def filled(made: list[CatalogRow]) -> Catalog:
    catalog = Catalog(MemoryDisk())
    with catalog.transaction():
        catalog.put(made, [None] * len(made))
    return catalog


def made_up(rng: Random, number: int, site: bytes = b"") -> CatalogRow:
    key = Key((site or rng.randbytes(10)) + rng.randbytes(10))
    return CatalogRow(
        Kind.VISIT, DocumentId(rng.randbytes(20)), key, ShortVersion(0, 1, bytes(8)), 30, SegmentPlace(1, number, 9, 0)
    )


def test_a_site_of_many_pages_is_read_whole_and_each_page_once() -> None:
    rng = Random(1)
    made = [made_up(rng, n, bytes([1, 1, n % 2]) * 3 + b"s") for n in range(2 * STEP + 50)]
    catalog = filled(made)
    assert Counter(map(bare, catalog.reader.rows(FIRST, LAST))) == Counter(made)
    assert list(catalog.reader.walk(FIRST, LAST, Kind.DOCUMENT)) == []


def test_many_sites_of_one_page_are_all_read_in_order() -> None:
    rng = Random(2)
    made = [made_up(rng, n) for n in range(1100)]
    assert [bare(row) for row in filled(made).reader.rows(FIRST, LAST)] == sorted(made, key=lambda r: r.key)


@pytest.mark.parametrize("count", [0, 1, 5, 64, 65, 200])
def test_any_number_of_names_is_looked_up_at_once(count: int) -> None:
    rng = Random(3)
    made = [made_up(rng, n) for n in range(count)]
    catalog = filled(made[::2])
    found = catalog.named((row.kind, row.id) for row in made)
    assert [bare(row) for row in found[::2]] == made[::2] and found[1::2] == [None] * (count // 2)


def test_a_site_whose_number_went_to_another_during_a_look_shows_nothing_of_it() -> None:
    rng = Random(4)
    here, leaves, comes = (made_up(rng, n, bytes([n]) * 10) for n in range(3))
    catalog = filled([here, leaves])
    look = catalog.reader.walk(FIRST, LAST, Kind.VISIT)
    assert bare(next(look)) == here
    with catalog.transaction():
        catalog.remove([row for row in catalog.named([(leaves.kind, leaves.id)]) if row], 20)
        catalog.put([comes], [None])
    assert list(look) == []
    assert [bare(row) for row in catalog.reader.rows(FIRST, LAST)] == [here, comes]
