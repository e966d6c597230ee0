"""Opens ports of the simulated network from which nothing was sent yet, for `dht/reachability/dial_back.py`."""

from collections.abc import Callable
from random import Random

from dht import Address
from node.simulation.network import SimNetwork

PORTS = (49_152, 65_535)  # where new ports are from


class SimPorts:
    """Opens new ports of one simulated node."""

    def __init__(self, network: SimNetwork, name: str, rng: Random) -> None:
        self._network, self._name, self._rng = network, name, rng

    async def open(self, address: Address, receive: Callable[[bytes], None]) -> "SimPort":
        """Open a port from which to reach an address; raises OSError where the node has no address of its family."""
        source = Address(self._network.host_of(self._name, frozenset({address.family})), self._rng.randint(*PORTS))
        if source.family != address.family:
            raise OSError(f"no address of family {address.family}")
        return SimPort(self._network, self._name, source, address, receive)


class SimPort:
    """Is one open port; it is closed once."""

    def __init__(
        self, network: SimNetwork, name: str, source: Address, target: Address, receive: Callable[[bytes], None]
    ) -> None:
        self._network, self._name, self._source, self._target = network, name, source, target
        network.attach(name, source, lambda data, _: receive(data))

    def send(self, data: bytes) -> None:
        """Send a datagram to the address that the port was opened for."""
        self._network.send(self._name, data, self._source, self._target)

    def close(self) -> None:
        """Receive nothing more here."""
        self._network.detach(self._source)
