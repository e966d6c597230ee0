"""What a node needs from the outside world; `node/process/run_node.py` gives the real one, simulations another."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from crawl import BandwidthWait, Fetcher, FindWay, Locate, Parsers, anywhere, nowhere
from dht import Clock, Identity, LocalFaults, Overlay, ShardPolicy
from index import Tracer, untraced
from node.crawling.machine_load import MachineReading
from node.sites.dns_proof import FindTexts, no_texts
from store import RecordStore

SHARDING = ShardPolicy()


@dataclass(frozen=True, slots=True)
class NodeEnvironment:
    """Sockets, files, processes, clocks and chance, as one node finds them."""

    identity: Identity
    overlay: Overlay
    store: RecordStore
    fetcher: Fetcher
    parsers: Parsers
    clock: Clock
    rng: Random
    index_path: Path | None  # None: in memory
    seen_path: Path | None  # where handed-over URLs are remembered, emptied at every start; None: in memory
    evidence_path: Path | None  # where this node keeps its evidence; None: for one run
    expects_others: bool  # the peer cache or the network file names somebody
    faults: LocalFaults  # of this machine, told by whoever reads and writes files
    second_look_fetcher: Fetcher | None = None  # for second looks, where their requests are told apart
    wishes_path: Path | None = None  # where the owner's wishes of single hosts are kept; None: for one run
    find_way: FindWay = anywhere  # whether the fetcher has a way to a host
    locate: Locate = nowhere  # where the fetcher will find a host
    late: BandwidthWait = lambda: 0.0  # until the fetcher's bandwidth limit lets another fetch begin
    limit: Callable[[float], None] = lambda _bytes_s: None  # takes over another bandwidth limit
    find_texts: FindTexts = no_texts  # what DNS says of removals
    outage: Callable[[], str] = str  # why this machine reaches no site at all, "" where it does
    measure_files: Callable[[], int] | None = None  # bytes of all files outside of the store; None: there are none
    machine: Callable[[], MachineReading] = MachineReading  # how busy it is; by default nothing is told
    spreading: ShardPolicy = SHARDING  # which sites are big enough to be spread
    tracer: Tracer = untraced  # of the queries that are asked here

    def new_rng(self) -> Random:
        """Return a source of chance of its own for one object."""
        return Random(self.rng.random())
