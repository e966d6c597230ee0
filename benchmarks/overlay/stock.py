"""Runs the unmodified `kademlia` package on our simulated network: the ids, delays, losses and deaths of our cores.

It is asyncio over datagram endpoints, so it runs on the virtual-time loop, whose endpoints are the simulated network.
Its tables begin with the same contacts as ours, through its own `add_contact`.
"""

import asyncio
import logging
from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

from kademlia.crawling import NodeSpiderCrawl
from kademlia.network import Server
from kademlia.node import Node

from dht import Address
from node.extras.simulation.delays import Delays
from node.extras.simulation.forming import contacts
from node.extras.simulation.lookup_trial import quantile
from node.extras.simulation.loop import SimLoop
from node.extras.simulation.swarm import PORT, SwarmIdentity, place

ASKS, PACE_S = 40, 0.5


class StockLoop(SimLoop):
    """The virtual-time loop with a network below its datagram endpoints."""

    def __init__(self, seed: int, loss: float) -> None:
        super().__init__()
        self.places: dict[tuple[str, int], tuple[int, asyncio.DatagramProtocol]] = {}
        self._delays, self._loss, self._rng = Delays(seed), loss, Random(f"stock {seed}")

    async def create_datagram_endpoint(
        self, protocol_factory: Callable[[], Any], local_addr: Any = None, **_: Any
    ) -> Any:  # type: ignore[override]
        protocol = protocol_factory()
        self.places[local_addr] = len(self.places), protocol
        wire = Wire(self, local_addr)
        protocol.connection_made(wire)
        return wire, protocol

    def carry(self, data: bytes, source: tuple[str, int], target: tuple[str, int]) -> None:
        """Deliver a datagram later, or never."""
        here, there = self.places.get(source), self.places.get(target)
        if here is None or there is None or (self._loss and self._rng.random() < self._loss):
            return
        delay_s = self._delays.one_way_s(here[0], there[0], self._rng.random())
        self.call_later(delay_s, self._deliver, data, source, target)

    def _deliver(self, data: bytes, source: tuple[str, int], target: tuple[str, int]) -> None:
        if target in self.places:
            self.places[target][1].datagram_received(data, source)


class Wire(asyncio.DatagramTransport):
    """One datagram endpoint of the simulated network."""

    def __init__(self, loop: StockLoop, own: tuple[str, int]) -> None:
        super().__init__()
        self._carrier, self._own = loop, own

    def sendto(self, data: Any, addr: Any = None) -> None:
        self._carrier.carry(bytes(data), self._own, addr)

    def close(self) -> None:
        self._carrier.places.pop(self._own, None)


@cache
def looked_up(seed: int, nodes: int = 1_000, dead: float = 0.0, loss: float = 0.0) -> tuple[float, float]:
    """Return p50 and p95 of random lookups in ms, the first right after the deaths."""
    took: list[float] = []

    async def scenario(loop: StockLoop, servers: list[Server]) -> None:
        rng = Random(f"stock asks {seed}")
        up = kill(loop, servers, dead, rng)

        async def ask() -> None:
            server, target, began = rng.choice(up), Node(rng.randbytes(20)), loop.time()
            nearest = server.protocol.router.find_neighbors(target)
            await NodeSpiderCrawl(server.protocol, target, nearest, server.ksize, server.alpha).find()
            took.append((loop.time() - began) * 1000)

        async with asyncio.TaskGroup() as tasks:
            for _ in range(ASKS):
                tasks.create_task(ask())
                await asyncio.sleep(PACE_S)

    run(seed, nodes, loss, scenario)
    return quantile(took, 0.5) or 0.0, quantile(took, 0.95) or 0.0


def gets_right(seed: int, dead: float, count: int, nodes: int = 1_000) -> float:
    """Return the share of the values, each set twice, of which a random survivor gets the second."""
    right: list[bool] = []

    async def scenario(loop: StockLoop, servers: list[Server]) -> None:
        rng = Random(f"stock gets {seed}")
        for value in ("version 1", "version 2"):
            for n in range(count):
                await rng.choice(servers).set(f"key {n}", value)
        up = kill(loop, servers, dead, rng)
        for n in range(count):
            try:
                right.append(await rng.choice(up).get(f"key {n}") == "version 2")
            except ValueError:  # all that it knew are dead
                right.append(False)

    run(seed, nodes, 0.0, scenario)
    return sum(right) / count


def run(seed: int, nodes: int, loss: float, scenario: Callable[[StockLoop, list[Server]], Any]) -> None:
    """Form a network of servers and run a scenario in it."""
    for name in ("kademlia", "rpcudp", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    loop = StockLoop(seed, loss)

    async def main() -> None:
        ids = [SwarmIdentity(Random(f"identity {seed} {n}").randbytes(32)).node_id for n in range(nodes)]
        servers = [Server(node_id=bytes(peer)) for peer in ids]
        for index, server in enumerate(servers):
            await server.listen(PORT, interface=place(index, 4).host)
        _introduce(seed, servers)
        await asyncio.sleep(20.0)  # its tables ping whoever stands first in a full bucket
        await scenario(loop, servers)

    loop.run(main())


def kill(loop: StockLoop, servers: list[Server], share: float, rng: Random) -> list[Server]:
    """Take some off the network without a word; return the others."""
    gone = set(rng.sample(range(len(servers)), int(share * len(servers))))
    for index in gone:
        servers[index].transport.close()
    return [server for index, server in enumerate(servers) if index not in gone]


def _introduce(seed: int, servers: list[Server]) -> None:
    indexes = {server.node.id: index for index, server in enumerate(servers)}
    ids, rng = sorted(indexes), Random(f"forming {seed}")
    where = {peer: place(indexes[peer], 4) for peer in ids}
    known = {peer: Node(peer, *_host(where[peer])) for peer in ids}
    for peer in ids:
        for there in contacts(peer, ids, rng):
            servers[indexes[peer]].protocol.router.add_contact(known[ids[there]])


def _host(address: Address) -> tuple[str, int]:
    return address.host, address.port
