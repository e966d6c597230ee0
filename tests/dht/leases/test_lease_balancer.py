"""A busy node in a live network: its leases move to an idle owner, stay there, and both say why."""

import asyncio
from collections.abc import Mapping

from dht import Slot
from dht.overlay.service import OverlayService
from node.extras.simulation.loop import SimLoop
from tests.sim.overlays import World, grow, simulate


class Work:
    """So many URLs due in every held slot."""

    def __init__(self, node: OverlayService, each: int) -> None:
        self.node, self.each = node, each
        self.is_long_paused = False

    def due(self) -> Mapping[Slot, int]:
        return dict.fromkeys(self.node.view.leases(), self.each)

    def is_busy(self, slot: Slot) -> bool:
        return False


class Works(dict[OverlayService, Work]):
    """The work of each node, made as it starts. `dues`: for the first nodes; 0 for the others."""

    def __init__(self, *dues: int) -> None:
        self.dues = iter(dues)

    def begin(self, node: OverlayService) -> Work:
        self[node] = Work(node, next(self.dues, 0))
        return self[node]


def half(slots: set[Slot]) -> int:
    """β of equal slots is a little less than half of them."""
    return (len(slots) - 1) // 2


def test_a_busy_node_lends_half_of_its_slots_and_they_stay_there():
    async def scenario(world: World, group: asyncio.TaskGroup) -> None:
        await grow(world, group, 2)
        busy, idle = world.nodes
        before = set()
        for second in range(600):
            for node, work in works.items():
                node.announce(world.slots, sum(work.due().values()))
            await world.watch(1)
            if second == 50:
                before = set(busy.view.leases())
            if second > 150:
                assert len(set(busy.view.leases()) & before) == len(before) - half(before)
        assert len(before) > 10 and world.complete()
        (_, lot), *more = busy.report.balance().moves
        assert not more and lot.reason.startswith(f"{half(before)} slots lent to {idle.node_id.hex()[:8]}…: ")
        assert idle.report.balance().borrowed == busy.report.balance().lent == half(before)
        assert "not above N" in idle.report.balance().outlook.reason

    works = Works(100, 0)
    world = simulate(World(SimLoop(), 5, work=works.begin), scenario)
    assert not world.doubles


def test_nothing_moves_in_a_network_without_work():
    async def scenario(world: World, group: asyncio.TaskGroup) -> None:
        await grow(world, group, 3)
        await world.watch(150)
        assert all(not node.report.balance().moves and not node.report.balance().borrowed for node in world.nodes)

    simulate(World(SimLoop(), 6), scenario)


def test_who_rests_lends_everything_and_two_who_rest_do_not_hand_it_to_and_fro():
    async def scenario(world: World, group: asyncio.TaskGroup) -> None:
        await grow(world, group, 3)
        resting, *others = world.nodes

        async def pass_s(seconds: int) -> None:
            for _ in range(seconds):
                for node, work in works.items():
                    node.announce(world.slots, sum(work.due().values()))
                await world.watch(1)

        await pass_s(40)
        before = set(resting.view.leases())
        works[resting].is_long_paused = True
        await pass_s(40)
        assert before and not resting.view.leases()
        assert world.complete(), "others hold them"
        assert all(other.report.balance().borrowed for other in others), "each a part"
        works[others[0]].is_long_paused = True
        await pass_s(60)
        held = [set(node.view.leases()) for node in world.nodes]
        for _ in range(12):
            await pass_s(4)
            assert [set(node.view.leases()) for node in world.nodes] == held, "nobody plays ball with them"

    works = Works(10, 10, 10)
    world = simulate(World(SimLoop(), 7, work=works.begin), scenario)
    assert not world.doubles
