"""The overlay by itself under virtual time: cores over the simulated network, nothing above them."""

import asyncio
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from random import Random

from dht import (
    Address,
    AddressPolicy,
    Contact,
    DhtConfig,
    Endpoint,
    Event,
    Identity,
    Key,
    ProtocolEngine,
    Slot,
    distance,
)
from dht.slot_set import encode_slots
from dht.wire.value_record import sign_record
from node.extras.simulation.everybody import trust_everybody
from node.extras.simulation.loop import EPOCH, SimLoop
from node.extras.simulation.network import SimDatagrams, SimNetwork

NETWORK = b"a network of the simulator"
FAMILIES = {"4": (4,), "6": (6,), "both": (4, 6)}


def addresses(n: int, families: str) -> tuple[Address, ...]:
    hosts = {4: f"9.{n // 250}.{n % 250}.1", 6: f"2606:4700:{n + 1:x}::1"}  # each in a prefix of its own
    return tuple(Address(hosts[f], 8091) for f in FAMILIES[families])


@dataclass
class Peer:
    """One simulated node."""

    name: str
    core: ProtocolEngine
    datagrams: SimDatagrams
    addresses: tuple[Address, ...]
    events: list[Event] = field(default_factory=list)
    task: asyncio.Task[None] | None = None


class World:
    """Nodes, one network, one seed."""

    def __init__(self, loop: SimLoop, seed: int, *, loss: float = 0.0) -> None:
        self.loop = loop
        self.seed = seed
        self.network = SimNetwork(loop, seed, loss=loss)
        self.clock = loop.clock()
        self.peers: list[Peer] = []

    def add(
        self, tasks: asyncio.TaskGroup, families: str = "both", *, skew_s: float = 0.0, config: DhtConfig | None = None
    ) -> Peer:
        n = len(self.peers)
        identity = Identity(Random(self.seed * 1000 + n).randbytes(32))
        own = addresses(n, families)
        listening = tuple(Endpoint(a.host, a.port, a.port) for a in own)
        core = ProtocolEngine(
            identity,
            NETWORK,
            config or DhtConfig(),
            Random(self.seed * 1000 + n),
            listening=listening,
            policy=AddressPolicy(),
        )
        trust_everybody(core)
        events: list[Event] = []
        clock = self.loop.clock(skew_s)
        peer = Peer(f"n{n}", core, SimDatagrams(core, clock, self.network, f"n{n}", own, events.append), own, events)
        self.peers.append(peer)
        if n:
            core.join(clock(), [a for p in self.peers[:1] for a in p.addresses])
        peer.task = tasks.create_task(peer.datagrams.run())
        return peer

    def kill(self, peer: Peer) -> None:
        self.network.kill(peer.name)
        assert peer.task
        peer.task.cancel()

    def live_pairs(self, peers: list[Peer]) -> float:
        """Share of the ordered pairs in which one sees the other as live."""
        now = self.clock()
        seen = [a.core.members.is_live(b.core.node_id, now) for a in peers for b in peers if a is not b]
        return sum(seen) / len(seen)


def simulate(
    scenario: Callable[[World, asyncio.TaskGroup], Awaitable[None]], seed: int = 1, *, loss: float = 0.0
) -> World:
    loop = SimLoop()
    worlds: list[World] = []

    async def main() -> None:
        worlds.append(World(loop, seed, loss=loss))
        async with asyncio.TaskGroup() as tasks:
            await scenario(worlds[0], tasks)
            for peer in worlds[0].peers:
                if peer.task:
                    peer.task.cancel()

    loop.run(main())
    return worlds[0]


async def hour(world: World, tasks: asyncio.TaskGroup, nodes: int = 50, seconds: float = 3600.0) -> list[float]:
    for n in range(nodes):
        world.add(tasks, ("both", "4", "6")[n % 3 if n > 2 else 0])
        await asyncio.sleep(0.3)
    shares = []
    for _ in range(int(seconds / 60)):
        await asyncio.sleep(60.0)
        shares.append(world.live_pairs(world.peers))
    return shares


def test_five_nodes_of_mixed_families_know_each_other_within_three_seconds() -> None:
    async def scenario(world: World, tasks: asyncio.TaskGroup) -> None:
        for families in ("both", "both", "4", "4", "6"):
            world.add(tasks, families)
        await asyncio.sleep(3.0)
        assert world.live_pairs(world.peers) == 1.0
        for peer in world.peers:
            assert peer.core.members.members(world.clock()) == tuple(sorted(p.core.node_id for p in world.peers))

    simulate(scenario)


def test_a_death_is_seen_within_thirty_seconds_and_a_return_within_six() -> None:
    async def scenario(world: World, tasks: asyncio.TaskGroup) -> None:
        for n in range(12):
            world.add(tasks, ("both", "4", "6")[n % 3])
        await asyncio.sleep(60.0)
        victim, others = world.peers[5], world.peers[:5] + world.peers[6:]
        world.kill(victim)
        await asyncio.sleep(30.5)
        now = world.clock()
        assert not any(p.core.members.is_live(victim.core.node_id, now) for p in others)
        assert all(victim.core.node_id in p.core.members.members(now) for p in others), "it is still a member"
        assert world.live_pairs(others) == 1.0
        victim.task = tasks.create_task(victim.datagrams.run())
        await asyncio.sleep(6.0)
        assert world.live_pairs(world.peers) == 1.0

    simulate(scenario, loss=0.01)


def test_news_of_one_reach_all_within_seconds() -> None:
    slots = encode_slots(Slot(s) for s in range(40))

    async def scenario(world: World, tasks: asyncio.TaskGroup) -> None:
        for _ in range(40):
            world.add(tasks)
        await asyncio.sleep(30.0)
        teller = world.peers[7]
        teller.core.own.announce(ready=slots, leased=b"", due=3)
        teller.datagrams.kick()
        await asyncio.sleep(6.0)
        known = [p.core.members.find(teller.core.node_id) for p in world.peers if p is not teller]
        assert all(k and len(k.opened.heartbeat.ready_slots) == 40 for k in known)

    simulate(scenario)


def test_clocks_that_differ_do_not_matter() -> None:
    async def scenario(world: World, tasks: asyncio.TaskGroup) -> None:
        for n in range(9):
            world.add(tasks, ("both", "4", "6")[n % 3], skew_s=(-40.0, 0.0, 60.0, -3000.0)[n % 4])
        await asyncio.sleep(300.0)
        # a wall clock 3,140 s behind another sees its heartbeats as too far ahead: only these pairs may miss each other
        near = [p for n, p in enumerate(world.peers) if n % 4 != 3]
        assert world.live_pairs(near) == 1.0

    simulate(scenario)


def test_a_cut_heals_and_a_restarted_bootstrap_peer_is_found() -> None:
    async def scenario(world: World, tasks: asyncio.TaskGroup) -> None:
        for _ in range(16):
            world.add(tasks)
        await asyncio.sleep(30.0)
        world.network.cut({f"n{n}": n % 2 for n in range(16)})
        await asyncio.sleep(600.0)
        assert world.live_pairs(world.peers) < 0.5
        world.network.heal()
        await asyncio.sleep(90.0)
        assert world.live_pairs(world.peers) == 1.0

    simulate(scenario, loss=0.01)


def test_nodes_find_their_network_again_from_the_cache_without_any_bootstrap_peer() -> None:
    async def scenario(world: World, tasks: asyncio.TaskGroup) -> None:
        for _ in range(6):
            world.add(tasks)
        await asyncio.sleep(20.0)
        raws = [k.opened.raw for _, k in world.peers[1].core.members.known()]
        world.kill(world.peers[0])
        stranger = World(world.loop, 77)
        stranger.network, stranger.peers = world.network, world.peers
        late = stranger.add(tasks)
        late.core.remember(world.clock(), raws)
        await asyncio.sleep(5.0)
        assert sum(late.core.members.is_live(p.core.node_id, world.clock()) for p in world.peers[1:6]) == 5

    simulate(scenario)


def test_lookups_are_right_and_records_survive_loss_and_the_dead() -> None:
    async def scenario(world: World, tasks: asyncio.TaskGroup) -> None:
        for _ in range(60):
            world.add(tasks)
        await asyncio.sleep(40.0)
        found: list[list[Contact]] = []
        target = Random(5).randbytes(20)
        world.peers[9].core.finder.find(world.clock(), target, lambda _, contacts: found.append(contacts))
        world.peers[9].datagrams.kick()
        author, stored, read = Identity(bytes(32)), [], []
        key = Key(target)
        for sequence in (1, 2):
            record = sign_record(
                author, NETWORK, key=key, sequence=sequence, expires_at=EPOCH + 9000, value=b"v%d" % sequence
            )
            world.peers[9 + sequence].core.finder.put(world.clock(), record, lambda _, count: stored.append(count))
            world.peers[9 + sequence].datagrams.kick()
            await asyncio.sleep(10.0)
        ids = sorted((p.core.node_id for p in world.peers[:9] + world.peers[10:]), key=lambda p: distance(p, target))
        assert [c.node_id for c in found[0]][:8] == ids[:8]
        assert min(stored) >= 10
        for peer in world.peers[20:40]:
            world.kill(peer)
        world.peers[50].core.finder.get(world.clock(), key, lambda _, records: read.append([r.value for r in records]))
        world.peers[50].datagrams.kick()
        await asyncio.sleep(15.0)
        assert read == [[b"v2"]]

    simulate(scenario, loss=0.02)


def test_fifty_nodes_live_cheaply() -> None:
    shares: list[float] = []

    async def scenario(world: World, tasks: asyncio.TaskGroup) -> None:
        shares.extend(await hour(world, tasks, seconds=240.0))

    world = simulate(scenario, 2, loss=0.01)
    assert min(shares[1:]) >= 0.999
    assert world.network.sent / 50 / world.clock().steady <= 3.0
    assert not sum((Counter(p.core.refused) for p in world.peers), start=Counter())


def main() -> None:
    """python tests/sim/test_overlay_alone.py NODES SECONDS LOSS SEED"""
    nodes, seconds, loss, seed = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
    begun = time.process_time()
    shares: list[float] = []

    async def scenario(world: World, tasks: asyncio.TaskGroup) -> None:
        shares.extend(await hour(world, tasks, nodes, seconds))

    world = simulate(scenario, seed, loss=loss)
    print(f"processor {time.process_time() - begun:.1f} s")
    print(f"packets a node and second {world.network.sent / nodes / world.clock().steady:.2f}")
    print(f"live pairs, least {min(shares):.5f} mean {sum(shares) / len(shares):.5f}")
    print(f"sent {dict(sum((p.core.sent for p in world.peers), start=Counter()))}")
    print(f"trace {world.network.trace_hash}")


if __name__ == "__main__":
    main()
