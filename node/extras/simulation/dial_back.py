"""Ports of the simulated network from which nothing was sent yet, for `dht/reachability/dial_back.py`."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from random import Random

from dht import Address
from node.extras.simulation.network import SimNetwork

PORTS = (49_152, 65_535)  # where new ports are from


class SimPorts:
    """Opens new ports of one simulated node."""

    def __init__(self, network: SimNetwork, name: str, rng: Random) -> None:
        self._network, self._name, self._rng = network, name, rng

    @asynccontextmanager
    async def open(self, address: Address, receive: Callable[[bytes], None]) -> AsyncIterator[Callable[[bytes], None]]:
        """Open a port from which to reach an address; raises OSError where the node has no address of its family."""
        network, name = self._network, self._name
        source = Address(network.source_towards(name, address.host), self._rng.randint(*PORTS))
        if not source.host:
            raise OSError(f"no address of family {address.family}")
        network.attach(name, source, lambda data, _: receive(data))
        try:
            yield lambda data: network.send(name, data, source, address)
        finally:
            network.detach(source)
