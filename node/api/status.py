"""The bodies of a node's report about itself.

Pure: values only. Instants are Unix seconds; names that end in `_s` are lengths of time.
"""

from typing import Literal

from node.api.body import ResponseBody
from node.api.operation import ScrubProgress
from node.api.peers import (
    AuthorLimits,
    Balance,
    ClientFigures,
    LivePeers,
    LookFigures,
    MachineLoad,
    Possession,
    RefusedPeer,
    RefusedRecords,
    RefutedPeer,
    Silent,
)

NeedState = Literal["fine", "near", "trouble"]


class NetworkState(ResponseBody):
    """The network's name and id, and how many documents it has, `exact` where they were counted one by one."""

    name: str
    id: str
    documents: int | None
    exact: bool


class Reachable(ResponseBody):
    """Whether others reach this node over one family of addresses, and how often that was tried."""

    state: str
    tried: int
    text: str


class Slots(ResponseBody):
    """How many slots there are, and how many this node owns, has in sync, and crawls."""

    all: int
    owned: int
    ready: int
    leased: int


class OtherIndex(ResponseBody):
    """An index of another analyzer: the share of documents in it, and whether it can answer."""

    analyzer: int
    share: float
    answers: bool


class RulesInUse(ResponseBody):
    """The rules by which this node answers, and the other indexes that it has."""

    analyzer: int
    ranking: int
    beside: list[OtherIndex]


class Copies(ResponseBody):
    """The live copies of this node's slots. `slots`: how many slots have how many copies; `kept` and `copying`: slots
    of silent owners that are whole here, and slots that are to be."""

    least: int
    mean: float
    slots: dict[str, int]
    oldest_s: int
    oldest_slot: int | None
    kept: int
    copying: int


class RefuseList(ResponseBody):
    """How many entries the operator's blocklist has, and how many hashes of them peers are told."""

    entries: int
    told: int


class Crawl(ResponseBody):
    """The state of the crawler and the reason for it, counts of URLs, and how fast pages come."""

    state: str
    reason: str
    frontier: int
    due: int
    unheld: int
    open: int
    fetched: int
    failed: int
    needs_javascript: int
    refused: dict[str, int]
    unproved_aliases: int
    refuse: RefuseList
    per_s: float
    paused_by_owner: bool
    still_s: int


class OwnClock(ResponseBody):
    """How far this node's clock is behind its peers', and how many peers show that."""

    behind_s: float
    peers: int


class OpenFiles(ResponseBody):
    """How many files the process may have open, and has; null where the system does not say."""

    limit: int | None
    open: int | None


class StrategyState(ResponseBody):
    """The strategy in force and the newest one. `upgrade`: parts that this program does not understand."""

    version: int
    expires_at: float
    next_at: float
    newest: int
    effective_at: float
    forks: int
    upgrade: list[str]
    warnings: list[str]


class Fault(ResponseBody):
    """One thing of this machine that fails, and what its operator can do."""

    site: str
    cause: str
    since: float
    what_stops: str
    remedy: str


class DiskUse(ResponseBody):
    """Bytes of all files, of the quota, and of records alone; `refuses`: why no record fits any more, or "".

    `given_up`: slots of new owners whose copies here went within a day, before their time, because room ran short."""

    used: int
    quota: int
    records: int
    refuses: str
    given_up: int


class OwnerTopic(ResponseBody):
    """Whether the owner must look after one topic, and why."""

    topic: str
    state: NeedState
    text: str


class Queries(ResponseBody):
    """The queries since the start, and the time in which half and 95 % of the last ones were answered."""

    asked: int
    p50_ms: float | None
    p95_ms: float | None


class Leaving(ResponseBody):
    """In how many slots anything lies here still, of a node that leaves."""

    slots: int


class Status(ResponseBody):
    """All that a node reports about itself."""

    node_id: str
    version: str
    network: NetworkState
    members: int
    role: Literal["member", "client"]
    reachable: dict[str, Reachable]
    clients: ClientFigures
    peers: LivePeers
    silent: list[Silent]
    refused_packets: dict[str, int]
    refused_heartbeats: list[RefusedPeer]
    refused_here: str
    refused_records: RefusedRecords
    refuted_peers: list[RefutedPeer]
    possession: Possession
    limits: AuthorLimits
    second_looks: LookFigures
    slots: Slots
    documents: int
    search: RulesInUse
    text_leaf: str
    settled: bool
    alike: bool
    under_replicated: int
    copies: Copies
    owed: int
    crawl: Crawl
    balance: Balance
    load: MachineLoad
    clock: OwnClock
    open_files: OpenFiles
    up_s: int
    strategy: StrategyState
    warnings: list[str]
    faults: list[Fault]
    disk: DiskUse
    scrub: ScrubProgress
    needs: list[OwnerTopic]
    queries: Queries
    leaving: Leaving | None
