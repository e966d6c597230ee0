"""Knocking at a simulated node's door from a port that was never sent to; see dht/reachability/dial_back.py."""

import asyncio
from random import Random

from dht import Address, DialBack, DialBackPing, Identity, NodeId
from node.simulation.network import SimNetwork

TRIES, WAIT_S = 2, 1.5
PORTS = (49_152, 65_535)  # where new ports are from


def sim_dial_back(network: SimNetwork, name: str, identity: Identity, network_id: bytes, rng: Random) -> DialBack:
    """Knocks for one node."""

    async def knock(address: Address, peer: NodeId) -> bool:
        question, heard = DialBackPing(identity, network_id, peer, rng), asyncio.Event()
        host = network.host_of(name, frozenset({address.family}))
        source = Address(host, rng.randint(*PORTS))
        if source.family != address.family:
            return False

        def receive(data: bytes, _: Address) -> None:
            if question.is_answered(data):
                heard.set()

        network.attach(name, source, receive)
        try:
            for _ in range(TRIES):
                network.send(name, question.data, source, address)
                try:
                    async with asyncio.timeout(WAIT_S):
                        await heard.wait()
                        return True
                except TimeoutError:
                    continue
        finally:
            network.detach(source)
        return False

    return knock
