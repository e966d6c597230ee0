"""A stopped store is read whole: what is sound is counted, and whatever is wrong is named."""

import asyncio
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from msgspec.structs import replace

from store import Kind, RecordStore, StoreReport, check_store
from store.record.package import encode_head
from store.segments.file_system import FolderDisk
from store.segments.frame import FrameType
from store.segments.segments import Segments
from tests.store.support import CONFIG, StillClock, draft, records

SMALL = CONFIG.__class__(reserve_bytes=0, segment_bytes=20_000)


def opened(folder: Path) -> RecordStore:
    return RecordStore(FolderDisk(folder), SMALL, StillClock())


def filled(folder: Path) -> Path:
    """A stopped store of 60 pages, ten of them in two versions, and 100 visits, in several segments."""
    store = opened(folder)
    for first in range(0, 60, 10):
        asyncio.run(store.put(records(*(draft(n, size=900) for n in range(first, first + 10)))))
    asyncio.run(store.put(records(*(draft(n, at=5, size=900) for n in range(10)))))
    asyncio.run(store.put(records(*(draft(n, kind=Kind.VISIT) for n in range(100)))))
    store.close()
    return folder


def told(report: StoreReport) -> dict[str, int]:
    """How many flaws of each kind there are."""
    return {what: sum(f.count for f in report.flaws if f.what == what) for what in {f.what for f in report.flaws}}


def change_index(folder: Path, statement: str) -> None:
    with closing(sqlite3.connect(folder / "catalog.sqlite")) as index, index:
        index.execute(statement)


def test_a_sound_store_is_counted_and_left_as_it_is(tmp_path: Path) -> None:
    folder = filled(tmp_path / "store")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    report = check_store(folder)
    assert report.flaws == [] and report.torn_bytes == 0
    assert (report.rows, report.records) == (160, 170) and report.segments > 1
    assert report.bytes == sum(len(data) for name, data in before.items() if name.startswith("segment-"))
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_each_flipped_byte_is_found_and_the_records_that_it_costs_are_counted(tmp_path: Path) -> None:
    folder = filled(tmp_path / "store")
    segment = max(folder.glob("segment-*"), key=lambda path: path.stat().st_size)
    sound = segment.read_bytes()
    frames = list(Segments(FolderDisk(folder), 0, 0).frames(int(segment.name[-8:])))
    for frame in frames:
        data = bytearray(sound)
        data[(frame.place.offset + frame.place.end) // 2] ^= 4
        segment.write_bytes(data)
        report = check_store(folder)
        size = frame.place.end - frame.place.offset
        assert told(report)["bytes damaged"] == size and report.rows == 160
        assert f"{segment.name} from byte {frame.place.offset} to" in report.flaws[0].where
    segment.write_bytes(sound)
    assert check_store(folder).flaws == []


def test_lost_records_are_counted_and_the_remedy_leaves_none_listed(tmp_path: Path) -> None:
    folder = filled(tmp_path / "store")
    newest = max(folder.glob("segment-*"))
    visits = list(Segments(FolderDisk(folder), 0, 0).frames(int(newest.name[-8:])))[-1].place
    data = bytearray(newest.read_bytes())
    data[visits.offset + 40] ^= 1
    newest.write_bytes(data)
    lost = "records lost, to which the index leads"
    report = check_store(folder)
    assert told(report) == {"bytes damaged": visits.end - visits.offset, lost: 100}
    (flaw,) = (flaw for flaw in report.flaws if flaw.what == lost)
    assert "move catalog.sqlite away and start the node" in flaw.remedy
    (folder / "catalog.sqlite").rename(tmp_path / "aside")
    assert "index missing" in told(check_store(folder))
    opened(folder).close()
    report = check_store(folder)
    assert report.rows == 60 and lost not in told(report)


def test_a_segment_that_is_gone_costs_its_records(tmp_path: Path) -> None:
    folder = filled(tmp_path / "store")
    with closing(sqlite3.connect(folder / "catalog.sqlite")) as index:
        query = "SELECT count(*) FROM records JOIN frames USING (frame) WHERE segment = 2"
        (there,) = index.execute(query).fetchone()
    (folder / "segment-00000002").unlink()
    assert there and told(check_store(folder)) == {"records lost, to which the index leads": there}


def test_the_index_of_a_node_that_crashed_is_read_with_its_log(tmp_path: Path) -> None:
    folder = filled(tmp_path / "store")
    store = opened(folder)
    asyncio.run(store.put(records(*(draft(n, size=900) for n in range(200, 230)))))
    copy = tmp_path / "crashed"
    shutil.copytree(folder, copy)
    store.close()
    assert (copy / "catalog.sqlite-wal").stat().st_size
    report = check_store(copy)
    assert report.flaws == [] and report.rows == 190


def test_a_torn_tail_is_what_a_crash_leaves_and_no_flaw(tmp_path: Path) -> None:
    folder = filled(tmp_path / "store")
    with max(folder.glob("segment-*")).open("ab") as newest:
        newest.write(b"half a frame")
    report = check_store(folder)
    assert report.torn_bytes == 12 and report.flaws == []


def test_what_was_acknowledged_and_cut_off_is_a_flaw(tmp_path: Path) -> None:
    folder = filled(tmp_path / "store")
    newest = max(folder.glob("segment-*"))
    newest.write_bytes(newest.read_bytes()[:-7])
    report = check_store(folder)
    assert told(report)["records lost, to which the index leads"] == 100


def test_an_index_that_says_something_else_than_the_records_is_found(tmp_path: Path) -> None:
    folder = filled(tmp_path / "store")
    change_index(folder, "UPDATE records SET at_ms = at_ms + 1 WHERE sequence = (SELECT max(sequence) FROM records)")
    assert told(check_store(folder)) == {
        "rows of the index that lead to another record": 1,
        "sums over the key space differ from the rows": 1,
    }


def test_a_damaged_index_is_named_with_its_remedy(tmp_path: Path) -> None:
    folder = filled(tmp_path / "store")
    index = folder / "catalog.sqlite"
    data = bytearray(index.read_bytes())
    data[4096:8192] = bytes(4096)
    index.write_bytes(data)
    (flaw,) = check_store(folder).flaws
    assert flaw.what.startswith("index damaged") and "move catalog.sqlite away" in flaw.remedy


def test_a_record_that_was_written_wrong_is_found_though_its_checksum_fits(tmp_path: Path) -> None:
    folder = filled(tmp_path / "store")
    segments = Segments(FolderDisk(folder), 1 << 20, 3)
    true, other = records(draft(500, size=900)), records(draft(501, size=900))
    forged = replace(true[0], proof=other[0].proof)
    heads = [(encode_head(true[0]), b"other text"), (encode_head(forged), true[0].content or b""), (b"none", b"")]
    segments.append([segments.encode(FrameType.RECORD, head, content) for head, content in heads])
    found = told(check_store(folder))
    assert found == {"records with a wrong digest or proof": 2, "frames that cannot be decoded": 1}


def test_no_store_is_sound(tmp_path: Path) -> None:
    assert check_store(tmp_path / "store") == StoreReport()
