"""In a large network one member at an address and two in a /24 or /48 are enough: one more is not admitted.

Pure: addresses in, verdict out. One machine answers for as many identities as it likes, but it has few addresses, and
those of one subscriber lie in few prefixes. Attesters refuse to name who comes late, and where many came at once they
name the first of them from then on. Small networks, in which one room may hold most machines, go without; so do
prefixes that the strategy declares.
"""

from collections import Counter
from collections.abc import Iterable

from dht.admission.neighbourhood import SMALL_NETWORK
from dht.wire.address_policy import AddressPolicy
from dht.wire.contact import pack_host

PREFIX_MEMBERS = 2  # of a /24 or /48: as many as may be candidates of one slot
ADDRESS_MEMBERS = 1  # at an IPv4 address, or in a /64 of IPv6
PREFIX_BYTES = frozenset((3, 6))  # /24, /48


def crowding_blocks(hosts: Iterable[str], policy: AddressPolicy) -> frozenset[bytes]:
    """Return what a node shares with others: of each address the /24, or the /48 and /64, and the address itself if it
    is IPv4. Nothing of private addresses and declared prefixes."""
    found = set[bytes]()
    for host in hosts:
        if (subnet := policy.subnet(host)) is not None:
            found |= {subnet, pack_host(host)[:8]}
    return frozenset(found)


def is_crowded(blocks: frozenset[bytes], others: Iterable[frozenset[bytes]], members: int) -> bool:
    """Tell whether one of a node's blocks has members enough without it. `others`: the blocks of those who come before
    it; `members`: of the whole network."""
    if members <= SMALL_NETWORK:
        return False
    counts = Counter(block for each in others for block in each & blocks)
    return any(n >= (PREFIX_MEMBERS if len(block) in PREFIX_BYTES else ADDRESS_MEMBERS) for block, n in counts.items())
