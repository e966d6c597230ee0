"""The overlay of a running node, built of parts that each do one thing. The messenger asks and answers, the announcer
and the two upkeeps keep heartbeats, strategy and role true, and the lease service holds leases.

The means of transport are given, so the same class runs over sockets (`assembly.py`) and in the simulator.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from functools import partial

from dht.clock import Clock
from dht.identity.node_key import node_id_of
from dht.identity.puzzle_solver import PuzzleFile, PuzzleSolver
from dht.keys import Key, NodeId, Slot
from dht.leases.lease_balancer import CrawlWork, NoWork
from dht.leases.lease_service import TICK_S, LeaseService
from dht.membership.farewell_book import FarewellBook
from dht.membership.working_families import WorkingFamilies
from dht.messages import Answer, Asked, GetStrategy, Handler, LeaseRelease, LeaseRequest, Message, StrategyDigest
from dht.overlay.admission_upkeep import AdmissionUpkeep
from dht.overlay.farewell_upkeep import FarewellFile, FarewellUpkeep
from dht.overlay.messenger import Messenger
from dht.overlay.own_invitation import VoucherUpkeep
from dht.overlay.peer_cache_file import PeerCacheFile
from dht.overlay.point_records import PointRecords
from dht.overlay.report import OverlayReport, SelfDoubt
from dht.overlay.role_upkeep import FamilyUpkeep, RoleUpkeep
from dht.overlay.settings import OnEvent, OverlayFiles, OverlaySettings
from dht.overlay.strategy_upkeep import HeartbeatAnnouncer, StrategyUpkeep
from dht.ownership.view import OverlayView
from dht.protocol.engine import ProtocolEngine
from dht.protocol.events import DialWanted, Event, StrategyAhead
from dht.protocol.heartbeat_intake import RefusedHeartbeat
from dht.reachability.autonat import AreYouThere, AutoNat, Probe, ProbeMe
from dht.reachability.dial_back import DialBack
from dht.strategy.document import SignedStrategy, Strategy
from dht.strategy.history import StrategyHistory
from dht.supervisor import STRICT, Supervisor
from dht.transport.transport import Driver, Transport
from dht.wire.contact import Address, Contact
from dht.wire.heartbeat import Condition, Load
from dht.wire.room_step import RoomStep

log = logging.getLogger(__name__)


class OverlayService:
    """A node's place in the network, as it takes part in it; an `Overlay`."""

    def __init__(
        self,
        settings: OverlaySettings,
        core: ProtocolEngine,
        drive: Callable[[OnEvent], Driver],
        transport: Transport,
        strategies: StrategyHistory,
        clock: Clock,
        files: OverlayFiles,
        dial_back: DialBack | None = None,
    ) -> None:
        """`drive` makes the engine's driver, given what to do with its events. Without `dial_back` the node never finds
        out whether strangers reach it, and never does so for others."""
        self._settings, self._core, self._transport, self._clock, self._files = settings, core, transport, clock, files
        self.node_id, self.strategies = core.node_id, strategies
        self._driver = drive(self._take_event)
        kick, farewells = self._driver.kick, FarewellFile(files.path("farewells.bin"), files.faults)
        self._doubt = SelfDoubt(core, clock)
        self.view = view = self._make_view(FarewellBook(core.node_id, farewells.load()))
        self._points = PointRecords(core, clock, kick)
        self._messenger = messenger = Messenger(core, transport, view, clock, kick, packets=settings.packets)
        self.times, self.late = messenger.times, messenger.late
        self.farewells = FarewellUpkeep(core, view, messenger, clock, files, farewells)
        self._announcer = HeartbeatAnnouncer(core, view, kick)
        puzzle = PuzzleFile(settings.puzzle)
        self._solver = PuzzleSolver(core.own.public_key, puzzle, files.executor, self._solved, files.faults)
        means = self._announcer, messenger, self._points, clock, self._solver
        self._strategy = StrategyUpkeep(strategies, core, view, *means)
        self._leases = self._make_leases() if settings.member else None
        self._autonat = self._make_autonat(dial_back) if dial_back is not None else None
        self._admission = self._make_admission(self._autonat) if self._autonat is not None else None
        parts = self._leases, self._autonat, self._admission
        self.report = OverlayReport(core, view, clock, messenger, self._announcer, *parts)
        self._cache = PeerCacheFile(core, files.folder, files.executor, files.faults, clock)
        self._joins = self._remembered = False
        self._first_contacts: tuple[Address, ...] = ()  # of the network file, this node's own address included
        self.serve(GetStrategy, self._strategy.sync.answer)
        self.serve(StrategyDigest, self._strategy.dissemination.answer)
        self._strategy.apply()

    def is_direct(self, peer: NodeId) -> bool:
        """Tell whether a peer is asked without a relay, as far as this node knows."""
        return self._messenger.is_direct(peer)

    @property
    def takes_part(self) -> bool:
        """Whether this node is a member or a bootstrap node, and no client."""
        return self._core.takes_part

    def allows(self, host: str) -> bool:
        """Tell whether a stranger's word may make this node send to an address."""
        return self._core.rules.policy.allows(host)

    @property
    def families(self) -> WorkingFamilies:
        """Which families of address work on this machine."""
        return self._core.families

    def serve(self, message: type[Asked], handler: Handler[Asked]) -> None:
        """Answer this type of message with what the handler returns."""
        self._messenger.serve(message, handler)

    async def ask(self, peer: NodeId, message: Message, answer: type[Answer], *, timeout_s: float) -> Answer:
        """Send one message and return its answer; raises PeerTimeout or BadMessage."""
        return await self._messenger.ask(peer, message, answer, timeout_s=timeout_s)

    async def ask_at(self, contact: Contact, message: Message, answer: type[Answer], *, timeout_s: float) -> Answer:
        """Ask whoever is at a contact, without relays; raises PeerTimeout or BadMessage, and silence has no effect."""
        return await self._messenger.ask_at(contact, message, answer, timeout_s=timeout_s)

    def announce(
        self, ready: frozenset[Slot], due: int, load: Load | None = None, stored_only: frozenset[Slot] = frozenset()
    ) -> None:
        """Announce for which slots this node is ready, how many URLs are due, how busy it is (None: as before), and
        which of the slots it does not index."""
        self._announcer.set(ready, due, load, stored_only)

    def tell(self, condition: Condition) -> None:
        """Say in the next heartbeats how this node is."""
        self._announcer.tell(condition)

    def take_part_with(self, room_step: RoomStep) -> None:
        """Say in the next heartbeats by which step of room this node takes part."""
        self._announcer.take_part_with(room_step)

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
                self.report.note_own_contacts(used)
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
        self.view.refresh()
        self._driver.kick()

    def going_on(self) -> frozenset[NodeId]:
        """Return who goes on if this node says farewell; nobody where farewells do not count."""
        return self.farewells.going_on()

    def take_leave(self) -> None:
        """Have the end of `run` be a farewell, where few members go by such; all that others need of this node lies
        with them."""
        self.farewells.is_asked = True

    def compared(self, peers: frozenset[NodeId]) -> None:
        """Say with which live members all copies here have been compared since the start: after a farewell this node
        has its vote again then."""
        self.farewells.compared = peers

    def expect_others(self) -> None:
        """Say that there are others in the network: a node that remembers none of them is lost until it meets one."""
        if not self._remembered:
            self.view.first_meeting.expect()

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
                supervisor.start(means, "overlay-messages", partial(self._messenger.run, supervisor))
                supervisor.start(means, "overlay-driver", partial(self._driver.run, supervisor))
                try:
                    await self._work(work or NoWork(), supervisor)
                finally:
                    if self._leases is not None:
                        await self._leases.stop()
                    if not await self.farewells.say():
                        self._core.leave(self._clock())
                    self._driver.kick()
        finally:
            self._cache.save()

    async def _work(self, work: CrawlWork, supervisor: Supervisor) -> None:
        """Run what needs messages and packets, and ends before them."""
        async with asyncio.TaskGroup() as tasks:
            start = partial(supervisor.start, tasks)
            families = FamilyUpkeep(self._core, self._transport, self._clock, self._driver.kick)
            start("overlay-families", families.run)
            start("overlay-strategies", self._strategy.sync.run)
            start("overlay-strategy-spread", self._strategy.dissemination.run)
            start("overlay-block-notice", self._strategy.block_notice.run)
            start("overlay-cache", self._cache.run)
            start("overlay-leases", lambda: self._tick(work))
            start("overlay-puzzle", self._solver.run)
            start("overlay-farewells", self.farewells.run)
            vouchers = VoucherUpkeep(self._settings.vouchers, self._points, self._clock, self._files.executor)
            start("overlay-vouchers", vouchers.run)
            if self._autonat is not None:
                start("overlay-autonat", self._autonat.run)
            if self._admission is not None:
                start("overlay-admission", self._admission.run)
            if self._autonat is not None:
                role = RoleUpkeep(self._settings, self._core, self.view, self._autonat, self._clock, self._driver.kick)
                start("overlay-role", lambda: role.run(self._first_contacts, joins=self._joins))

    async def _tick(self, work: CrawlWork) -> None:
        """Once a second, follow the clock and ask for leases; which are held is announced when it changes."""
        held = frozenset[Slot]()
        while True:
            self._strategy.follow_clock()
            self._core.clocks.stopped = self.view.away()
            if self._doubt.doubts_clock(self.view.live()):
                self._core.members.prolong_join()
            if self._leases is not None:
                await self._leases.step(work)
                if held != self.view.leases().keys():
                    held = frozenset(self.view.leases())
                    self._announcer.announce()
            await asyncio.sleep(TICK_S)

    def _make_view(self, book: FarewellBook) -> OverlayView:
        core, doubt = self._core, self._doubt
        means = core.members, self.strategies, self._clock, core.own, doubt.first_meeting, doubt.why_apart, book
        return OverlayView(core.node_id, *means)

    def _make_autonat(self, dial_back: DialBack) -> AutoNat:
        means = self._clock, dial_back.rng, self._settings.probe_s
        autonat = AutoNat(self._core, self.view, self._messenger, dial_back, *means)
        self._messenger.dispatcher.serve(ProbeMe, autonat.answer_me)
        self.serve(Probe, autonat.answer)
        self.serve(AreYouThere, autonat.answer_there)
        return autonat

    def _make_leases(self) -> LeaseService:
        files, view, doubt = self._files, self.view, self._doubt
        means = self._core.identity, self._clock, files.executor, files.path("votes.json"), files.faults
        leases = LeaseService(view, self._messenger, *means, lambda: doubt.doubts_clock(view.live()))
        view.votes.leases = leases
        self.serve(LeaseRequest, leases.answer_request)
        self.serve(LeaseRelease, leases.answer_release)
        return leases

    def _make_admission(self, autonat: AutoNat) -> AdmissionUpkeep:
        means = self._messenger, self._clock, self._settings.invitation, self._points
        return AdmissionUpkeep(self._core, self.view, *means, autonat.reach, self._driver.kick)

    def _solved(self, nonce: int) -> None:
        self._core.own.prove(nonce)
        self._driver.kick()

    def _take_event(self, event: Event) -> None:
        if isinstance(event, StrategyAhead):
            self._strategy.sync.is_ahead(event.peer, event.contact)
        elif isinstance(event, DialWanted):
            self._messenger.dial(event)
        elif isinstance(event, RefusedHeartbeat):
            log.warning("heartbeat refused from=%s reason=%s", event.peer, event.reason)
