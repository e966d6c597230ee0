"""Whole overlays under virtual time: the same `OverlayService` as over sockets, with leases, strategies and kills."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from random import Random

from bootstrap import load_network, new_network
from dht import (
    Address,
    AddressPolicy,
    Contact,
    DhtConfig,
    Endpoint,
    Identity,
    LocalFaults,
    Network,
    NodeId,
    OverlayFiles,
    OverlayService,
    OverlaySettings,
    ProtocolEngine,
    Slot,
    Strategy,
    StrategyHistory,
)
from dht.leases.lease_balancer import CrawlWork
from node.extras.simulation.carrier import SimCarrier
from node.extras.simulation.everybody import trust_everybody
from node.extras.simulation.loop import EPOCH, SimLoop
from node.extras.simulation.network import SimDatagrams, SimNetwork

PUBLISHER = Identity(b"\1" * 32)
CONFIG = DhtConfig()


def made_network(slot_bits: int) -> Network:
    now = int(EPOCH)
    first = Strategy(
        network="", version=1, effective_at=0, next_at=now + 10**7, expires_at=now + 10**8, slot_bits=slot_bits
    )
    return load_network(new_network("simulated", [PUBLISHER], first))


@dataclass
class World:
    """Nodes on one simulated network, all from one seed."""

    loop: SimLoop
    seed: int
    slot_bits: int = 6
    loss: float = 0.0
    nodes: list[OverlayService] = field(default_factory=list)
    tasks: dict[NodeId, asyncio.Task[None]] = field(default_factory=dict)
    names: dict[NodeId, str] = field(default_factory=dict)
    doubles: list[tuple[float, Slot]] = field(default_factory=list)
    work: Callable[[OverlayService], CrawlWork | None] = lambda overlay: None  # what each node crawls

    def __post_init__(self) -> None:
        self.wire = SimNetwork(self.loop, self.seed, loss=self.loss)
        self.network = made_network(self.slot_bits)
        self.executor = ThreadPoolExecutor(1)  # never used: the loop runs its calls inline
        self.slots = frozenset(Slot(n) for n in range(1 << self.slot_bits))

    def start(self, group: asyncio.TaskGroup) -> OverlayService:
        number = len(self.nodes)
        name, clock = f"n{number}", self.loop.clock()
        rng = Random(self.seed * 1000 + number)
        identity = Identity(rng.randbytes(32))
        addresses = (Address(f"9.{number // 250}.{number % 250}.1", 8091),)
        listening = tuple(Endpoint(a.host, a.port, a.port) for a in addresses)
        core = ProtocolEngine(
            identity, bytes.fromhex(self.network.id), CONFIG, rng, listening=listening, policy=AddressPolicy()
        )
        trust_everybody(core)
        overlay = OverlayService(
            OverlaySettings(listening),
            core,
            lambda on_event: SimDatagrams(core, clock, self.wire, name, addresses, on_event),
            SimCarrier(self.wire, name, identity.node_id),
            StrategyHistory(self.network),
            clock,
            OverlayFiles(None, self.executor, LocalFaults(clock)),
        )
        if self.nodes:
            door = self.nodes[0].view.contact(self.nodes[0].node_id)
            assert isinstance(door, Contact)
            overlay.join([door.endpoints[0].udp])
        overlay.announce(self.slots, 0)
        self.names[overlay.node_id] = name
        self.nodes.append(overlay)
        self.tasks[overlay.node_id] = group.create_task(overlay.run(self.work(overlay)))
        return overlay

    def kill(self, overlay: OverlayService) -> None:
        self.wire.kill(self.names[overlay.node_id])
        self.nodes.remove(overlay)
        self.tasks[overlay.node_id].cancel()

    def holders(self, slot: Slot) -> list[NodeId]:
        return [node.node_id for node in self.nodes if slot in node.view.leases()]

    async def watch(self, seconds: float) -> None:
        for _ in range(int(seconds)):
            await asyncio.sleep(1.0)
            self.doubles += [(self.loop.time(), slot) for slot in sorted(self.slots) if len(self.holders(slot)) > 1]

    def complete(self) -> bool:
        return all(len(self.holders(slot)) == 1 for slot in self.slots)


def simulate(world: World, scenario: Callable[[World, asyncio.TaskGroup], Awaitable[None]]) -> World:
    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            await scenario(world, group)
            for task in world.tasks.values():
                task.cancel()

    world.loop.run(main())
    return world


async def grow(world: World, group: asyncio.TaskGroup, count: int, pause_s: float = 0.3) -> None:
    for _ in range(count):
        world.start(group)
        await asyncio.sleep(pause_s)
