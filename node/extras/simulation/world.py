"""Holds a world of nodes under virtual time: one network, one scripted web, one seed; nodes are killed and cut off.

`simulate(scenario)` runs a scenario, an async function of its `World`, and ends when the scenario does.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from shutil import copytree
from tempfile import TemporaryDirectory

import msgspec

from bootstrap import load_network, new_network
from crawl import Visit
from dht import (
    Address,
    Family,
    Identity,
    Invitation,
    Mode,
    Network,
    PeerTimeout,
    Strategy,
    encode_document,
    sign_strategy,
    sign_voucher,
)
from node.extras.simulation.loop import EPOCH, SimLoop, rarely_collected
from node.extras.simulation.network import SimNetwork
from node.extras.simulation.scripted_fetch import Visited
from node.extras.simulation.scripted_web import ScriptedWeb
from node.extras.simulation.sim_node import PORT, STORE, SimEnvironment, SimNode, addresses_of
from node.strategy.founding import FIRST_DAYS, first_strategy
from store import StoreConfig, TooFewCopies

DAY_S = 86_400
USES = 100  # of the invitation that all nodes are given
BOOTSTRAP_NODES = 3  # the first nodes are in the network file
SKEW_S = 1.0  # wall clocks are up to this much ahead or behind
FAMILIES: tuple[tuple[Family, ...], ...] = ((4, 6), (4,), (4, 6), (6,))
CRAWL_DEPTH = 100
FOUNDED_AGO_S = 7 * DAY_S  # the strategy is in force for nodes whose clocks are days behind, too


@dataclass(frozen=True, slots=True)
class WorldPlan:
    """Says what a world is made of."""

    seed: int = 1
    hosts: int = 12
    pages: int = 8
    slot_bits: int = 4  # a new network's are 8: sixteen slots take a sixteenth of the packets
    replicas: int = 3
    loss: float = 0.0
    zipf: bool = False  # the hosts' sizes
    filler_bytes: int = 0  # in each page, beside what is read of it
    store: StoreConfig = STORE
    strategy: Mapping[str, object] = field(default_factory=dict)  # its other fields that are not a new network's


@dataclass(frozen=True, slots=True)
class NodeLoss:
    """Notes a node that died or fell asleep without a word, and how many URLs it had in flight then."""

    name: str
    at: float
    open: int


class World:
    """Holds all nodes of one simulation, by name (n0, n1, …), and does to them what a scenario asks for."""

    def __init__(self, loop: SimLoop, tasks: asyncio.TaskGroup, plan: WorldPlan, folder: Path) -> None:
        self.plan, self.loop = plan, loop
        self.nodes: dict[str, SimNode] = {}
        self.node_losses: list[NodeLoss] = []
        self._groups: dict[str, int] = {}
        self._bearers: list[Identity] = []
        self._sleeping: list[SimNode] = []
        self.publisher = Identity(Random(f"publisher {plan.seed}").randbytes(32))
        self.web = ScriptedWeb(plan.seed, plan.hosts, plan.pages, zipf=plan.zipf, filler_bytes=plan.filler_bytes)
        self.wire = SimNetwork(loop, plan.seed, loss=plan.loss)
        self.log: list[Visited] = []
        self._tasks, self._folder = tasks, folder
        self.invitation = ""  # what the next nodes are given
        sizes = {"slot_bits": plan.slot_bits, "replicas": plan.replicas}
        first = first_strategy(int(EPOCH) - FOUNDED_AGO_S, {**sizes, **plan.strategy})
        self._around = SimEnvironment(self.wire, self._network(first), self.web, self.log, ThreadPoolExecutor(1))
        self.network = self._around.network
        if first.admission == "invited":
            self.invitation = str(self.invite(USES))

    def invite(
        self, uses: int, *, by: Identity | None = None, days: int = FIRST_DAYS, ago_s: float = 0.0, network: str = ""
    ) -> Invitation:
        """Make an invitation, by the publisher unless somebody else is named. `ago_s`: how old it is."""
        made_at = int(EPOCH + self.loop.time() - ago_s)
        bearer = Identity(Random(f"bearer {self.plan.seed} {len(self._bearers)}").randbytes(32))
        self._bearers.append(bearer)
        ends = made_at + days * DAY_S
        inviter, where = by or self.publisher, bytes.fromhex(network or self.network.id)
        voucher = sign_voucher(inviter, where, bearer.public_key, uses, made_at, ends)
        return Invitation(bearer.private_bytes(), voucher)

    async def add(self, count: int = 1, pause_s: float = 0.3, *, stable: bool = True) -> list[SimNode]:
        """Start new nodes, one every `pause_s`; laptops where they are not `stable`."""
        return [await self._add(pause_s, stable=stable) for _ in range(count)]

    async def add_client(self, families: tuple[Family, ...] = (4,), mode: Mode = "client") -> SimNode:
        """Start a node behind a NAT."""
        self.wire.hide(f"n{len(self.nodes)}")
        return await self._add(families=families, mode=mode)

    async def add_with(self, families: tuple[Family, ...]) -> SimNode:
        """Start a node whose machine has these families of address alone; it listens in both, as all do."""
        return await self._add(families=families)

    async def add_at(self, *hosts: str) -> list[SimNode]:
        """Start a node at each of some IPv4 addresses, all at once."""
        return [await self._add(0.0, addresses=(Address(host, PORT),)) for host in hosts]

    async def add_auto(self, families: tuple[Family, ...]) -> SimNode:
        """Start a node that has to find out whether it is reached."""
        return await self._add(families=families, mode="auto")

    async def add_as(self, identity: Identity) -> SimNode:
        """Start a new node with an identity that was chosen."""
        return await self._add(identity=identity)

    async def add_twin(self, node: SimNode) -> SimNode:
        """Start another machine with a node's identity and a copy of what it keeps of its place in the network."""
        return await self._add(twin_of=node)

    async def add_bootstrap_nodes(self) -> list[SimNode]:
        """Start the nodes of the network file as bare bootstrap nodes; before any other."""
        return [await self._add(is_bare=True) for _ in range(BOOTSTRAP_NODES)]

    async def crawl(self, *urls: str, by: SimNode | None = None) -> None:
        """Have a node hand seeds to their owners, by default the one that leads everywhere."""
        seeds = [Visit(url=url, depth=CRAWL_DEPTH) for url in urls or (self.web.seed_url,)]
        while True:
            with suppress(TooFewCopies, PeerTimeout):
                if await (by or self.running()[0]).node_core.jobs.seed_publisher.publish(seeds):
                    return
            await asyncio.sleep(1.0)  # the network is not up yet

    def publish(self, **changes: object) -> Strategy:
        """Sign the next version of the strategy, in force from now on, with these fields changed; hand it to a node."""
        overlay = self.running()[-1].overlay
        newest = overlay.strategies.newest
        follows: dict[str, object] = {"version": newest.version + 1, "previous": overlay.strategies.newest_digest}
        follows["effective_at"] = int(EPOCH + self.loop.time())
        wanted = msgspec.structs.replace(newest, **follows | changes)
        return overlay.adopt(sign_strategy(encode_document(wanted), self.publisher))

    def running(self) -> list[SimNode]:
        """Return the nodes that live, in the order of their making."""
        return [node for node in self.nodes.values() if node.is_running]

    async def kill(self, node: SimNode) -> None:
        """Kill a node as kill -9 does; return when it is over."""
        self._note_loss(node)
        await node.kill(self.wire)

    async def stop(self, node: SimNode) -> None:
        """Have a node end as it does when it is told to: it says farewell; return when it is over."""
        await node.stop(self.wire)

    async def restart(self, node: SimNode) -> None:
        """Start a killed node on what its disk holds."""
        node.start(self._tasks, self._around)
        await asyncio.sleep(0)

    def sleep(self, node: SimNode) -> None:
        """Close a laptop's lid: nothing runs there, nothing gets through; its clocks go on."""
        self._note_loss(node)
        self.loop.sleep(node.name)
        self._sleeping.append(node)
        self._cut()

    def wake(self, node: SimNode) -> None:
        """Open the lid again."""
        self._sleeping.remove(node)
        self._cut()
        self.loop.wake(node.name)

    def cut(self, *groups: Sequence[SimNode]) -> None:
        """Part the groups, whose nodes no longer reach each other; who is in none is with the first."""
        self._groups = {node.name: number for number, group in enumerate(groups) for node in group}
        self._cut()

    def heal(self) -> None:
        """Make one network of all groups again."""
        self.cut()

    async def pass_time(self, seconds: float) -> None:
        """Let virtual seconds pass."""
        await asyncio.sleep(seconds)

    async def until(self, claim: Callable[[], bool], within_s: float, every_s: float = 1.0) -> float:
        """Let time pass until a claim holds; return the seconds it took; raises AssertionError after `within_s`."""
        began = self.loop.time()
        while not claim():
            assert self.loop.time() - began < within_s, f"{claim} does not hold after {within_s:.0f} s"
            await asyncio.sleep(every_s)
        return self.loop.time() - began

    def end(self) -> None:
        """Stop all nodes at once."""
        for node in list(self._sleeping):
            self.wake(node)
        for node in self.running():
            self.wire.kill(node.name)
            assert node.task is not None
            node.task.cancel()

    async def _add(
        self,
        pause_s: float = 0.3,
        families: tuple[Family, ...] = (),
        *,
        mode: Mode = "member",
        is_bare: bool = False,
        stable: bool = True,
        twin_of: SimNode | None = None,
        identity: Identity | None = None,
        addresses: tuple[Address, ...] = (),
    ) -> SimNode:
        number = len(self.nodes)
        rng = Random(f"node {self.plan.seed} {number}")
        name, skew_s = f"n{number}", rng.uniform(-SKEW_S, SKEW_S)
        addresses = addresses or addresses_of(number, families or FAMILIES[number % len(FAMILIES)])
        folder = self._folder / name
        if twin_of is None:
            folder.mkdir()
        else:
            copytree(twin_of.folder, folder)
        drawn, clock = Identity(rng.randbytes(32)), self.loop.clock(skew_s)
        identity = twin_of.identity if twin_of is not None else identity or drawn
        if self.invitation and twin_of is None:
            (folder / "invitation").touch(0o600)
            (folder / "invitation").write_text(self.invitation)
        node = SimNode(name, addresses, identity, clock, folder, rng, mode, stable)
        node.store, node.is_bare = self.plan.store, is_bare
        node.is_founder = number == 0
        self.nodes[name] = node
        await self.restart(node)
        await asyncio.sleep(pause_s)
        return node

    def _note_loss(self, node: SimNode) -> None:
        self.node_losses.append(NodeLoss(node.name, self.loop.time(), node.node_core.crawl.crawler.status().open))

    def _cut(self) -> None:
        self.wire.cut(self._groups | {node.name: -1 - n for n, node in enumerate(self._sleeping)})

    def _network(self, strategy: Strategy) -> Network:
        contacts = [f"{addresses_of(n, (4,))[0].host}:{PORT}" for n in range(BOOTSTRAP_NODES)]
        contacts += [
            f"[{a.host}]:{PORT}" for n in range(BOOTSTRAP_NODES) for a in addresses_of(n, (6,)) if 6 in FAMILIES[n]
        ]
        return load_network(new_network("simulated", [self.publisher], strategy, bootstrap=contacts))


Scenario = Callable[[World], Awaitable[None]]


def simulate(scenario: Scenario, plan: WorldPlan = WorldPlan()) -> World:
    """Run a scenario to its end; return the world as it was then, its nodes stopped."""
    loop, worlds = SimLoop(), list[World]()

    async def main(folder: Path) -> None:
        async with asyncio.TaskGroup() as tasks:
            world = World(loop, tasks, plan, folder)
            worlds.append(world)
            try:
                await scenario(world)
            finally:
                world.end()

    with rarely_collected(), TemporaryDirectory(prefix="dse-simulation-") as folder:
        loop.run(main(Path(folder)))
    return worlds[0]
