"""Makes one simulated node: the `OverlayService` and the `NodeCore` of a real one, over memory, not sockets and disks.

`SimNode` itself holds all that outlives a kill: the identity, the disk, and a small folder with the overlay's notes.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from bootstrap import first_contacts
from crawl import CrawlConfig, InlineParsers
from dht import (
    STRICT,
    Address,
    AddressPolicy,
    DhtConfig,
    DialBack,
    Endpoint,
    Family,
    Identity,
    LocalFaults,
    Mode,
    Network,
    NodeId,
    OnEvent,
    OverlayFiles,
    OverlayService,
    OverlaySettings,
    ProtocolEngine,
    ShardPolicy,
    StrategyHistory,
    Supervisor,
    WorkingFamilies,
)
from index import IndexConfig
from node.app.clean_stop import take_leave
from node.app.environment import HostMachine, NodeEnvironment, NodeFiles, OwnMembership, WebAccess
from node.app.node_core import NodeCore
from node.extras.simulation.carrier import SimCarrier
from node.extras.simulation.dial_back import SimPorts
from node.extras.simulation.loop import PLACE, SimClock
from node.extras.simulation.network import SimDatagrams, SimNetwork
from node.extras.simulation.scripted_fetch import ScriptedFetcher, Visited
from node.extras.simulation.scripted_web import ScriptedWeb
from store import MemoryDisk, RecordStore, StoreConfig

PORT = 8091
LISTENING = tuple(Endpoint(host, PORT, PORT) for host in ("0.0.0.0", "::"))
CRAWL, INDEX = CrawlConfig(), IndexConfig(engine="memory")
DHT, LAPTOP = DhtConfig(), DhtConfig(stable=False)
SPREADING = ShardPolicy()
STORE = StoreConfig(reserve_bytes=0, step_s=3.0, deliver_every_s=2.0)  # as by default, but for calmer looks


@dataclass(frozen=True, slots=True)
class SimEnvironment:
    """Holds what all nodes of a world share. `executor` is never used: the loop runs its calls inline."""

    wire: SimNetwork
    network: Network
    web: ScriptedWeb
    log: list[Visited]
    executor: ThreadPoolExecutor


@dataclass(eq=False)
class SimNode:
    """A node, running or not; `overlay` and `node_core` belong to its newest run."""

    name: str
    addresses: tuple[Address, ...]
    identity: Identity
    clock: SimClock
    folder: Path
    rng: Random
    mode: Mode = "member"  # auto: what peers find out about its address decides
    stable: bool = True  # False: a laptop, which sleeps
    disk: MemoryDisk = field(init=False, default_factory=MemoryDisk)
    crawl: CrawlConfig = field(init=False, default=CRAWL)
    store: StoreConfig = field(init=False, default=STORE)
    task: asyncio.Task[None] | None = field(init=False, default=None)
    core: ProtocolEngine = field(init=False)  # the overlay's, of its newest run
    wire: SimDatagrams = field(init=False)  # its sockets, of its newest run
    kick: Callable[[], None] = field(init=False)  # lets that core act on what it was told
    supervisor: Supervisor = field(init=False)  # of its newest run
    is_founder: bool = field(init=False, default=False)  # it began the network, and starts though nobody is there
    is_bare: bool = field(init=False, default=False)  # a bootstrap node: an overlay and nothing above it
    # By default an error of its upkeep ends the world.
    supervise: Callable[[LocalFaults], Supervisor] = field(init=False, default_factory=lambda: lambda faults: STRICT)

    @property
    def is_running(self) -> bool:
        """Tell whether the node lives."""
        return self.task is not None

    def build(self, around: SimEnvironment) -> None:
        """Make overlay and node core over what the disk and the folder hold."""
        faults = LocalFaults(self.clock)
        self.supervisor = self.supervise(faults)
        overlay = self._overlay(around, faults)
        remembered = overlay.remember()
        joins = overlay.join(first_contacts(around.network, overlay.view.strategy), by_network=True)
        if self.is_founder:
            overlay.begin_network()
        if joins and not self.is_founder and not RecordStore(self.disk, self.store, self.clock).occupied(0):
            overlay.expect_others()
        has = frozenset(address.family for address in self.addresses)
        fetcher = ScriptedFetcher(around.web, self.name, around.log, overlay.families, has)
        store = RecordStore(self.disk, self.store, self.clock, faults)
        files = NodeFiles(
            evidence=self.folder / "evidence",
            traps=self.folder / "traps",
            wishes=self.folder / "hosts.json",
            schedule=self.folder / "schedule.json",
            room=self.folder / "room.json",
        )
        web = WebAccess(
            fetcher=fetcher,
            parsers=InlineParsers(),
            second_look_fetcher=ScriptedFetcher(
                around.web, self.name, around.log, overlay.families, has, is_second_look=True
            ),
            find_way=fetcher.find_way,
            judge_addresses=fetcher.judge_addresses,
            find_texts=around.web.find_texts,
        )
        environment = NodeEnvironment(
            OwnMembership(self.identity, overlay, bool(joins or remembered), SPREADING),
            HostMachine(store, files, self.clock, self.rng, faults),
            web,
        )
        self.overlay = overlay
        self.node_core = NodeCore(self.crawl, self.store, INDEX, environment)

    def start(self, tasks: asyncio.TaskGroup, around: SimEnvironment) -> None:
        """Start a run on what the disk and the folder hold, as a task whose loop knows it by the node's name."""
        self.build(around)
        place = copy_context()
        place.run(PLACE.set, self.name)
        self.task = tasks.create_task(self.run(), name=self.name, context=place)

    async def kill(self, wire: SimNetwork) -> None:
        """End the run as kill -9 does: nothing more arrives or leaves, what was not synced is lost."""
        task = self.task
        assert task is not None, f"{self.name} does not run"
        kept = {path: path.read_bytes() for path in sorted(self.folder.rglob("*")) if path.is_file()}
        self.task = None
        wire.kill(self.name)
        task.cancel()
        await asyncio.wait([task])
        await self.node_core.close()
        self.disk.crash()
        for path, content in kept.items():  # a killed process tidies nothing up
            path.write_bytes(content)

    async def stop(self, wire: SimNetwork) -> None:
        """End the run as a signal does: the last packets leave, files are closed."""
        task = self.task
        assert task is not None, f"{self.name} does not run"
        if not self.is_bare:
            await take_leave(self.node_core, self.overlay)
        self.task = None
        task.cancel()
        await asyncio.wait([task])
        await asyncio.sleep(1.0)  # for what is on its way
        wire.kill(self.name)
        await self.node_core.close()

    def wipe(self) -> None:
        """Give a killed node an empty disk."""
        self.disk = MemoryDisk()

    async def run(self) -> None:
        """Live until cancelled."""
        work = None if self.is_bare else self.node_core.crawl.crawler
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.overlay.run(work, self.supervisor), name=f"{self.name}-overlay")
            if not self.is_bare:
                tasks.create_task(self.node_core.run(self.supervisor), name=f"{self.name}-core")

    def _hear_time(self, peer: NodeId, at: float) -> None:
        self.core.clocks.told(peer, at, self.clock())

    def _engine(self, network: bytes, wire: SimNetwork) -> ProtocolEngine:
        core = ProtocolEngine(
            self.identity,
            network,
            DHT if self.stable else LAPTOP,
            Random(self.rng.random()),
            listening=LISTENING,
            policy=AddressPolicy(),
            member=not self.is_bare,
            families=WorkingFamilies((4, 6), lambda host: wire.source_towards(self.name, host)),
        )
        if self.mode != "member":
            core.take_part(False)
        return core

    def _overlay(self, around: SimEnvironment, faults: LocalFaults) -> OverlayService:
        network, wire = bytes.fromhex(around.network.id), around.wire
        core = self.core = self._engine(network, wire)

        def drive(on_event: OnEvent) -> SimDatagrams:
            self.wire = datagrams = SimDatagrams(core, self.clock, wire, self.name, self.addresses, on_event)
            self.kick = datagrams.kick
            return datagrams

        return OverlayService(
            self._settings(),
            core,
            drive,
            SimCarrier(wire, self.name, self.identity.node_id, self.clock, self._hear_time),
            StrategyHistory(around.network, self.folder / "strategy"),
            self.clock,
            OverlayFiles(self.folder, around.executor, faults),
            DialBack(self.identity, network, self.rng, SimPorts(wire, self.name, self.rng).open),
        )

    def _settings(self) -> OverlaySettings:
        return OverlaySettings(
            LISTENING,
            self.folder,
            member=not self.is_bare,
            invitation=self.folder / "invitation",
            vouchers=self.folder / "vouchers",
            mode=self.mode,
            is_declared=False,
            probe_s=DHT.probe_s if self.mode == "auto" else 0.0,
        )


def addresses_of(number: int, families: tuple[Family, ...]) -> tuple[Address, ...]:
    """Return the public addresses of a node, each node in a prefix of its own."""
    hosts: dict[Family, str] = {4: f"9.{number // 250}.{number % 250}.1", 6: f"2606:4700:{number + 1:x}::1"}
    return tuple(Address(hosts[family], PORT) for family in families)
