"""Settings that the owner changes while a node works: in the file, and at once where that can be."""

import asyncio
from pathlib import Path

import pytest

from dht import MachineRefuses
from node.config.settings import Config, load_config
from node.config.toml_reader import keys_of
from node.errors import ConfigError
from node.extras.simulation.world import World, WorldPlan
from node.owner.setting_change import is_open
from node.owner.setting_desk import LIVE, SettingDesk
from tests.sim.simulated import simulated


@simulated(WorldPlan(hosts=4, pages=4))
async def test_a_node_at_work_obeys_its_owner_at_once(world: World, tmp_path: Path) -> None:
    (node,) = await world.add(1)
    core, path = node.node_core, tmp_path / "config.toml"
    desk = SettingDesk(path, Config())
    desk.obey = lambda config: core.obey(config.crawl, config.store)
    await world.crawl()
    await world.pass_time(20.0)
    assert world.log and core.fetching.pause.operator_reason() == ""
    assert await desk.set("crawl.hours", "03:00-03:01") and "crawl.hours" in core.fetching.pause.operator_reason()
    assert await desk.set("crawl.hours", "") and core.fetching.pause.operator_reason() == ""
    assert await desk.set("store.quota_bytes", "1000")
    assert "1.0 kB" in core.fetching.pause.room_reason() and core.store.records.room.quota_bytes == 1000
    assert await desk.set("store.quota_bytes", "1_000_000_000") and core.fetching.pause.room_reason() == ""
    assert await desk.set("crawl.refuse", "site1.example")
    assert core.fetching.refusals.reason("http://site1.example/") == 'crawl.refuse "site1.example"'
    assert not await desk.set("crawl.max_hops", "3"), "that one is read at the start"
    rows = {row.key: row for row in desk.rows()}
    assert (rows["crawl.max_hops"].value, rows["crawl.max_hops"].waiting) == ("10", "3")
    assert (rows["crawl.refuse"].value, rows["crawl.refuse"].waiting) == ("site1.example", None)
    saved = load_config(path)
    assert (saved.crawl.max_hops, saved.crawl.refuse, saved.store.quota_bytes) == (3, ("site1.example",), 10**9)


async def test_a_file_that_cannot_be_written_or_read_changes_nothing(tmp_path: Path) -> None:
    path, obeyed = tmp_path / "gone" / "config.toml", list[Config]()
    desk = SettingDesk(path, Config())
    desk.obey = obeyed.append
    with pytest.raises(MachineRefuses):
        await desk.set("crawl.hours", "22:00-23:00")
    assert obeyed == [] and not path.exists()
    path.parent.mkdir()
    path.write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="not UTF-8 at byte 0"):
        await desk.set("crawl.hours", "22:00-23:00")
    path.write_text("[crawl]\nmax_hops = 4\n")
    assert {row.key: row.waiting for row in desk.rows()}["crawl.max_hops"] == "4", "what a hand wrote is shown"
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(desk.set("crawl.hours", "22:00-23:00"))
        tasks.create_task(desk.set("crawl.max_bytes_s", "5000"))
    assert path.read_text() == '[crawl]\nmax_bytes_s = 5000\nhours = "22:00-23:00"\nmax_hops = 4\n'
    assert (obeyed[-1].crawl.hours, obeyed[-1].crawl.max_bytes_s) == ("22:00-23:00", 5000)
    assert desk.config == obeyed[-1], "what is opened anew meanwhile obeys, too"
    assert obeyed[-1].crawl.max_hops == Config().crawl.max_hops, "what a hand wrote there waits for the next start"


def test_what_changes_at_once_may_be_changed_here() -> None:
    assert set(LIVE) <= set(keys_of(Config)) and all(map(is_open, LIVE))
