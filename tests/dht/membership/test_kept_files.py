import math
from pathlib import Path

import pytest

from dht import Identity, LocalFaults, system_clock
from dht.membership.farewell_book import Parting
from dht.membership.kept_files import FarewellFile, PeerCache
from dht.wire.farewell import sign_farewell


def test_what_is_saved_comes_back(tmp_path: Path) -> None:
    cache = PeerCache(tmp_path / "peers")
    assert cache.load() == ()
    cache.save([b"one", b"two"])
    cache.save(iter([b"three"]))
    assert cache.load() == (b"three",)
    assert [p.name for p in tmp_path.iterdir()] == ["peers"]


@pytest.mark.parametrize("damage", [b"", b"\xff" * 40, b"\x92\x01", b"\x92\x02\x90", b"\x92\x01\x91\xa1x\x00"])
def test_a_damaged_file_only_costs_a_log_line(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "peers"
    path.write_bytes(damage)
    cache = PeerCache(path)
    assert cache.load() == ()
    cache.save([b"one"])
    assert cache.load() == (b"one",)


def test_vanished_members_come_back_and_senseless_ones_do_not(tmp_path: Path) -> None:
    cache = PeerCache(tmp_path / "peers")
    cache.save([b"one"], [(b"v" * 20, 5.0), (b"short", 5.0), (b"w" * 20, math.nan)])
    assert cache.load() == (b"one",) and cache.vanished == ((b"v" * 20, 5.0),)


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
