"""Lists whom a node that starts asks to let it in.

In this order, all of which the overlay then keeps trying at growing intervals while nobody answers: the peers of an
earlier run (the overlay's own cache, read when it is opened), the network file's addresses, the addresses in the
strategy in force. Bootstrap nodes are introductions and nothing more: who has ever joined does not need them.
"""

from collections.abc import Iterable

from dht import Address, Endpoint, Network, Strategy, parse_address


def first_contacts(network: Network, strategy: Strategy, *, extra: Iterable[Endpoint] = ()) -> tuple[Address, ...]:
    """Return the addresses for first contact, best first, each once. `extra`: what the operator names, before all."""
    listed = (parse_address(address) for address in strategy.bootstrap)
    ordered = [endpoint.udp for endpoint in (*extra, *network.bootstrap, *listed)]
    return tuple(dict.fromkeys(ordered))
