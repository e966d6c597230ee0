"""Reports a node's place in the network to its owner and its other packages, read from all parts of its overlay.

Nothing here changes anything.

A node doubts itself if it has a twin, if most clocks speak against its own, and if it never met its network.

Such a node does nothing in its network's name. One with a twin is two, and peers take both for one. One whose clock is
off takes itself for alone. One that never met its network knows nothing of it, and the other two may be the cause.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence, Set

from dht.clock import Clock, Now
from dht.keys import NodeId
from dht.leases.lease_balancer import BalanceOutlook, BalanceReport
from dht.leases.lease_service import LeaseService
from dht.membership.failure_detector import SilentMember, near_servers, silent_members
from dht.membership.peer_clocks import ClockReading
from dht.membership.reasons_apart import LOST, FirstMeeting
from dht.overlay.admission_upkeep import AdmissionUpkeep
from dht.overlay.messenger import Messenger
from dht.overlay.strategy_upkeep import HeartbeatAnnouncer
from dht.overlay.who_stays import MembersLeft, members_left
from dht.ownership.view import OverlayView
from dht.protocol.engine import ProtocolEngine
from dht.protocol.heartbeat_intake import RefusedHeartbeat
from dht.reachability.autonat import AutoNat
from dht.reachability.evidence import ReachabilityEvidence
from dht.strategy.document import Strategy
from dht.transport.request_auth import WINDOW_S
from dht.wire.contact import Address, Endpoint, Family
from dht.wire.heartbeat import Condition, Load
from dht.wire.heartbeat_fit import why_left_out
from dht.wire.invitation import InvitedBy, read_invited_by

MOST_OFF_S = WINDOW_S / 2  # by a clock: signed requests pass, and not only just
CLOCKS_DIFFER = "most peers' clocks differ from this machine's; set them"


class SelfDoubt:
    """Judges one node by what its engine has heard."""

    def __init__(self, core: ProtocolEngine, clock: Clock) -> None:
        self._core, self._clock = core, clock
        self.first_meeting = FirstMeeting()

    def why_apart(self, now: Now) -> str:
        """Say why this node does nothing in its network's name; "" where it may."""
        if self._core.twin.is_there(now.steady):
            return self._core.twin.warnings(now.steady)[0]
        sides = self._core.clocks.sides(now, MOST_OFF_S)
        if sides.are_against_us and sides.others > 1:
            return next(iter(self._core.clocks.warnings(now)), CLOCKS_DIFFER)
        return LOST if self.first_meeting.is_lost else ""

    def doubts_clock(self, live: Set[NodeId]) -> bool:
        """Tell whether as many clocks of peers agree on another time as show ours, be it a single one. A peer that is
        not live does not speak for ours: this node may be cut off from all but wrong clocks."""
        return self._core.clocks.sides(self._clock(), MOST_OFF_S, live).are_against_us


log = logging.getLogger(__name__)

ALONE = (
    "this node is a network of its own: all first contacts of its network file, %s, are addresses of this machine. "
    "If another node is the first, get a network file that names its address as others reach it"
)
FIND_S = 10.0  # after the start until somebody should have answered


class OverlayReport:
    """Reports on one node. `leases`, `autonat` and `admission` are None where the node takes no part in them."""

    def __init__(
        self,
        core: ProtocolEngine,
        view: OverlayView,
        clock: Clock,
        messenger: Messenger,
        announcer: HeartbeatAnnouncer,
        leases: LeaseService | None,
        autonat: AutoNat | None,
        admission: AdmissionUpkeep | None,
    ) -> None:
        self._core, self._view, self._clock, self._messenger = core, view, clock, messenger
        self._announcer = announcer
        self._leases, self._autonat, self._admission = leases, autonat, admission
        self._began_at = clock().steady
        self._own_contacts = ""

    @property
    def refused(self) -> Mapping[str, int]:
        """How many packets were not taken, or not sent, since the start, by reason."""
        return self._core.refused

    @property
    def own_addresses(self) -> tuple[Endpoint, ...]:
        """Where peers see this node, announced or not."""
        return self._core.own.addresses

    @property
    def own_name(self) -> str:
        """The name that this node's owner gave it, "" for none."""
        return self._core.own.config.name

    @property
    def own_condition(self) -> Condition:
        """How this node is, as its heartbeats say it."""
        return self._announcer.condition

    @property
    def load(self) -> Load:
        """How busy this machine is, as the heartbeats say it."""
        return self._announcer.load

    def reachability(self) -> dict[Family, ReachabilityEvidence]:
        """Return what peers found out about this node's addresses, by family; empty where nobody asks."""
        return dict(self._autonat.found) if self._autonat is not None else {}

    def balance(self) -> BalanceReport:
        """Describe what is due here and at others, what moved and why."""
        return self._leases.balance() if self._leases is not None else BalanceReport(BalanceOutlook())

    def warnings(self) -> tuple[str, ...]:
        """Return what an operator should know of this node's place in the network, one sentence each."""
        now = self._clock()
        others = self._core.twin.warnings(now.steady) + self._core.clocks.warnings(now)
        waits = self._admission.warning() if self._admission is not None else ""
        own = tuple(filter(None, (waits, self.why_refused(), self.heartbeat_warning())))
        return self._missing(now) + others + self._messenger.warnings() + own

    def note_own_contacts(self, addresses: Iterable[Address]) -> None:
        """Note that all first contacts of the network are this machine's addresses: this node begins a network, though
        nobody may have meant it to."""
        if not self._core.members.admission.is_root(self._core.node_id):
            self._own_contacts = ", ".join(f"{address.host} port {address.port}" for address in addresses)
            log.warning(ALONE, self._own_contacts)

    def why_refused(self) -> str:
        """Say why members refuse this node by the strategy in force, and what helps; "" where they do not."""
        return self._core.own.why_refused() if self._core.takes_part else ""

    def refused_heartbeats(self) -> Sequence[RefusedHeartbeat]:
        """Return whose heartbeats the strategy's rules made this node refuse within the last ten minutes."""
        return self._core.refused_heartbeats.present(self._clock())

    def twin_warning(self) -> str:
        """Say that another machine runs with this node's identity; "" where none does."""
        return next(iter(self._core.twin.warnings(self._clock().steady)), "")

    def clock_warning(self) -> str:
        """Say that this machine's clock differs from its peers', and by how much; "" where it does not."""
        return next(iter(self._core.clocks.warnings(self._clock())), "")

    def heartbeat_warning(self) -> str:
        """Say what this node's heartbeats have no room for, and what helps; "" where they say everything."""
        return why_left_out(self._core.own.left_out)

    def silent_members(self) -> tuple[SilentMember, ...]:
        """Return the near members, and those of this node's operator, that have not answered for a while. The list is
        empty while this machine's clock is wrong, since then all members would seem silent."""
        operator = self._core.own.config.operator
        return () if self.clock_warning() else silent_members(self._core.members, self._clock(), operator)

    def members_left(self, strategy: Strategy) -> MembersLeft:
        """Return which present members, this node among them, would stay under a strategy, and which it puts out."""
        core, found = self._core, [self._core.members.find(peer) for peer in self._core.members.members(self._clock())]
        present = [each.opened for each in found if each and self._view.is_live(each.opened.contact.node_id)]
        own = core.intake.own_heartbeat()
        allow_private = core.rules.policy.allow_private
        return members_left(strategy, [*present, *own], self._clock().wall, allow_private=allow_private)

    def leavers(self) -> tuple[NodeId, ...]:
        """Return the live members that are leaving for good, which own nothing; this node may be one."""
        return self._core.members.leavers(self._clock())

    def near_servers(self) -> int:
        """Return how many near members, this node left out, say that they are servers."""
        return near_servers(self._core.members)

    def invited_by(self, peer: NodeId) -> InvitedBy | None:
        """Return what a node has said of its invitation; None where it has none, or nothing is known of it."""
        said = self._core.members.admission.invited_by(peer)
        return read_invited_by(said) if said else None

    def clock_off_s(self, peer: NodeId) -> float:
        """Return how far a peer's clock is ahead of what most clocks show; 0 where that is not known."""
        return self._core.clocks.ahead_s(peer, self._clock())

    def own_clock(self) -> ClockReading:
        """Return how far this machine's clock is behind those of its peers, and how many of them told theirs."""
        return self._core.clocks.reading(self._clock())

    def _missing(self, now: Now) -> tuple[str, ...]:
        """Say that nobody answers, where others are expected or known."""
        if now.steady - self._began_at < FIND_S:
            return ()
        if self._view.first_meeting.is_lost:  # where clocks differ, somebody does answer, and that is said
            return () if self._core.clocks.warnings(now) else (LOST,)
        if self._own_contacts and len(self._view.members()) <= 1:
            return (ALONE % self._own_contacts,)
        others = len({*self._view.members()} - self._view.away() - {self._view.node_id})
        if others <= 0 or len(self._view.live()) > 1:
            return ()
        return (f"none of the {others} other members that this node knows answers; what they alone keep is missing",)
