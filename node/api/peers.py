"""The bodies of what a node knows of the other members of its network.

Pure: values only. Instants are Unix seconds; names that end in `_s` are lengths of time.
"""

from dht import Endpoint
from node.api.body import ResponseBody
from store import PeerFigures


class MachineLoad(ResponseBody):
    """The shares of a machine that are in use, 0 to 100."""

    cpu: int
    memory: int
    disk: int
    network: int


class Invited(ResponseBody):
    """The voucher by which a member came in, and its inviter (the first 16 hex digits of each)."""

    voucher: str
    inviter: str
    made_at: int
    uses: int


class BeyondLimits(ResponseBody):
    """Counts what an author brought beyond its limits here: pages of one site, records without room, and found URLs.
    `bytes`: of its records here, at the last time, `at`."""

    site: int
    room: int
    found: int
    bytes: int
    at: float


class TakesNoMore(ResponseBody):
    """A member that took no more of this node's records, when it last did so, and why."""

    node_id: str
    at: float
    reason: str


class AuthorLimits(ResponseBody):
    """The limits on authors, as this node sees them.
    `authors`: the authors that exceeded their limits here, by node id.
    `refused_by`: the members at which this node exceeded its limits.
    `without_room`: the members that report room, but count as full here for a day."""

    authors: dict[str, BeyondLimits]
    refused_by: list[TakesNoMore]
    without_room: list[TakesNoMore]


class ComingStep(ResponseBody):
    """The part of the records that a member will take, as `step` of a peer, and from when on."""

    step: int
    at: int


class Peer(ResponseBody, rename={"is_self": "self"}):
    """A member of the network as this node sees it, itself included. `name`, `state`, `needs` (topics) and
    `room_bytes` (its quota) are its own words; "" and 0 where it says nothing. `step`: which part of the records it
    takes, -2 (a quarter of the usual part) to 2 (four times as much); -3 where it is full. `coming_step`: what it will
    be, where the member announces a change. `counts_as_full`: it says that it has room, and this node found none."""

    node_id: str
    name: str
    state: str
    needs: list[str]
    room_bytes: int
    step: int
    coming_step: ComingStep | None
    counts_as_full: bool
    is_self: bool
    endpoints: list[Endpoint]
    live: bool
    leaving: bool
    families: list[int]
    strategy_version: int
    ready: int
    leased: int
    refuses: int
    due: int
    load: MachineLoad
    invited_by: Invited | None
    clock_off_s: float
    possession: PeerFigures
    beyond_limits: BeyondLimits | None
    last_heard_s: float


class Peers(ResponseBody):
    """The members of the network, and the live ones that leave it for good."""

    peers: list[Peer]


class LivePeers(ResponseBody):
    """How many other members are live, by family; servers among the nearest, and silent members that are servers."""

    live: int
    servers: int
    silent_servers: int
    ipv4: int
    ipv6: int


class Silent(ResponseBody):
    """A member that has not answered for a while. `stable`: it is a server; `farewell`: it took leave; `own`: it names
    the same operator as this node. `crawled`: how many slots it crawled by its last word, `taken_over`: how many of
    them others crawl now. `copies`: the fewest live copies of a slot that it had; null where that is not known."""

    node_id: str
    endpoint: Endpoint | None
    operator: str
    silent_s: int
    stable: bool
    farewell: bool
    own: bool
    crawled: int
    taken_over: int
    copies: int | None


class RefusedPeer(ResponseBody):
    """The author of a heartbeat that the strategy's rules refuse, and why."""

    peer: str
    reason: str


class RefusedRecords(ResponseBody):
    """Counts records that peers brought and that were refused, by signers and by bringers, most first."""

    count: int
    authors: dict[str, int]
    peers: dict[str, int]
    hosts: int


class RefutedPeer(ResponseBody):
    """A peer that answered otherwise than others, or than signed documents, do."""

    peer: str
    at: float
    topic: str
    reason: str
    against: list[str]
    behind: bool
    avoided: bool


class AccusedBy(ResponseBody):
    """A peer that finds records missing on this node."""

    peer: str
    at: float
    slots: int
    records: int


class Possession(ResponseBody):
    """Counts challenges to other owners to show records, and names peers that find records missing here."""

    challenged: int
    answered: int
    failed: int
    doubted: list[str]
    accused_by: list[AccusedBy]


class ContradictedAuthor(ResponseBody):
    """An author whose pages differ from their sites on some domains. `votes`: its votes count here."""

    node_id: str
    domains: list[str]
    until: float
    votes: bool


class LookFigures(ResponseBody):
    """Counts the pages that were fetched again and compared. `evidence`: kept pieces by author."""

    fetches: int
    compared: int
    unlike: int
    confirmed: int
    without_turn: int
    evidence: dict[str, int]
    contradicted: list[ContradictedAuthor]


class Move(ResponseBody):
    """Slots that were lent to a peer, with what was due here and there."""

    at: float
    to: str
    slots: int
    due_here: int
    due_there: int
    k: float
    beta: float
    reason: str


class Balance(ResponseBody):
    """How work is shared with other nodes: what is due here and at others, and the slots that moved."""

    due: int
    peers_mean: float
    peers: int
    reason: str
    lent: int
    borrowed: int
    moves: list[Move]


class ClientFigures(ResponseBody):
    """The orders that wait for clients and that these carried out; as a client: nodes asked, and pages fetched."""

    waiting: int
    carried: int
    polled: int
    carried_here: int
