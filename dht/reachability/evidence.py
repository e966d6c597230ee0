"""Weighs what peers report of this node's address of one family: whether packets and connections of strangers arrive.

Pure: `now` is steady seconds. A node cannot see its own NAT or firewall. It asks up to three peers in a round, and asks
again now and then and whenever its address changed. One report of success is enough, since nobody else can answer in
this node's name. The verdict that nothing gets through needs two reports, or those of all peers that it can ask.
Reports of attempts by the same dialling node count once: perhaps only that node cannot reach this one.

Decides whether this node takes part in the network, as a member that others count on, or stays a client.

Pure: values in, a decision out. An unreachable node must not stand in anybody's tables. So a node that has to find its
address out stays quiet until a peer got through to it. Where nobody can say, it takes part: a network of one works. A
node whose operator says where it is reached takes part whatever peers say: their word must not silence it. One that the
network file names as a first contact does not wait for their word: else nobody could ask anybody.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Literal

from dht.keys import NodeId
from dht.rate_limit import remember
from dht.wire.contact import Endpoint, Family

WORDS = 3  # peers asked in a round
AGAIN_SHARE = 1 / 3  # of the time between rounds: after which what nobody reached is looked at again
NOBODY_S = 30.0  # until the next look where nobody could be asked


class ReachabilityVerdict(Enum):
    """The verdict of the reports of the last round."""

    UNKNOWN = "unknown"
    REACHABLE = "reachable"
    UNREACHABLE = "behind a firewall"


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """The report of one peer: whether a datagram, and a connection, of a third node, `by`, arrived; `by` is empty where
    that is not said."""

    udp: bool
    tcp: bool
    by: bytes = b""

    @property
    def is_good(self) -> bool:
        """Whether both arrived."""
        return self.udp and self.tcp


class ReachabilityEvidence:
    """The reports on this node's address of one family. `every_s`: between two rounds where all is well; 0: never
    ask."""

    def __init__(self, every_s: float) -> None:
        self._every_s = every_s
        self._endpoint: Endpoint | None = None
        self._words: dict[NodeId, ProbeReport] = {}
        self._tried: set[NodeId] = set()
        self._due_at = 0.0
        self._is_exhausted = False
        self.verdict = ReachabilityVerdict.UNKNOWN

    @property
    def endpoint(self) -> Endpoint | None:
        """The address that the verdict is about."""
        return self._endpoint

    @property
    def tried(self) -> int:
        """How many peers' reports the verdict rests on."""
        return len(self._words)

    @property
    def shown(self) -> str:
        """The verdict for people: "behind a firewall, 3 peers tried"."""
        if self._endpoint is None:
            return "no address known"
        if self.verdict is not ReachabilityVerdict.UNREACHABLE:
            return str(self.verdict.value)
        words = self._words.values()
        half = (
            "UDP alone arrives"
            if any(w.udp for w in words)
            else "TCP alone arrives"
            if any(w.tcp for w in words)
            else ""
        )
        peers = f"{len(words)} peer{'s' if len(words) != 1 else ''} tried"
        return ", ".join(part for part in (self.verdict.value, half, peers) if part)

    def update_address(self, now: float, endpoint: Endpoint | None) -> bool:
        """Set this node's address as far as it knows it; return whether a peer should be asked about it now."""
        if endpoint != self._endpoint:
            self._endpoint, self.verdict = endpoint, ReachabilityVerdict.UNKNOWN
            self._begin(now)
            self._words = {}
        return bool(self._every_s) and endpoint is not None and now >= self._due_at

    def choose(self, now: float, peers: list[NodeId], pick: Callable[[list[NodeId]], NodeId]) -> NodeId | None:
        """Choose whom to ask next of those that could be asked; None ends the round."""
        left = sorted(set(peers) - self._tried)
        if not left or len(self._words.keys() & self._tried) >= WORDS:
            self._is_exhausted = True
            self._judge()
            pause = self._every_s * (1.0 if self.verdict is ReachabilityVerdict.REACHABLE else AGAIN_SHARE)
            self._begin(now + (pause if self._words else min(NOBODY_S, pause)))
            return None
        peer = pick(left)
        self._tried.add(peer)
        return peer

    def hear(self, peer: NodeId, word: ProbeReport) -> None:
        """Take a peer's report; the newest of WORDS peers count."""
        remember(self._words, peer, word, WORDS)
        self._judge()

    def _begin(self, at: float) -> None:
        self._due_at, self._tried, self._is_exhausted = at, set(), False

    def _judge(self) -> None:
        good = len({word.by or peer for peer, word in self._words.items() if word.is_good})
        bad = len({word.by or peer for peer, word in self._words.items() if not word.is_good})
        if good and good >= bad:
            self.verdict = ReachabilityVerdict.REACHABLE
        elif bad > good and (bad > 1 or self._is_exhausted):
            self.verdict = ReachabilityVerdict.UNREACHABLE


Mode = Literal["auto", "member", "client"]

PATIENCE_S = 20.0  # for a verdict: joining takes one or two, three peers' probes four each


class NodeRole:
    """Decides the role of one node. `is_declared`: its operator says where it is reached; `joins`: it knows of others
    to ask."""

    def __init__(self, mode: Mode, *, is_declared: bool, joins: bool) -> None:
        self._mode = mode
        self._is_declared, self._waits = is_declared, joins
        self._since: float | None = None
        self._had_address = False

    def begin(self) -> None:
        """Wait for nobody's word any longer: this node is a first contact of others."""
        self._waits = False

    def takes_part(self, now: float, verdicts: Mapping[Family, ReachabilityVerdict]) -> bool:
        """Tell whether to be a member. `now`: steady seconds; `verdicts`: of the families in which an address is
        known."""
        if self._mode != "auto" or self._is_declared:
            return self._mode != "client"
        if self._since is None or (verdicts and not self._had_address):  # somebody answered: now they can be asked
            self._since, self._had_address = now, bool(verdicts)
        if ReachabilityVerdict.REACHABLE in verdicts.values():
            self._waits = False
            return True
        if verdicts and all(verdict is ReachabilityVerdict.UNREACHABLE for verdict in verdicts.values()):
            return False
        return not self._waits or now - self._since >= PATIENCE_S


def left_out(verdicts: Mapping[Family, ReachabilityVerdict]) -> frozenset[Family]:
    """Return the families not to be announced: nobody gets through there, while the other one works."""
    if ReachabilityVerdict.REACHABLE not in verdicts.values():
        return frozenset()
    return frozenset(family for family, verdict in verdicts.items() if verdict is ReachabilityVerdict.UNREACHABLE)
