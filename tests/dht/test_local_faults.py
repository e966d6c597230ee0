"""Faults of this machine: one list, two log lines each, a remedy always."""

import errno
import logging
import sqlite3
from pathlib import Path

import pytest

from dht import BrokenFile, FaultSite, LocalFaults, Now, refusal_of, refused
from dht.local_faults import CALM_S, OTHERWISE

FULL = OSError(errno.ENOSPC, "No space left on device")


class Clock:
    """Both clocks, moved by the test."""

    now = 0.0

    def __call__(self) -> Now:
        return Now(1_000.0 + self.now, self.now)


def test_a_fault_is_listed_from_its_first_refusal_until_a_success_and_some_calm(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    clock = Clock()
    faults = LocalFaults(clock)
    for clock.now in (0.0, 1.0, 2.0):
        faults.begin(FaultSite.STORE, refused("/home/somebody/store/segment-1", FULL))
        faults.end(FaultSite.STORE)  # a small write fits, a large one does not
    (fault,) = faults.present()
    assert (fault.site, fault.since) == (FaultSite.STORE, 1000.0)
    assert fault.cause == "store/segment-1: no space left on device", "no more of the path than finds it"
    assert fault.remedy == "free some space on this disk" and fault.what_stops
    clock.now = 2.0 + CALM_S
    assert faults.present() == () and faults.present() == ()
    begun, ended = (record.getMessage() for record in caplog.records)
    assert begun.startswith("fault begins site=store reason=/home/somebody/store/segment-1: no space left")
    assert ended == "fault ends site=store after_s=7"


def test_a_success_before_the_last_refusal_ends_nothing() -> None:
    clock = Clock()
    faults = LocalFaults(clock)
    faults.begin(FaultSite.INDEX, refused("index", FULL))
    faults.end(FaultSite.INDEX)
    faults.begin(FaultSite.INDEX, refused("index", OSError(errno.EIO, "Input/output error")))
    clock.now = 100.0
    (fault,) = faults.present()
    assert "input/output error" in fault.cause and "disk reports errors" in fault.remedy, "the newest cause is shown"
    faults.end(FaultSite.VOTES)  # never began
    faults.end(FaultSite.INDEX)
    assert faults.present() == ()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EMFILE, errno.ENFILE])
def test_each_error_has_its_own_remedy(number: int) -> None:
    assert refused("file", OSError(number, "so it is")).remedy != OTHERWISE
    assert refused("file", OSError(errno.EXDEV, "never seen")).remedy == OTHERWISE


def test_a_full_database_is_refused_and_a_damaged_one_is_not(tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / "small", isolation_level=None)
    database.execute("CREATE TABLE t (x)")
    database.execute("PRAGMA max_page_count = 3")
    with pytest.raises(sqlite3.OperationalError) as full:
        database.execute("INSERT INTO t VALUES (zeroblob(100000))")
    assert "free some space" in str(refusal_of("small", full.value))
    (tmp_path / "broken").write_bytes(b"no database" * 500)
    with pytest.raises(sqlite3.DatabaseError) as broken:
        sqlite3.connect(tmp_path / "broken").execute("SELECT * FROM t")
    assert refusal_of("broken", broken.value) is None
    assert refusal_of("own", ValueError("a bug")) is None
    mine = refused("own", FULL)
    assert refusal_of("other", mine) is mine and isinstance(mine, BrokenFile)
