"""Names all that a node needs from the outside world: its place in a network, a machine, and a way to the web.

`node/process/run_node.py` gives the real ones, simulations others.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from crawl import BandwidthWait, Fetcher, FetchMeter, FindWay, JudgeAddress, Locate, Parsers, anywhere, nowhere
from dht import Clock, Identity, LocalFaults, Overlay, ShardPolicy
from index import Tracer, untraced
from node.config.data_dir import DataDir
from node.crawling.machine_load import MachineReading
from node.sites.dns_proof import FindTexts, no_texts
from store import RecordStore

SHARDING = ShardPolicy()


@dataclass(frozen=True, slots=True)
class OwnMembership:
    """Connects a node with its network."""

    identity: Identity
    overlay: Overlay
    expects_others: bool  # the peer cache or the network file names somebody
    spreading: ShardPolicy = SHARDING  # which sites are big enough to be spread


@dataclass(frozen=True, slots=True)
class NodeFiles:
    """Names the files that a node keeps beside its store; None: in memory, for one run."""

    index: Path | None = None
    seen: Path | None = None  # where handed-over URLs are remembered, emptied at every start
    evidence: Path | None = None
    traps: Path | None = None  # that the crawler has learned
    wishes: Path | None = None  # the owner's wishes of single hosts
    schedule: Path | None = None  # the last crawl jobs, and those that are submitted again
    asked_removals: Path | None = None  # what site owners asked the owner to remove
    room: Path | None = None  # how much room the node takes part with
    measure: Callable[[], int] | None = None  # how many bytes all files outside of the store have

    @classmethod
    def of(cls, data: DataDir, measure: Callable[[], int]) -> "NodeFiles":
        """Name the files in a node's directory."""
        return cls(
            data.index,
            data.seen,
            data.evidence,
            data.traps,
            data.host_wishes,
            data.schedule,
            data.asked_removals,
            data.room,
            measure,
        )


@dataclass(frozen=True, slots=True)
class HostMachine:
    """Gives a node what its machine has: a disk, a clock, chance, and readings of itself."""

    store: RecordStore
    files: NodeFiles
    clock: Clock
    rng: Random
    faults: LocalFaults  # of this machine, told by whoever reads and writes files
    load: Callable[[], MachineReading] = MachineReading  # how busy it is; by default nothing is told
    tracer: Tracer = untraced  # of the queries that are asked here

    def new_rng(self) -> Random:
        """Return a source of chance of its own for one object."""
        return Random(self.rng.random())


@dataclass(frozen=True, slots=True)
class WebAccess:
    """Fetches and parses what sites serve, and tells about a host before it is asked."""

    fetcher: Fetcher
    parsers: Parsers
    second_look_fetcher: Fetcher | None = None  # for second looks, where their requests are told apart
    find_way: FindWay = anywhere  # whether the fetcher has a way to a host
    locate: Locate = nowhere  # where the fetcher will find a host
    late: BandwidthWait = lambda: 0.0  # until the fetcher's bandwidth limit lets another fetch begin
    limit: Callable[[float], None] = lambda _bytes_s: None  # takes over another bandwidth limit
    judge_addresses: Callable[[JudgeAddress], None] = lambda _judge: None  # has the fetcher go by rules by address
    find_texts: FindTexts = no_texts  # what DNS says of removals
    meter: FetchMeter = field(default_factory=FetchMeter)  # what the fetcher counts
    outage: Callable[[], str] = str  # why this machine reaches no site at all, "" where it does


@dataclass(frozen=True, slots=True)
class NodeEnvironment:
    """Holds the three of one node."""

    member: OwnMembership
    machine: HostMachine
    web: WebAccess
