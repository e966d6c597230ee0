"""Two or three nodes, whatever befalls them: no slot has two holders, no acknowledged write is lost, and no node stands
still without naming the members that it waits for.

Nodes are killed, stopped cleanly, put to sleep, cut off and put back to an old image of their disk. Clocks step by a
minute. Several nodes may be away at the same time.
"""

import re
from random import Random

import pytest

from node.extras.simulation.census import holders_of, is_settled
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan, simulate
from store import MemoryDisk
from tests.sim.history import WORDS, History
from tests.sim.test_lease_history import Image

LOOK_S = 0.5
STILL_S = 75.0  # a slot may lack a holder for so long: silence, promises and starts take up to 30 s each
BACK_WITHIN_S = 240.0
STEPS = 6
CLOCK_S = 60.0
SEEDS = 200
NAMED = re.compile(r"waits for [0-9a-f]{12}.*`dse-node network ")


class DiskImage(Image):
    """A copy of all that lies on a node's disk."""

    def __init__(self, node: SimNode) -> None:
        super().__init__(node)
        self._segments = {name: node.disk.read(name, 0, node.disk.size(name)) for name in node.disk.names()}
        self._catalog = node.disk.database().serialize()

    def put_back(self, node: SimNode) -> None:
        super().put_back(node)
        node.disk = MemoryDisk()
        for name, data in self._segments.items():
            node.disk.append(name, data)
            node.disk.sync(name)
        node.disk.database().deserialize(self._catalog)


class Judge:
    """Looks twice a second at all nodes that run and are awake.

    `double`: slots that two nodes held at one instant.
    `mute`: nodes that owned a slot without a holder for STILL_S since the last event and named nobody, while no clock
    was said to be wrong.
    `waited`: how often a node named those for which it waited."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.double, self.mute, self.waited = list[str](), list[str](), 0
        self._still_since: dict[str, float] = {}

    def befalls(self) -> None:
        """Note that something happens now."""
        self._still_since.clear()

    async def run(self) -> None:
        while True:
            now, awake = self.world.loop.time(), awake_in(self.world)
            self.double += [f"{now:.1f}: {s} {names}" for s, names in holders_of(awake).items() if len(names) > 1]
            for node in awake:
                self._look(now, node)
            await self.world.pass_time(LOOK_S)

    def _look(self, now: float, node: SimNode) -> None:
        if not node.node_core.work_left().unheld:
            self._still_since.pop(node.name, None)
        elif now - self._still_since.setdefault(node.name, now) > STILL_S:
            reason = node.node_core.crawl_reason()
            self.waited += bool(named := NAMED.search(reason))
            if not (named or any(each.overlay.report.clock_warning() for each in awake_in(self.world))):
                self.mute.append(f"{now:.1f}: {node.name} {reason}")


def awake_in(world: World) -> list[SimNode]:
    return [node for node in world.running() if node not in world._sleeping]


def is_whole(world: World) -> bool:
    """Whether every node runs, is awake and owes nobody a copy, so that each disk may be lost."""
    kept = [node.node_core.store.replicator.status() for node in awake_in(world)]
    is_paid = not any(each.owed_now or each.writing_bytes for each in kept)
    return len(kept) == len(world.nodes) and not world._groups and is_paid and is_settled(world.running())


class Fate:
    """Lets one thing after the other befall the nodes of a world, and undoes it."""

    def __init__(self, world: World, rng: Random, history: History, judge: Judge) -> None:
        self.world, self.rng, self.history, self.judge = world, rng, history, judge
        self.images = {node.name: DiskImage(node) for node in world.running()}
        self.done = list[str]()

    async def step(self) -> None:
        """Do one thing that can be done now, and let people write and read for a while."""
        world, rng = self.world, self.rng
        awake, down = awake_in(world), [node for node in world.nodes.values() if not node.is_running]
        ways = ["kill", "stop", "sleep", "clock", "image", "kill", "stop"] if awake else []
        ways += ["cut", "cut"] if not world._groups and len(awake) > 1 else ["heal"] if world._groups else []
        ways += ["restart"] * 2 * bool(down) + ["wake"] * bool(world._sleeping)
        way = rng.choice(ways)
        node = rng.choice({"restart": down, "wake": world._sleeping}.get(way) or awake or [*world.nodes.values()])
        self.done.append(f"{world.loop.time():.1f}: {way} {node.name}")
        self.judge.befalls()
        await self._do(way, node)
        self.judge.befalls()
        await self.use(rng.choice((3.0, 20.0, 60.0, 120.0)))

    async def use(self, seconds: float) -> None:
        """Write and read for a while, where anybody is awake."""
        if awake_in(self.world):
            await self.history.use(seconds, write_every_s=4.0, read_every_s=20.0)
        else:
            await self.world.pass_time(seconds)

    async def _do(self, way: str, node: SimNode) -> None:
        world, rng = self.world, self.rng
        if way == "kill":
            await world.kill(node)
        elif way == "stop":
            await world.stop(node)
        elif way == "restart":
            await world.restart(node)
        elif way == "sleep":
            world.sleep(node)
        elif way == "wake":
            world.wake(node)
        elif way == "clock":
            node.clock.ahead_s = rng.choice((CLOCK_S, -CLOCK_S)) if abs(node.clock.ahead_s) < CLOCK_S / 2 else 0.0
        elif way == "cut":
            others = [each for each in world.nodes.values() if each is not node]
            self.history.cut([node], others)
        elif way == "heal":
            self.history.heal()
        else:
            await self._put_back(node)

    async def _put_back(self, node: SimNode) -> None:
        """An image of all that lies on the disk where other nodes have what is newer, else of the notes alone."""
        image = self.images[node.name]
        is_lossless = is_whole(self.world)
        await self.world.kill(node)
        image.put_back(node) if is_lossless else Image.put_back(image, node)
        await self.world.pass_time(self.rng.choice((0.1, 5.0)))
        await self.world.restart(node)

    async def undo(self) -> None:
        """Bring everybody back."""
        self.judge.befalls()
        for node in self.world.nodes.values():
            node.clock.ahead_s = 0.0
            if node in self.world._sleeping:
                self.world.wake(node)
            elif not node.is_running:
                await self.world.restart(node)
        if self.world._groups:
            self.history.heal()


async def scenario(world: World, seed: int, count: int) -> None:
    rng, judge = Random(f"small {seed}"), Judge(world)
    history = History(world, Random(f"users {seed}"))
    nodes = await world.add(count)
    await world.pass_time(10.0)
    world.publish(tie_breaker=rng.choice(nodes).identity.node_id.hex())
    slots = 1 << world.plan.slot_bits
    await world.until(lambda: len(holders_of(nodes)) == slots, 60.0)
    judging = world.loop.create_task(judge.run())
    fate = Fate(world, rng, history, judge)
    await fate.use(30.0)
    for _ in range(STEPS):
        await fate.step()
    await fate.undo()
    await world.until(lambda: len(holders_of(nodes)) == slots and is_settled(nodes), BACK_WITHIN_S, every_s=5.0)
    await world.pass_time(65.0)
    reads = [await history.read(node, word) for node in nodes for word in WORDS]
    judging.cancel()
    print(fate.done, f"{len(history.writes)} writes, {history.failed} failed, {judge.waited} looks at a wait")
    assert not judge.double, (fate.done, judge.double[:5])
    assert not judge.mute, (fate.done, judge.mute[:5])
    assert all(read is not None and read.exact for read in reads), (fate.done, history.why(world.loop.time() - 10.0))
    assert not (lost := list(history.lacking())), (fate.done, lost[:5])


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("seed", [1, 2, *(pytest.param(n, marks=pytest.mark.prove) for n in range(3, SEEDS + 1))])
def test_never_two_holders_nothing_lost_and_no_wait_without_its_sentence(seed: int, count: int) -> None:
    simulate(lambda world: scenario(world, seed, count), WorldPlan(seed=seed, hosts=1, pages=1, slot_bits=4))
