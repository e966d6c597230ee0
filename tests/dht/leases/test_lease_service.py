"""No vote is given twice, whatever becomes of the file that says that this node ran before."""

from pathlib import Path

import pytest

from dht import FaultSite, LocalFaults, Now
from dht.leases.lease_service import VoteNote


def note(path: Path | None) -> VoteNote:
    return VoteNote(path, LocalFaults(lambda: Now(1000.0, 50.0)))


def test_who_ran_before_knows_it_and_a_newborn_has_no_note(tmp_path: Path) -> None:
    path = tmp_path / "votes.json"
    assert not note(path).exists() and not note(None).exists()
    assert note(path).write() and note(None).write()
    assert note(path).exists() and not note(None).exists()


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\0", b"1012.0"])
def test_whatever_stands_in_the_note_it_is_one(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "votes.json").write_bytes(content)
    assert note(tmp_path / "votes.json").exists()


def test_what_cannot_be_noted_is_said_and_is_no_note(tmp_path: Path) -> None:
    faults = LocalFaults(lambda: Now(1000.0, 50.0))
    assert not VoteNote(tmp_path / "gone" / "votes.json", faults).write()
    (fault,) = faults.present()
    assert fault.site == FaultSite.VOTES and "votes for nobody" in fault.what_stops and fault.remedy
