"""Draws together what this node hears of the network: how each part of the key space is kept and crawled, where nodes
stand, and how they are reached.

Pure: what is heard in, values out. However many slots and peers there are, the map has at most SECTORS parts: a part
shows the worst of its slots, so that no lack is hidden.
"""

import ipaddress
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil

SECTORS = 256  # of the ring: a degree and a half each
MOST_COPIES = 3  # from which on more are drawn alike
WORST = 12  # slots that are named
PREFIXES = 12
PREFIX_BITS = {4: 24, 6: 48}  # by which the network itself counts neighbours
KEY_BYTES_READ = 4  # of an id: finer than any drawing


@dataclass(frozen=True, slots=True)
class HeardSlot:
    """Says of one slot how many live nodes serve it, how many are to, whether somebody crawls it, and whether this node
    owns it, serves it and crawls it."""

    ready: int
    owners: int
    is_crawled: bool
    is_owned: bool
    is_ready: bool
    is_leased: bool


@dataclass(frozen=True, slots=True)
class HeardPeer:
    """Says of one member where it stands in the key space, 0…1, whether it lives, and at which addresses."""

    place: float
    is_live: bool
    hosts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NetworkMap:
    """Holds rings of sectors, the first at the start of the key space, and the counts behind them.

    `copies` is the fewest ready nodes of a sector's slots, MOST_COPIES at most. `crawled` tells whether all its slots
    are. `mine` is 0 where none is this node's, 1 owned, 2 served, 3 crawled. `nodes` tells whether live ones stand
    there."""

    slots: int
    copies: tuple[int, ...]
    crawled: tuple[bool, ...]
    mine: tuple[int, ...]
    nodes: tuple[bool, ...]
    by_copies: tuple[tuple[int, int], ...]  # how many slots have how many, the fewest first
    uncrawled: int
    worst: tuple[tuple[int, int, int], ...]  # slot, ready nodes, owners; of those with fewer ready nodes than owners
    lacking: int  # how many such slots there are
    members: int
    keep_all: bool  # whether each of several members owns every slot
    live: int
    families: tuple[tuple[str, int], ...]
    prefixes: tuple[tuple[str, int], ...]
    other_prefixes: int  # with fewer members than those


def network_map(slots: Sequence[HeardSlot], peers: Sequence[HeardPeer]) -> NetworkMap:
    """Put together what is heard of slots, by their numbers, and of members."""
    parts = list(_sectors(slots))
    nodes = [False] * len(parts)
    for peer in peers:
        nodes[min(int(peer.place * len(parts)), len(parts) - 1)] |= peer.is_live
    lacking = [(number, slot.ready, slot.owners) for number, slot in enumerate(slots) if slot.ready < slot.owners]
    live = [peer for peer in peers if peer.is_live]
    prefixes = Counter(prefix for peer in live for prefix in {*map(prefix_of, peer.hosts)} if prefix)
    return NetworkMap(
        slots=len(slots),
        copies=tuple(min(MOST_COPIES, min(slot.ready for slot in part)) for part in parts),
        crawled=tuple(all(slot.is_crawled for slot in part) for part in parts),
        mine=tuple(max(map(_mine, part)) for part in parts),
        nodes=tuple(nodes),
        by_copies=tuple(sorted(Counter(slot.ready for slot in slots).items())),
        uncrawled=sum(not slot.is_crawled for slot in slots),
        worst=tuple(sorted(lacking, key=lambda each: (each[1], each[0]))[:WORST]),
        lacking=len(lacking),
        members=len(peers),
        keep_all=len(peers) > 1 and all(slot.owners == len(peers) for slot in slots),
        live=len(live),
        families=tuple(_families(live)),
        prefixes=tuple(prefixes.most_common(PREFIXES)),
        other_prefixes=max(0, len(prefixes) - PREFIXES),
    )


def place_of(node_id: bytes) -> float:
    """Return where a node's id stands in the key space, 0…1."""
    return float(int.from_bytes(node_id[:KEY_BYTES_READ])) / (1 << 8 * KEY_BYTES_READ)


def prefix_of(host: str) -> str:
    """Return the prefix by which neighbours of an address are told, "" for what is no address."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return ""
    return str(ipaddress.ip_network(f"{address}/{PREFIX_BITS[address.version]}", strict=False))


def _sectors(slots: Sequence[HeardSlot]) -> Iterable[Sequence[HeardSlot]]:
    size = max(1, ceil(len(slots) / SECTORS))
    return (slots[at : at + size] for at in range(0, len(slots), size))


def _mine(slot: HeardSlot) -> int:
    return 3 if slot.is_leased else 2 if slot.is_ready else 1 if slot.is_owned else 0


def _families(live: Sequence[HeardPeer]) -> Iterable[tuple[str, int]]:
    """Count who is reached by which families: ipv4 alone, ipv6 alone, both, none (a client behind others)."""
    names = {(True, False): "ipv4", (False, True): "ipv6", (True, True): "both", (False, False): "none"}
    counts = Counter(
        names[any(":" not in host for host in peer.hosts), any(":" in host for host in peer.hosts)] for peer in live
    )
    return ((name, counts[name]) for name in names.values() if counts[name])
