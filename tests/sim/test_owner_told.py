"""An owner is told within a minute who fell silent, and in the sixth minute that a crawl stands still; and that it is
over. Where nothing is wrong nothing is told."""

import asyncio
import re
from collections.abc import Sequence

import pytest

from dht import Network
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan
from node.owner.events import CALM_S, OwnerEvent
from node.owner.watch import OwnerWatch
from node.views.owner_state import owner_state
from node.views.silence import SHOWN, SilenceWaits
from node.views.status import view_of
from tests.parameters import proved
from tests.sim.judged import crawled, status_of
from tests.sim.simulated import simulated
from tests.sim.test_settled import NETWORK

SETTLED_S = 90.0  # a node that has just started names nobody for a minute
TOLD_S = 60.0
LONG_SITE = WorldPlan(hosts=1, pages=900, slot_bits=4)


class Owner:
    """The owner of one node, and what the hook told."""

    def __init__(self, node: SimNode, network: Network = NETWORK, waits: SilenceWaits = SHOWN) -> None:
        self.waits = waits
        self.node, self.heard = node, list[tuple[float, OwnerEvent]]()
        self._status = status_of(node, network)
        self._watch = OwnerWatch(self._outlook, lambda _: None, self._tell, node.folder / "owner-told.json", node.clock)

    async def run(self) -> None:
        await self._watch.run()

    async def _outlook(self):
        return self._status.outlook(self.waits)

    async def _tell(self, event: OwnerEvent) -> None:
        self.heard.append((asyncio.get_running_loop().time(), event))

    def told(self, topic: str, state: str = "begins", since: float = 0.0) -> list[str]:
        """Return the events of a topic that the owner got since an instant."""
        return [event.text for at, event in self.heard if (event.topic, event.state) == (topic, state) and at >= since]

    async def page(self) -> tuple[str, str, list[str]]:
        """Kind and sentence of the owner's page, and the warnings of the status."""
        status = (await self._status.status()).plain()
        state = owner_state(status, view_of(status))
        return state.kind, state.why, status["warnings"]


async def owners_of(nodes: Sequence[SimNode], tasks: asyncio.TaskGroup) -> list[Owner]:
    owners = [Owner(node) for node in nodes]
    for owner in owners:
        tasks.create_task(owner.run())
    return owners


def names(texts: Sequence[str], gone: Sequence[SimNode]) -> bool:
    return bool(texts) and all(node.overlay.node_id.hex()[:12] in texts[-1] for node in gone)


async def watched(world: World, count: int, scenario) -> None:
    nodes = await world.add(count)
    await world.pass_time(SETTLED_S)
    async with asyncio.TaskGroup() as tasks:
        owners = await owners_of(nodes, tasks)
        await world.pass_time(SETTLED_S)
        assert not any(owner.heard for owner in owners), "nothing is wrong yet"
        assert {(await owner.page())[0] for owner in owners} <= {"crawling", "waiting", "idle"}
        await scenario(nodes, owners)
        for task in list(tasks._tasks):
            task.cancel()


@pytest.mark.parametrize(("count", "gone"), [(2, 1), (5, 2), *proved((7, 3), (3, 1), (7, 1))])
@simulated()
async def test_members_that_die_are_named_within_a_minute_and_it_is_over_when_they_are_back(
    world: World, count: int, gone: int
) -> None:
    async def dying(nodes: list[SimNode], owners: list[Owner]) -> None:
        dead, others = nodes[-gone:], owners[:-gone]
        for node in dead:
            await world.kill(node)
        await world.pass_time(TOLD_S)
        for owner in others:
            assert names(owner.told("member"), dead) and len(owner.told("member")) == 1
            kind, why, warnings = await owner.page()
            assert kind == "trouble" and names([why], dead) and names(warnings, dead)
        for node in dead:
            await world.restart(node)
        await world.pass_time(CALM_S + TOLD_S)
        for owner in others:
            assert len(owner.told("member", "over")) == 1
            assert (await owner.page())[0] != "trouble"

    await watched(world, count, dying)


@simulated()
async def test_the_owner_is_called_after_the_time_that_it_set_and_hears_what_became_of_the_work(world: World) -> None:
    async def dying(nodes: list[SimNode], owners: list[Owner]) -> None:
        owner, dead = owners[0], nodes[-1]
        owner.waits = SilenceWaits(300.0, 86_400.0)
        await world.kill(dead)
        await world.pass_time(270.0)
        assert not owner.told("member") and (await owner.page())[0] == "trouble", "its page says so before"
        await world.pass_time(60.0)
        assert names(owner.told("member"), [dead])
        await world.restart(dead)
        await world.pass_time(CALM_S + TOLD_S)
        (over,) = owner.told("member", "over")
        found = re.search(r"silent for (?:5|6) minutes, but no longer: others crawled (\d+) of its (\d+) slots", over)
        assert found and 0 < int(found[1]) == int(found[2]) and "its slots had 2 live copies or more" in over

    await watched(world, 4, dying)


@simulated()
async def test_one_more_that_dies_is_told_though_another_was_told_before(world: World) -> None:
    async def dying(nodes: list[SimNode], owners: list[Owner]) -> None:
        for dead in nodes[-2:]:
            await world.kill(dead)
            await world.pass_time(TOLD_S)
            assert names(owners[0].told("member"), [dead])
        assert len(owners[0].told("member")) == 2

    await watched(world, 4, dying)


@simulated()
async def test_both_sides_of_a_cut_are_told_within_a_minute(world: World) -> None:
    async def cutting(nodes: list[SimNode], owners: list[Owner]) -> None:
        world.cut(nodes[:3], nodes[3:])
        await world.pass_time(TOLD_S)
        for owner in owners:
            others = nodes[3:] if owner.node in nodes[:3] else nodes[:3]
            assert names(owner.told("member"), others), owner.heard
            assert "network between" in owner.told("member")[0]
        world.heal()
        await world.pass_time(CALM_S + 2 * TOLD_S)
        assert all(len(owner.told("member", "over")) == 1 for owner in owners)

    await watched(world, 5, cutting)


@simulated()
async def test_who_takes_leave_or_sleeps_is_shown_as_away_and_nobody_is_called(world: World) -> None:
    await world.add(1, stable=False)  # n0, a laptop

    async def going(nodes: list[SimNode], owners: list[Owner]) -> None:
        laptop = world.nodes["n0"]
        world.sleep(laptop)
        await world.stop(nodes[-1])
        await world.pass_time(2 * TOLD_S)
        kind, why, warnings = await owners[0].page()
        assert not owners[0].told("member") and kind == "watch"
        assert names([why], [laptop, nodes[-1]]) and "after a farewell" in why and "away" in why
        assert names(warnings, [laptop])
        world.wake(laptop)
        await world.pass_time(3.0)
        assert not Owner(laptop)._status.outlook().needs[0].about, "who slept accuses nobody"

    await watched(world, 4, going)


@pytest.mark.parametrize("dead", [2, *proved(1)])
@simulated(LONG_SITE)
async def test_a_crawl_that_stands_still_is_told_in_the_sixth_minute(world: World, dead: int) -> None:
    """Of three nodes two die: nobody has a majority for leases and copies. With one dead the crawl goes on."""
    nodes = await world.add(3)
    await world.crawl()
    await world.pass_time(SETTLED_S)
    async with asyncio.TaskGroup() as tasks:
        owners = await owners_of(nodes, tasks)
        for node in nodes[3 - dead :]:
            await world.kill(node)
        owner, crawler, last_at, last = owners[0], nodes[0].node_core.crawl.crawler, 0.0, 0
        began = world.loop.time()
        while world.loop.time() < began + 420.0:
            if crawler.status().recorded != last:
                last, last_at = crawler.status().recorded, world.loop.time()
            await world.pass_time(1.0)
        told = [at - last_at for at, event in owner.heard if event.topic == "crawl"]
        if dead == 2:
            assert len(told) == 1 and 300.0 <= told[0] <= 360.0, (told, last_at - began)
            assert (await owner.page())[0] == "trouble"
            for node in nodes[1:]:
                await world.restart(node)
            await world.pass_time(CALM_S + 2 * TOLD_S)
            assert len(owner.told("crawl", "over")) == 1
        else:
            assert not told and last_at > began + 400.0, "the crawl goes on"
        for task in list(tasks._tasks):
            task.cancel()


@simulated(WorldPlan(hosts=3, pages=4))
async def test_a_network_without_work_is_well(world: World) -> None:
    nodes = await world.add(3)
    await world.crawl()
    await crawled(world)
    async with asyncio.TaskGroup() as tasks:
        owners = await owners_of(nodes, tasks)
        for _ in range(10):
            await world.pass_time(60.0)
            for owner in owners:
                assert (await owner.page())[0] in ("crawling", "waiting", "idle"), await owner.page()
        assert not any(owner.heard for owner in owners)
        for task in list(tasks._tasks):
            task.cancel()
