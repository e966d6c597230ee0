"""A node remembers its peers from one run to the next."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dht.overlay.peer_cache_file import PeerCacheFile
from tests.dht.crowd import Crowd

THREAD = ThreadPoolExecutor(1)


def met(seed: int) -> Crowd:
    crowd = Crowd(seed)
    crowd.introduce(4)
    return crowd


def test_the_peers_of_one_run_are_members_of_the_next(tmp_path: Path) -> None:
    crowd = met(1)
    PeerCacheFile(crowd.cores[0], tmp_path, THREAD).save()
    late = Crowd(2)
    late.add(join=None)
    assert PeerCacheFile(late.cores[0], tmp_path, THREAD).recall(crowd.clock()) == 3
    assert {peer for peer, _ in late.cores[0].members.known()} == {crowd.cores[n].node_id for n in (1, 2, 3)}


def test_a_node_that_knows_nobody_leaves_the_file_as_a_way_back(tmp_path: Path) -> None:
    PeerCacheFile(met(1).cores[0], tmp_path, THREAD).save()
    lonely = Crowd(3)
    lonely.add(join=None)
    PeerCacheFile(lonely.cores[0], tmp_path, THREAD).save()
    assert PeerCacheFile(lonely.cores[0], tmp_path, THREAD).recall(lonely.clock()) == 3


def test_without_a_folder_nothing_is_kept_and_nothing_waits() -> None:
    memory = PeerCacheFile(met(1).cores[0], None, THREAD)
    memory.save()
    asyncio.run(asyncio.wait_for(memory.run(), 5.0))
    assert memory.recall(met(1).clock()) == 0


def test_a_folder_that_cannot_be_written_costs_a_log_line(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    cache = PeerCacheFile(met(1).cores[0], tmp_path / "gone", THREAD)
    cache.save()
    assert [record.getMessage().split(" reason=")[0] for record in caplog.records] == ["peer cache not written"]
    assert caplog.records[0].levelname == "WARNING" and "gone" in caplog.text, "the operator can see which folder"
    (tmp_path / "gone").mkdir()
    cache.save()
    assert cache.recall(met(1).clock()) == 3, "it is written as soon as it can be"
