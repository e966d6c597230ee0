"""A node remembers its peers from one run to the next."""

import asyncio
import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dht import LocalFaults, system_clock
from dht.overlay.peer_cache_file import PeerCache, PeerCacheFile
from node.extras.simulation.forming import form
from node.extras.simulation.swarm import Swarm

FAULTS = LocalFaults(system_clock)
THREAD = ThreadPoolExecutor(1)


def met(seed: int) -> Swarm:
    """Four nodes that know each other."""
    swarm = Swarm(seed)
    swarm.add(4)
    form(swarm)
    return swarm


def alone(seed: int) -> Swarm:
    swarm = Swarm(seed)
    swarm.add(1)
    return swarm


def test_the_peers_of_one_run_are_members_of_the_next(tmp_path: Path) -> None:
    swarm, late = met(1), alone(2).bees[0].core
    PeerCacheFile(swarm.bees[0].core, tmp_path, THREAD).save()
    assert PeerCacheFile(late, tmp_path, THREAD).recall(swarm.now) == 4, "itself among them"
    assert {peer for peer, _ in late.members.known()} == {swarm.bees[n].node_id for n in range(4)}


def test_a_node_that_knows_nobody_leaves_the_file_as_a_way_back(tmp_path: Path) -> None:
    PeerCacheFile(met(1).bees[0].core, tmp_path, THREAD).save()
    lonely = alone(3)
    PeerCacheFile(lonely.bees[0].core, tmp_path, THREAD).save()
    assert PeerCacheFile(lonely.bees[0].core, tmp_path, THREAD).recall(lonely.now) == 4


def test_without_a_folder_nothing_is_kept_and_nothing_waits() -> None:
    memory = PeerCacheFile(met(1).bees[0].core, None, THREAD)
    memory.save()
    asyncio.run(asyncio.wait_for(memory.run(), 5.0))
    assert memory.recall(met(1).now) == 0


def test_a_folder_that_cannot_be_written_costs_a_log_line(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    cache = PeerCacheFile(met(1).bees[0].core, tmp_path / "gone", THREAD)
    cache.save()
    cache.save()
    assert [record.getMessage().split(" reason=")[0] for record in caplog.records] == ["fault begins site=peers"]
    assert caplog.records[0].levelname == "WARNING" and "gone" in caplog.text, "the operator can see which folder"
    (tmp_path / "gone").mkdir()
    cache.save()
    assert cache.recall(met(1).now) == 4, "it is written as soon as it can be"


def test_what_is_saved_comes_back(tmp_path: Path) -> None:
    cache = PeerCache(tmp_path / "peers")
    assert cache.load() == ()
    cache.save([b"one", b"two"], (), FAULTS)
    cache.save(iter([b"three"]), (), FAULTS)
    assert cache.load() == (b"three",)
    assert [p.name for p in tmp_path.iterdir()] == ["peers"]


@pytest.mark.parametrize("damage", [b"", b"\xff" * 40, b"\x92\x01", b"\x92\x02\x90", b"\x92\x01\x91\xa1x\x00"])
def test_a_damaged_file_only_costs_a_log_line(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "peers"
    path.write_bytes(damage)
    cache = PeerCache(path)
    assert cache.load() == ()
    cache.save([b"one"], (), FAULTS)
    assert cache.load() == (b"one",)


def test_vanished_members_come_back_and_senseless_ones_do_not(tmp_path: Path) -> None:
    cache = PeerCache(tmp_path / "peers")
    cache.save([b"one"], [(b"v" * 20, 5.0), (b"short", 5.0), (b"w" * 20, math.nan)], FAULTS)
    assert cache.load() == (b"one",) and cache.vanished == ((b"v" * 20, 5.0),)
