"""Frames are listed while anything in them lives, and count what it takes."""

import sqlite3

from store.catalog import shared_columns
from store.segments.frame import SegmentPlace


def test_a_frame_is_listed_once_and_until_its_last_record_went() -> None:
    database = sqlite3.connect(":memory:")
    database.executescript(shared_columns.FRAME_SCHEMA)
    shared, own = SegmentPlace(1, 16, 900, 0), SegmentPlace(2, 16, 100, 400)
    numbers = shared_columns.add_frames(database, [shared.of(0, 3), own, shared.of(2, 3)])
    assert numbers[0] == numbers[2] != numbers[1]
    assert shared_columns.live_bytes(database) == {1: 600, 2: 500}  # one of three did not live when it was written
    shared_columns.leave_frames(database, [numbers[0]])
    assert shared_columns.live_bytes(database) == {1: 300, 2: 500}
    shared_columns.leave_frames(database, [numbers[1], numbers[0]])
    assert shared_columns.live_bytes(database) == {} and not database.execute("SELECT * FROM frames").fetchall()
