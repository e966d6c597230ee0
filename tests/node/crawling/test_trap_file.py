"""The traps of sites outlast a restart; a file that is damaged or cannot be written costs a line of log."""

from pathlib import Path

import pytest

from crawl import TrapLearning
from node.crawling.trap_file import MAX_BYTES, TrapFile

TRAP = "http://a.test/calendar?month=9999"


def sprung() -> TrapLearning:
    traps = TrapLearning()
    for n in range(30):
        traps.learn("a.test", f"http://a.test/calendar?month={n}", bytes(8))
    return traps


def test_a_trap_is_known_after_a_restart(tmp_path: Path) -> None:
    TrapFile(tmp_path / "traps", TrapLearning()).close()
    assert TrapFile(tmp_path / "traps", traps := sprung()).close() is None and traps.refusal("a.test", TRAP)
    TrapFile(tmp_path / "traps", after := TrapLearning())
    assert after.refusal("a.test", TRAP) == traps.refusal("a.test", TRAP)


@pytest.mark.parametrize("data", [b"noise", b"", b"x" * (MAX_BYTES + 1)])
def test_a_damaged_file_is_replaced(tmp_path: Path, data: bytes, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "traps"
    path.write_bytes(data)
    file = TrapFile(path, traps := TrapLearning())
    assert len(caplog.records) == 1 and not traps.refusal("a.test", TRAP)
    for n in range(30):
        traps.learn("a.test", f"http://a.test/calendar?month={n}", bytes(8))
    file.close()
    TrapFile(path, after := TrapLearning())
    assert after.refusal("a.test", TRAP) and len(caplog.records) == 1


def test_a_file_that_cannot_be_written_stops_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "traps").mkdir()
    TrapFile(tmp_path / "traps", sprung()).close()
    TrapFile(None, sprung()).close()
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"]
