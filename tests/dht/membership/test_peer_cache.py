import math
from pathlib import Path

import pytest

from dht.membership.peer_cache import PeerCache


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
