"""Places a made-up web of 761,129 pages on nodes as the sources of this project did, and as this project does.

Yan Hongfei 2002 (WebGather) simulated so many pages on 2, 4, 8 and 16 nodes. One way was the host's hash modulo n, the
other 50,000 slots that a table gives to nodes. He Shuqing et al. 2008 placed a URL by a hash of its path and matched it
by one of its host, on 1 to 13 nodes. Both hash functions are rebuilt from the paper's description: the widths of tables
and characters, and that carries are added back or groups XORed. Two things are assumed. The node is the hash modulo n,
and a match is local if the node of the URL has met its host before. Ours are slots of the real placement keys, each
with the first of its real owners, big sites spread as the publisher's tool proposes, before any load is balanced.

`python -m benchmarks.placement [--quick] [--json]`: the deviation and the fullest node of each way, and how many pages
move when a node comes or goes.
"""

import sys
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from itertools import accumulate
from random import Random

import numpy as np
from numpy.typing import NDArray

from benchmarks.figures import Row, parser_for, row, show
from dht import NodeId, Placement, Slot, placement_key
from dht.keys import MAX_SPREAD, site_of, slot_of, split_url

PAGES, PAGES_A_SITE = 761_129, 548.72  # Yan 2002: of the simulation; of a Chinese site in that year
SLOTS = 50_000  # Yan 2002, in the example of the two stages
WEBGATHER_NODES, HASHING_NODES = (2, 4, 8, 16), (1, 3, 5, 7, 11, 13)
OUR_SLOT_BITS, REPLICAS = 9, 3  # 32 slots for each of 16 nodes, in the middle of what the publisher's tool proposes
HOST_BITS, PATH_BITS = 21, 15  # He et al. 2008: tables of 2^21 hosts and 2^15 paths
SECTIONS = 40  # into which a made-up site is divided; all sites call them alike

Nodes = NDArray[np.int64]  # the node of each page
Place = Callable[[int], Nodes]


def host_hash(host: str) -> int:
    """Fold the 7-bit characters of a host, three at a time, to 21 bits; carries are added back (He et al. 2008)."""
    total = sum(_packed(host, 7))
    while total >> HOST_BITS:
        total = (total & (1 << HOST_BITS) - 1) + (total >> HOST_BITS)
    return total


def path_hash(path: str) -> int:
    """XOR groups of three 5-bit characters of a path to 15 bits (He et al. 2008)."""
    found = 0
    for group in _packed(path, 5):
        found ^= group
    return found


def _packed(text: str, bits: int) -> Iterable[int]:
    low = [ord(character) & (1 << bits) - 1 for character in text]
    for at in range(0, len(low), 3):
        number = 0
        for each in low[at : at + 3]:
            number = number << bits | each
        yield number


def made_up(pages: int, seed: int) -> list[str]:
    """Return the URLs of sites whose sizes follow Zipf's law; many sites have pages of the same path."""
    rng, sites = Random(f"placement {seed}"), max(2, round(pages / PAGES_A_SITE))
    shares = list(accumulate(1 / rank for rank in range(1, sites + 1)))
    sizes = [0] * sites
    for _ in range(pages):
        sizes[bisect_right(shares, rng.random() * shares[-1])] += 1
    found = list[str]()
    for number, size in enumerate(sizes):
        host = f"www.{rng.getrandbits(32):x}{number}.example"
        found += [f"http://{host}/" + (f"part{n % SECTIONS}/{n:04}.html" if n else "") for n in range(size)]
    return found


@dataclass(frozen=True)
class Web:
    """Holds the pages and places them in each way; a node is a number below n."""

    urls: Sequence[str]
    seed: int

    @cached_property
    def _hosts(self) -> Nodes:
        known = {host: int.from_bytes(sha256(host.encode()).digest()[:6], "big") for host in map(site_of, self.urls)}
        return np.array([known[site_of(url)] for url in self.urls])

    @cached_property
    def _paths(self) -> Nodes:
        return np.array([path_hash(split_url(url).path) for url in self.urls])

    @cached_property
    def _folded_hosts(self) -> Nodes:
        known = {host: host_hash(host) for host in map(site_of, self.urls)}
        return np.array([known[site_of(url)] for url in self.urls])

    @cached_property
    def _slots(self) -> Nodes:
        """The slot of each page by its real key; sites above a quarter of a node's mean of 16 are spread."""
        sites = [site_of(url) for url in self.urls]
        names, counts = np.unique(sites, return_counts=True)
        depths = {name: _depth(pages, len(self.urls) / 16) for name, pages in zip(names, counts, strict=True)}
        pairs = zip(self.urls, sites, strict=True)
        return np.array([slot_of(placement_key(url, depths[site]), OUR_SLOT_BITS) for url, site in pairs])

    def by_host(self, nodes: int) -> Nodes:
        """Place each host by its hash modulo n (Yan 2002, first way)."""
        return self._hosts % nodes

    def by_slot_table(self, nodes: int) -> Nodes:
        """Place each host in a slot, and slots by a table that changes as little as it can (Yan 2002, two stages)."""
        return slot_table(nodes)[self._hosts % SLOTS]

    def by_path(self, nodes: int) -> Nodes:
        """Place each page by its path (He et al. 2008)."""
        return self._paths % nodes

    def by_folded_host(self, nodes: int) -> Nodes:
        """Place each host by the other hash function of the paper (He et al. 2008)."""
        return self._folded_hosts % nodes

    def ours(self, nodes: int) -> Nodes:
        """Place each page with the first of its slot's owners; the members of n are among those of n + 1."""
        rng = Random(f"members {self.seed}")
        members = [NodeId(rng.randbytes(20)) for _ in range(nodes)]
        placement = Placement(sorted(members), OUR_SLOT_BITS, REPLICAS)
        first = [members.index(placement.owners(Slot(slot))[0]) for slot in range(1 << OUR_SLOT_BITS)]
        return np.array(first)[self._slots]

    def local_matches(self, nodes: int) -> float:
        """Return the share of pages whose node, by the path, has met the page's host before (He et al. 2008)."""
        met = np.unique(self._hosts * nodes + self.by_path(nodes))
        return 1 - len(met) / len(self.urls)


def _depth(pages: int, mean: float) -> int:
    return next((d for d in range(MAX_SPREAD) if pages / 2**d <= mean / 4), MAX_SPREAD)


def slot_table(nodes: int) -> Nodes:
    """Return the node of each of the 50,000 slots after nodes came one by one and took their shares from the others."""
    table = np.zeros(SLOTS, np.int64)
    for newcomer in range(1, nodes):
        for giver in range(newcomer):
            held = np.flatnonzero(table == giver)
            table[held[: len(held) - -(-SLOTS // (newcomer + 1))]] = newcomer
    return table


def deviation(placed: Nodes, nodes: int) -> float:
    """Return the standard deviation of the nodes' pages over their mean."""
    counts = np.bincount(placed, minlength=nodes)
    return float(counts.std() / counts.mean())


def moved(place: Place, nodes: int) -> float:
    """Return the share of pages that lie elsewhere once another node is there, or once it is gone again."""
    return float(np.mean(place(nodes) != place(nodes + 1)))


def rows(webs: Sequence[Web]) -> list[Row]:
    """Return the rows of all ways. A row's peer is each page drawn by lot, and for moves what must move at least."""
    found = list[Row]()
    for name, of, counts in (
        ("Yan 2002, host modulo n", Web.by_host, WEBGATHER_NODES),
        ("Yan 2002, host to slot to node", Web.by_slot_table, WEBGATHER_NODES),
        ("He 2008, path", Web.by_path, HASHING_NODES),
        ("He 2008, host", Web.by_folded_host, HASHING_NODES),
        ("ours", Web.ours, sorted({*WEBGATHER_NODES, *HASHING_NODES})),
    ):
        for nodes in counts:
            placed = [of(web, nodes) for web in webs]
            lots = [((nodes - 1) / len(web.urls)) ** 0.5 for web in webs]
            fullest = [np.bincount(each, minlength=nodes).max() * nodes / len(each) for each in placed]
            found.append(
                row(f"{name}, {nodes} nodes: deviation ÷ mean", [deviation(p, nodes) for p in placed], "", peer=lots)
            )
            found.append(row(f"{name}, {nodes} nodes: fullest ÷ mean", fullest, ""))
        last = counts[-1]
        shares = [moved(lambda nodes, of=of, web=web: of(web, nodes), last) for web in webs]  # type: ignore[misc]
        found.append(row(f"{name}: pages that a node beside {last} moves", shares, "", peer=[1 / (last + 1)]))
    for nodes in HASHING_NODES:
        matches = [web.local_matches(nodes) for web in webs]
        found.append(row(f"He 2008, {nodes} nodes: matches that are local", matches, ""))
    return found


def main(arguments: Sequence[str]) -> int:
    """Run the benchmark; return 0 whatever the figures are."""
    options = parser_for(__doc__ or "").parse_args(arguments)
    pages, seeds = (PAGES // 10, 2) if options.quick else (PAGES, 5)
    webs = [Web(made_up(pages, seed), seed) for seed in range(1, seeds + 1)]
    show("placement", rows(webs), ["numpy"], as_json=options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
