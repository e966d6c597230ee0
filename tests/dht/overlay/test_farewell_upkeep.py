"""The file of farewells, which keeps one that has ended from counting again."""

from pathlib import Path

from dht import Identity, LocalFaults, system_clock
from dht.membership.farewell_book import Parting
from dht.overlay.farewell_upkeep import FarewellFile
from dht.wire.farewell import sign_farewell

KEPT = (Parting(sign_farewell(Identity(b"\1" * 32), b"n" * 20, 7, 7), 9, (b"o" * 20,)),)


def test_what_was_kept_is_there_after_a_start(tmp_path: Path) -> None:
    file = FarewellFile(tmp_path / "farewells.bin", LocalFaults(system_clock))
    assert file.load() == ()
    assert file.write(KEPT)
    assert file.load() == KEPT
    (tmp_path / "farewells.bin").write_bytes(b"\xc1 no msgpack")
    assert file.load() == ()


def test_who_cannot_keep_them_is_told(tmp_path: Path) -> None:
    faults = LocalFaults(system_clock)
    assert not FarewellFile(tmp_path / "gone" / "farewells.bin", faults).write(KEPT)
    assert faults.present()
    assert FarewellFile(None, faults).write(KEPT) and FarewellFile(None, faults).load() == ()
