"""A network: its name, its id, who signs its first strategy, and where to begin.

Pure: values only; `bootstrap/networks.py` reads and writes the file. The id is a hash of name, first publisher keys
and threshold, so a network file certifies itself: whoever has the id cannot be given other publishers.
"""

from dataclasses import dataclass
from hashlib import sha256

import msgspec

from dht.errors import BadStrategy
from dht.keys import KEY_BYTES
from dht.strategy.document import Publishers, SignedStrategy
from dht.strategy.validation import check, check_publishers
from dht.wire.contact import Endpoint

MAX_NAME_CHARS = 64


@dataclass(frozen=True, slots=True)
class Network:
    """A checked network: id and first strategy fit the publishers. `bootstrap` are first contacts, nothing more."""

    name: str
    id: str  # hex, 40 digits
    publishers: Publishers
    bootstrap: tuple[Endpoint, ...]
    first: SignedStrategy
    seeds: tuple[str, ...] = ()  # DNS names with a port that mean first contacts
    info_url: str = ""  # page about the network's crawler and whom to ask: every node puts it into User-Agent


def network_id(name: str, publishers: Publishers) -> str:
    """Return the id of a network, 40 hex digits; the order of the keys does not matter."""
    certified = msgspec.json.encode((name, sorted(publishers.keys), publishers.threshold))
    return sha256(b"dse network\0" + certified).digest()[:KEY_BYTES].hex()


def check_network(network: Network) -> Network:
    """Return the network if it fits itself; raises BadStrategy with field, reason and remedy."""
    if not 0 < len(network.name) <= MAX_NAME_CHARS or not network.name.isprintable():
        raise BadStrategy("name", f"is {network.name[:80]!r}", f"write 1 … {MAX_NAME_CHARS} printable characters")
    check_publishers(network.publishers)
    wanted = network_id(network.name, network.publishers)
    if network.id != wanted:
        reason = f"is {network.id[:80]}, but name, publisher keys and threshold give {wanted}"
        raise BadStrategy("id", reason, "fetch the network file again from someone you trust; do not edit these fields")
    check(network.first, network.id, network.publishers, None)
    return network
