"""A node remembers its peers from one run to the next."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dht.overlay.peer_cache_file import PeerCacheFile
from node.extras.simulation.forming import form
from node.extras.simulation.swarm import Swarm

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
