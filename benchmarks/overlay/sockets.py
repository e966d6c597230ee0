"""Measures what a question and its answer cost on real sockets over loopback: processor time of both sides.

Two cores that know each other only; each of their lookups is one FIND and one FOUND. Beside it the stock package's
`find_node`, on its own transport.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from random import Random

from kademlia.network import Server
from kademlia.node import Node

from benchmarks.figures import Row, row
from benchmarks.overlay import goals
from benchmarks.overlay.extent import Extent
from dht import Address, AddressPolicy, DhtConfig, Endpoint, Identity, ProtocolEngine, system_clock
from dht.protocol.udp_driver import UdpDriver, bind_udp
from node.extras.simulation.everybody import trust_everybody

AT_ONCE = 8  # questions open at a time
NETWORK = b"network of loopback."


def rows(extent: Extent) -> list[Row]:
    """Return one figure: microseconds of processor time for both sides."""
    count, runs = (1_000, 3) if extent.quick else (6_000, 5)
    ours = [asyncio.run(ours_us(count, seed)) for seed in range(runs)]
    peer = [asyncio.run(stock_us(count)) for _ in range(runs)]
    what = "one UDP question and answer on loopback, processor time of both sides"
    return [row(what, ours, "µs", goal=goals.RPC_US, peer=peer)]


async def ours_us(count: int, seed: int) -> float:
    """Return the microseconds of our cores behind real sockets, as a node drives them."""
    config = DhtConfig(allow_private=True, address_packets_s=100_000.0, peer_packets_s=100_000.0)
    rng, policy = Random(seed), AddressPolicy(allow_private=True)
    cores, drivers = [], []
    for n in range(2):
        sock = bind_udp(Address("127.0.0.1", 0))
        port = sock.getsockname()[1]
        listening = (Endpoint("127.0.0.1", port, port),)
        cores.append(
            ProtocolEngine(
                Identity(bytes([n + 1]) * 32), NETWORK, config, Random(n), listening=listening, policy=policy
            )
        )
        trust_everybody(cores[n])
        drivers.append(UdpDriver(cores[n], system_clock, [sock], lambda _event: None))

    async def ask() -> None:
        done = asyncio.get_running_loop().create_future()
        cores[0].finder.find(system_clock(), rng.randbytes(20), lambda _now, found: done.set_result(found))
        drivers[0].kick()
        assert await done, "no answer"

    async with asyncio.TaskGroup() as tasks:
        running = [tasks.create_task(driver.run()) for driver in drivers]
        await asyncio.sleep(0.1)
        cores[1].join(system_clock(), [e.udp for e in cores[0].own.endpoints()])
        drivers[1].kick()
        await asyncio.sleep(1.0)
        assert len(cores[0].routing) == len(cores[1].routing) == 1, "they have met"
        took_us = await _timed(ask, count)
        for task in running:
            task.cancel()
    return took_us


async def stock_us(count: int) -> float:
    """Return the microseconds of the stock package."""
    logging.getLogger("kademlia").setLevel(logging.CRITICAL)
    servers = [Server(), Server()]
    for server in servers:
        await server.listen(0, interface="127.0.0.1")
    host, port = servers[1].transport.get_extra_info("sockname")
    there, target = Node(servers[1].node.id, host, port), Node(bytes(20))

    async def ask() -> None:
        assert (await servers[0].protocol.call_find_node(there, target))[0], "no answer"

    took_us = await _timed(ask, count)
    for server in servers:
        server.stop()
    return took_us


async def _timed(ask: Callable[[], Awaitable[None]], count: int) -> float:
    """Return the processor microseconds of one call, AT_ONCE at a time, after some to warm up."""

    async def work(calls: int) -> None:
        for _ in range(calls):
            await ask()

    async def all_of(calls: int) -> None:
        async with asyncio.TaskGroup() as tasks:
            for _ in range(AT_ONCE):
                tasks.create_task(work(calls // AT_ONCE))

    await all_of(count // 5)
    began = time.process_time()
    await all_of(count)
    return (time.process_time() - began) * 1e6 / (count // AT_ONCE * AT_ONCE)
