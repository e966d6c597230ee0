"""The overlay of a running node, built of parts that each do one thing: the messenger asks and answers, the announcer
and the two upkeeps keep heartbeats, strategy and role true, the lease service holds leases.

The means of transport are given, so the same class runs over sockets (`assembly.py`) and in the simulator.
"""

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from dht.clock import Now
from dht.identity.node_key import node_id_of
from dht.keys import Key, NodeId, Slot
from dht.leases.lease_balancer import BalanceReport, CrawlWork, NoWork
from dht.leases.lease_service import TICK_S, LeaseService
from dht.leases.load_balance import BalanceOutlook
from dht.membership.answer_times import AnswerTimes, LatePeers
from dht.membership.failure_detector import SilentMember, near_servers, silent_members
from dht.membership.farewell_book import FarewellBook
from dht.membership.kept_files import FarewellFile
from dht.membership.peer_clocks import ClockReading
from dht.membership.reasons_apart import LOST
from dht.membership.refused_heartbeats import RefusedHeartbeat
from dht.membership.working_families import WorkingFamilies
from dht.messages import Answer, Asked, GetStrategy, Handler, LeaseRelease, LeaseRequest, Message, StrategyDigest
from dht.overlay.admission_upkeep import AdmissionUpkeep
from dht.overlay.dependencies import OverlayDependencies
from dht.overlay.family_upkeep import FamilyUpkeep
from dht.overlay.farewell_upkeep import FarewellUpkeep
from dht.overlay.heartbeat_announcer import HeartbeatAnnouncer
from dht.overlay.messenger import Messenger
from dht.overlay.peer_cache_file import PeerCacheFile
from dht.overlay.point_records import PointRecords
from dht.overlay.role_upkeep import RoleUpkeep
from dht.overlay.strategy_upkeep import StrategyUpkeep
from dht.overlay.voucher_upkeep import VoucherUpkeep
from dht.ownership.view import NO_LEASES, OverlayView
from dht.protocol.events import DialWanted, Event, StrategyAhead
from dht.reachability.autonat import AreYouThere, AutoNat, Probe, ProbeMe
from dht.reachability.dial_back import DialBack
from dht.reachability.evidence import ReachabilityEvidence
from dht.strategy.document import SignedStrategy, Strategy
from dht.supervisor import STRICT, Supervisor
from dht.transport.request_auth import WINDOW_S
from dht.wire.contact import Address, Contact, Endpoint, Family
from dht.wire.grant import SignedGrant
from dht.wire.heartbeat import Load
from dht.wire.invitation import InvitedBy, read_invited_by

log = logging.getLogger(__name__)

MOST_OFF_S = WINDOW_S / 2  # by a clock: signed requests pass, and not only just
FIND_S = 10.0  # after the start until somebody should have answered


class OverlayService:
    """A node's place in the network, as it takes part in it; an `Overlay`."""

    def __init__(self, deps: OverlayDependencies) -> None:
        core, clock, settings = deps.core, deps.clock, deps.settings
        file = FarewellFile(settings.folder / "farewells.bin" if settings.folder is not None else None, deps.faults)
        self.node_id, self.strategies = core.node_id, deps.strategies
        self._deps, self._core, self._clock = deps, core, clock
        self._driver = deps.drive(self._take_event)
        kick = self._driver.kick
        self._view = view = OverlayView(
            core.node_id,
            core.members,
            deps.strategies,
            clock,
            core.own.endpoints,
            core.own.operator,
            self._held,
            self._why_apart,
            self._promised,
            self._grants,
            stable=core.own.stable,
            farewells=FarewellBook(core.node_id, file.load()),
        )
        self._messenger = Messenger(deps, view, kick)
        self._farewells = FarewellUpkeep(deps, view, self._messenger, file)
        self._announcer = HeartbeatAnnouncer(core, view, kick)
        self._strategy = StrategyUpkeep(deps, view, self._announcer, self._messenger, kick)
        self._leases = self._make_leases(settings.folder) if settings.member else None
        self._autonat = self._make_autonat(deps.dial_back) if deps.dial_back is not None else None
        self._admission = self._make_admission(self._autonat) if self._autonat is not None else None
        self._cache = PeerCacheFile(core, settings.folder, deps.executor, deps.faults, clock)
        self._points = PointRecords(core, clock, kick)
        self._joins = self._remembered = False
        self._first_contacts: tuple[Address, ...] = ()  # of the network file, this node's own address included
        self._began_at = clock().steady
        self.serve(GetStrategy, self._strategy.sync.answer)
        self.serve(StrategyDigest, self._strategy.dissemination.answer)
        self._strategy.apply()

    @property
    def view(self) -> OverlayView:
        """Who is in the network and who owns what."""
        return self._view

    @property
    def times(self) -> AnswerTimes:
        """How long peers take to answer."""
        return self._messenger.times

    @property
    def late(self) -> LatePeers:
        """Who is late with an answer just now."""
        return self._messenger.late

    def is_direct(self, peer: NodeId) -> bool:
        """Tell whether a peer is asked without a relay, as far as this node knows."""
        return self._messenger.is_direct(peer)

    @property
    def refused(self) -> Mapping[str, int]:
        """How many packets were not taken, or not sent, since the start, by reason."""
        return self._core.refused

    @property
    def takes_part(self) -> bool:
        """Whether this node is a member or a bootstrap node, and no client."""
        return self._core.takes_part

    @property
    def own_addresses(self) -> tuple[Endpoint, ...]:
        """Where peers see this node, announced or not."""
        return self._core.own.addresses()

    @property
    def load(self) -> Load:
        """How busy this machine is, as the heartbeats say it."""
        return self._announcer.load

    def allows(self, host: str) -> bool:
        """Tell whether a stranger's word may make this node send to an address."""
        return self._core.rules.policy.allows(host)

    @property
    def families(self) -> WorkingFamilies:
        """Which families of address work on this machine."""
        return self._core.families

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
        own = tuple(filter(None, (waits, self.why_refused())))
        return self._missing(now) + others + self._messenger.warnings() + own

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

    def silent_members(self) -> tuple[SilentMember, ...]:
        """Return the near members that have not answered for a while; by a wrong clock of this machine all would seem
        silent, so it names nobody then."""
        return () if self.clock_warning() else silent_members(self._core.members, self._clock())

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

    def serve(self, message: type[Asked], handler: Handler[Asked]) -> None:
        """Answer this type of message with what the handler returns."""
        self._messenger.serve(message, handler)

    async def ask(self, peer: NodeId, message: Message, answer: type[Answer], *, timeout_s: float) -> Answer:
        """Send one message and return its answer; raises PeerTimeout or BadMessage."""
        return await self._messenger.ask(peer, message, answer, timeout_s=timeout_s)

    async def ask_at(self, contact: Contact, message: Message, answer: type[Answer], *, timeout_s: float) -> Answer:
        """Ask whoever is at a contact, without relays; raises PeerTimeout or BadMessage, and silence has no effect."""
        return await self._messenger.ask_at(contact, message, answer, timeout_s=timeout_s)

    def announce(self, ready: frozenset[Slot], due: int, load: Load | None = None) -> None:
        """Announce for which slots this node is ready, how many URLs are due, and how busy it is (None: as before)."""
        self._announcer.set(ready, due, load)

    def refuse(self, hosts: bytes) -> None:
        """Tell peers which hosts this node will not fetch: hashes of four bytes, one after the other."""
        self._core.own.refuse(hosts)
        self._driver.kick()

    def withhold_votes(self, peers: frozenset[NodeId]) -> None:
        """Give these nodes, and no others, no votes for leases from now on."""
        if self._leases is not None:
            self._leases.withhold_votes(peers)

    async def read_point(self, key: Key, most: int) -> list[tuple[NodeId, bytes]]:
        """Return up to `most` small values at a point of the key space, each with its author, those of older members
        first; none where nobody answers."""
        return [(node_id_of(record.public_key), record.value) for record in await self._points.read(key, most)]

    async def write_point(self, key: Key, value: bytes, life_s: float) -> int:
        """Store a small value of this node at a point for so many seconds; return at how many nodes it lies."""
        return await self._points.write(key, value, life_s)

    def join(self, addresses: Iterable[Address], *, by_network: bool = False, is_trusted: bool = True) -> bool:
        """Make first contact through these, of the families that this node uses; call it before `run` or any time. Tell
        whether there are others among them than this node itself. `by_network`: the network file or its strategy names
        them, and so may name this node; what neighbours say is no such word. Where it names this node alone, nobody
        need admit it. `is_trusted`: whoever answers there need not be admitted."""
        used = [address for address in addresses if address.family in self._core.families.bound]
        others = [address for address in used if not self._core.own.is_at(address)]
        if by_network:
            self._first_contacts = tuple(used)
            for address in used:
                if address not in others:
                    self._core.own.seen_at(address.host, self.node_id)
            if used and not others:
                self.begin_network()
        self._joins = self._joins or bool(others)
        self._core.join(self._clock(), others, is_trusted=is_trusted)
        self._driver.kick()
        return bool(others)

    def remember(self) -> int:
        """Take the peers of an earlier run as members, not live yet; return how many. Blocks on one small file."""
        found = self._cache.recall(self._clock())
        self._remembered = bool(found)
        self._joins = self._joins or self._remembered
        return found

    def begin_network(self) -> None:
        """Say that this node is the first of its network: nobody need admit it."""
        self._core.members.trust([self.node_id])

    def leave_for_good(self) -> None:
        """Give up all slots: this node owns nothing from now on, hands over what it has, and is a newcomer if it starts
        again."""
        self._core.own.leave_for_good()
        self._core.members.claim_own(self._core.own.claim())
        self._view.refresh()
        self._driver.kick()

    def going_on(self) -> frozenset[NodeId]:
        """Return who goes on if this node says farewell; nobody where farewells do not count."""
        return self._farewells.going_on()

    def take_leave(self) -> None:
        """Have the end of `run` be a farewell, where few members go by such; all that others need of this node lies
        with them."""
        self._farewells.is_asked = True

    def compared(self, peers: frozenset[NodeId]) -> None:
        """Say with which live members all copies here have been compared since the start: after a farewell this node
        has its vote again then."""
        self._farewells.compared = peers

    def expect_others(self) -> None:
        """Say that there are others in the network: a node that remembers none of them is lost until it meets one."""
        if not self._remembered:
            self._view.first_meeting.expect()

    def adopt(self, signed: SignedStrategy) -> Strategy:
        """Adopt a strategy that a publisher hands to this node, and return the newest; raises BadStrategy."""
        return self._strategy.adopt(signed)

    async def run(self, work: CrawlWork | None = None, supervisor: Supervisor = STRICT) -> None:
        """Take part until cancelled; then free the leases, say farewell and write the peer cache.

        `work`: the crawl that the leases go by; None for a node that does not crawl. `supervisor`: restarts what
        fails."""
        if self._leases is not None:
            self._leases.begin(listens=self._joins)
        try:
            async with asyncio.TaskGroup() as means:
                supervisor.start(means, "overlay-messages", self._messenger.run)
                supervisor.start(means, "overlay-driver", self._driver.run)
                try:
                    await self._work(work or NoWork(), supervisor)
                finally:
                    if self._leases is not None:
                        await self._leases.stop()
                    if not await self._farewells.say():
                        self._core.leave(self._clock())
                    self._driver.kick()
        finally:
            self._cache.save()

    async def _work(self, work: CrawlWork, supervisor: Supervisor) -> None:
        """Run what needs messages and packets, and ends before them."""
        async with asyncio.TaskGroup() as tasks:
            start = partial(supervisor.start, tasks)
            families = FamilyUpkeep(self._core, self._deps.transport, self._clock, self._driver.kick)
            start("overlay-families", families.run)
            start("overlay-strategies", self._strategy.sync.run)
            start("overlay-strategy-spread", self._strategy.dissemination.run)
            start("overlay-block-notice", self._strategy.block_notice.run)
            start("overlay-cache", self._cache.run)
            start("overlay-leases", lambda: self._tick(work))
            start("overlay-puzzle", self._strategy.solver.run)
            start("overlay-farewells", self._farewells.run)
            records = PointRecords(self._core, self._clock, self._driver.kick)
            vouchers = VoucherUpkeep(self._deps.settings.vouchers, records, self._clock, self._deps.executor)
            start("overlay-vouchers", vouchers.run)
            if self._autonat is not None:
                start("overlay-autonat", self._autonat.run)
            if self._admission is not None:
                start("overlay-admission", self._admission.run)
            if self._autonat is not None:
                role = RoleUpkeep(self._deps, self._view, self._autonat, self._driver.kick)
                start("overlay-role", lambda: role.run(self._first_contacts, joins=self._joins))

    async def _tick(self, work: CrawlWork) -> None:
        """Once a second, follow the clock and ask for leases; which are held is announced when it changes."""
        held = frozenset[Slot]()
        while True:
            self._strategy.follow_clock()
            if self._doubts():
                self._core.members.prolong_join()
            if self._leases is not None:
                await self._leases.step(work)
                if held != self._view.leases().keys():
                    held = frozenset(self._view.leases())
                    self._announcer.announce()
            await asyncio.sleep(TICK_S)

    def _make_leases(self, folder: Path | None) -> LeaseService:
        path = folder / "votes.json" if folder is not None else None
        leases = LeaseService(
            self._view,
            self._messenger,
            self._core.identity,
            self._clock,
            self._deps.executor,
            path,
            self._deps.faults,
            self._doubts,
        )
        self.serve(LeaseRequest, leases.answer_request)
        self.serve(LeaseRelease, leases.answer_release)
        return leases

    def _make_autonat(self, dial_back: DialBack) -> AutoNat:
        deps = self._deps
        autonat = AutoNat(self._core, self._view, self._messenger, dial_back, self._clock, deps.rng, deps.probe_s)
        self._messenger.dispatcher.serve(ProbeMe, autonat.answer_me)
        self.serve(Probe, autonat.answer)
        self.serve(AreYouThere, autonat.answer_there)
        return autonat

    def _make_admission(self, autonat: AutoNat) -> AdmissionUpkeep:
        return AdmissionUpkeep(self._deps, self._view, self._messenger, autonat.reach, self._driver.kick)

    def _why_apart(self, now: Now) -> str:
        """Say why this node does nothing in its network's name: one with a twin is two, one whose clock is off takes
        itself for alone, and one that never met its network, which both may be the cause of, knows nothing."""
        if self._core.twin.is_there(now.steady):
            return self._core.twin.warnings(now.steady)[0]
        sides = self._core.clocks.sides(now, MOST_OFF_S)
        if sides.are_against_us and sides.others > 1:
            return next(
                iter(self._core.clocks.warnings(now)), "most peers' clocks differ from this machine's; set them"
            )
        if self._view.first_meeting.is_lost:
            return LOST
        return ""

    def _doubts(self) -> bool:
        """Whether as many clocks of peers agree on another time as show ours, be it a single one. Who is heard no more
        does not speak for us: this node may be cut off from all but wrong clocks."""
        return self._core.clocks.sides(self._clock(), MOST_OFF_S, self._view.live()).are_against_us

    def _missing(self, now: Now) -> tuple[str, ...]:
        """Say that nobody answers, where others are expected or known."""
        if now.steady - self._began_at < FIND_S:
            return ()
        if self._view.first_meeting.is_lost:  # where clocks differ, somebody does answer, and that is said
            return () if self._core.clocks.warnings(now) else (LOST,)
        others = len({*self._view.members()} - self._view.away() - {self.node_id})
        if others <= 0 or len(self._view.live()) > 1:
            return ()
        return (f"none of the {others} other members that this node knows answers; what they alone keep is missing",)

    def _held(self, now: Now) -> Mapping[Slot, int]:
        return self._leases.held(now) if self._leases is not None else NO_LEASES

    def _promised(self, now: Now, slot: Slot) -> NodeId | None:
        return self._leases.promised(now, slot) if self._leases is not None else None

    def _grants(self, slot: Slot) -> Sequence[SignedGrant]:
        return self._leases.grants(slot) if self._leases is not None else ()

    def _take_event(self, event: Event) -> None:
        if isinstance(event, StrategyAhead):
            self._strategy.sync.is_ahead(event.peer, event.contact)
        elif isinstance(event, DialWanted):
            self._messenger.dial(event)
        elif isinstance(event, RefusedHeartbeat):
            log.warning("heartbeat refused from=%s reason=%s", event.peer, event.reason)
