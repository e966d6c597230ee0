"""Formats on disks and on the wire stay readable: golden files. A change here breaks networks."""

from pathlib import Path

from store import Kind, MemoryDisk, RecordStore
from store.record.package import MAX_PACKAGE_BYTES, open_package, pack
from store.record.zstd import expand
from store.segments.record_group import decode_group, encode_group
from tests.store.support import CONFIG, StillClock, draft, flaws, records

DATA = Path(__file__).parents[1] / "data"


MADE = records(draft(1, size=900), draft(2, kind=Kind.VISIT), draft(3))


def test_a_golden_package_opens_proves_itself_and_is_what_we_write() -> None:
    golden = (DATA / "store-package.bin").read_bytes()
    assert open_package(golden) == MADE and flaws(MADE) == ["", "", ""]
    assert expand(golden, MAX_PACKAGE_BYTES) == expand(pack(MADE), MAX_PACKAGE_BYTES)


def test_a_golden_segment_opens_without_an_index() -> None:
    disk = MemoryDisk()
    disk.append("segment-00000001", (DATA / "store-segment.bin").read_bytes())
    disk.sync("segment-00000001")
    store = RecordStore(disk, CONFIG, StillClock())
    assert [store.find(r.kind, r.id) for r in MADE] == [MADE[0], MADE[1], None]
    store.close()


def test_a_golden_group_opens_and_is_what_we_write() -> None:
    made = records(*(draft(n, kind=Kind.VISIT) for n in range(20)))
    kept = made[2:5] + made[11:]
    golden = (DATA / "store-group.bin").read_bytes()
    assert decode_group(golden).records(proven=True) == kept
    assert encode_group(kept) == golden
