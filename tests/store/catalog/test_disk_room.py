"""The disk may hold so much and no more, and room for tidying is kept."""

from dataclasses import dataclass

from store import MemoryDisk, StoreConfig
from store.catalog.disk_room import DiskRoom


@dataclass
class Filled:
    """Segments of so many bytes."""

    used_bytes: int


def room(used: int, quota: int, free: int, reserve: int = 0, segment: int = 64_000_000, beside: int = 0) -> DiskRoom:
    config = StoreConfig(quota_bytes=quota, reserve_bytes=reserve, segment_bytes=segment)
    made = DiskRoom(MemoryDisk(free), config, Filled(used))  # type: ignore[arg-type]
    made.note_beside(beside)
    return made


def test_both_limits_are_kept_and_named() -> None:
    nearly_full = room(9_000_000, 10_000_000, 100_000_000, 5_000_000, segment=1024)
    assert nearly_full.refusal(997_000) == ""
    told = "9.0 MB used of a quota of 10.0 MB, of which 2.0 kB are kept for tidying; 1.1 MB more do not fit"
    assert nearly_full.refusal(1_100_000) == told
    small_disk = room(0, 10_000_000, 6_000_000, 5_000_000, segment=1024)
    assert small_disk.refusal(1_000_000) == "" and "6.0 MB free" in small_disk.refusal(1_100_000)


def test_room_for_tidying_is_kept_from_new_records_and_grows_with_what_lies_beside() -> None:
    assert room(60_000, 80_000, 1 << 40).refusal(10_000) == "" and room(60_000, 80_000, 1 << 40).refusal(10_001)
    for used, beside in ((1_871_000_000, 0), (1_371_000_000, 400_000_000)):
        large = room(used, 2_000_000_000, 1 << 40, beside=beside)
        assert large.refusal(1_000_000) == "" and large.refusal(1_000_001)
