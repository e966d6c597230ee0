"""The overlay of a running node: core, carrier, view, strategies and leases behind the two calls `ask` and `serve`.

`run` owns every task. The carriers are given, so the same class runs over sockets (`opening.py`) and in the simulator.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from random import Random

import msgspec

from dht.clock import Clock
from dht.errors import MALFORMED, BadMessage, InputError, PeerTimeout, RemoteError
from dht.identity.puzzle_solver import PuzzleFile, PuzzleSolver
from dht.keys import Key, NodeId, Slot
from dht.leases.lease_balancer import BalanceReport, CrawlWork, LeaseBalancer
from dht.leases.lease_service import SETTLE_S, TICK_S, LeaseService
from dht.messages import Answer, Asked, GetStrategy, Handler, LeaseRelease, LeaseRequest, Message, StrategyDigest
from dht.overlay.peer_cache_file import PeerCacheFile
from dht.overlay.strategy_dissemination import READ_WITHIN_S, StrategyDissemination
from dht.overlay.strategy_sync import StrategySync
from dht.ownership.view import OverlayView
from dht.protocol.engine import ProtocolEngine
from dht.protocol.events import Event, StrategyAhead
from dht.protocol.packet_filter import BLOCKED
from dht.rate_limit import RateLimiter
from dht.reachability.autonat import AreYouThere, AutoNat, Probe, ProbeMe
from dht.reachability.dial_back import DialBack
from dht.reachability.evidence import ReachabilityEvidence
from dht.reachability.node_role import Mode, NodeRole, left_out
from dht.slot_set import encode_slots
from dht.strategy.document import SignedStrategy, Strategy
from dht.strategy.history import StrategyHistory
from dht.transport.dispatcher import Dispatcher
from dht.transport.transport import Driver, PeerGone, PeerRefused, Route, Transport
from dht.wire.address_policy import AddressPolicy
from dht.wire.contact import Address, Contact, Endpoint, Family
from dht.wire.heartbeat import Graces, Load
from dht.wire.value_record import ValueRecord

log = logging.getLogger(__name__)

STOP_S = 3.0  # for telling the others that the leases are free
STANDING_S = 0.5  # between two looks at what peers say of this node's addresses
NAMED = 4  # peers that may share an address and port; more only say so
RELAYS = 2  # tried one after the other
GUESTS_S, GUESTS_BURST = 0.5, 8.0  # tunnels opened for clients, all together: with IDLE_S half of what a relay bears

OnEvent = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class OverlayDependencies:
    """What an `OverlayService` is built of. `drive` makes the core's driver, given what to do with its events."""

    core: ProtocolEngine
    drive: Callable[[OnEvent], Driver]
    carrier: Transport
    strategies: StrategyHistory
    families: frozenset[Family]
    clock: Clock
    executor: Executor  # named; for small files
    allow_private: bool = False  # as in DhtConfig
    folder: Path | None = None  # for the peer cache and the note of votes; None keeps nothing
    member: bool = True  # False: a bare bootstrap node, which holds nothing
    puzzle: Path | None = None  # file of the identity's solved puzzle; None: it is solved at each start
    mode: Mode = "member"
    is_declared: bool = True  # whether the operator says where this node is reached, in every family
    dial_back: DialBack | None = None  # None: never find out whether strangers reach this node, and never for others
    probe_s: float = 0.0  # as in DhtConfig
    rng: Random = field(default_factory=Random)


class OverlayService:
    """A node's place in the network; an `Overlay`."""

    def __init__(self, parts: OverlayDependencies) -> None:
        core, clock = parts.core, parts.clock
        self.node_id = core.node_id
        self.strategies = parts.strategies
        self._parts = parts
        self._core = core
        self._rules = core.rules
        self._clock = clock
        self._driver = parts.drive(self._happened)
        self._view = OverlayView(
            core.node_id, core.members, parts.strategies, clock, lambda: core.own.endpoints(), core.own.operator
        )
        self._handlers = Dispatcher()
        self._encoder = msgspec.msgpack.Encoder()
        self._puller = StrategySync(parts.strategies, self, self._tell_strategy)
        rng = Random(core.node_id)  # whom it compares strategies with needs to be no secret
        self._spread = StrategyDissemination(parts.strategies.network, parts.strategies, self._puller, self, clock, rng)
        self._due, self._load = 0, Load()
        self._joins = False
        self._sharing = LeaseBalancer(self._view)
        self._guests = RateLimiter(GUESTS_S, GUESTS_BURST, keys=1)
        self._keeper: LeaseService | None = None
        self._memory = PeerCacheFile(core, parts.folder, parts.executor)
        self._solver = PuzzleSolver(core.own.public_key, PuzzleFile(parts.puzzle), parts.executor, self._solved)
        self._prober = self._open_prober(parts)
        self._tell_strategy()
        self.serve(GetStrategy, self._puller.answer)
        self.serve(StrategyDigest, self._spread.answer)

    @property
    def view(self) -> OverlayView:
        """Who is in the network and who owns what."""
        return self._view

    @property
    def refused(self) -> Mapping[str, int]:
        """Packets that were not taken, or not sent, since the start, by reason."""
        return self._core.refused

    @property
    def takes_part(self) -> bool:
        """Whether this node is a member or a bootstrap node, and no client."""
        return self._core.takes_part

    def allows(self, host: str) -> bool:
        """Whether a stranger's word may make this node send to an address."""
        return self._rules.policy.allows(host)

    @property
    def own_addresses(self) -> tuple[Endpoint, ...]:
        """Where peers see this node, announced or not."""
        return self._core.own.addresses()

    def reachability(self) -> dict[Family, ReachabilityEvidence]:
        """What peers found out about this node's addresses, by family; empty where nobody asks."""
        return dict(self._prober.found) if self._prober is not None else {}

    def serve(self, message: type[Asked], handler: Handler[Asked]) -> None:
        """Answer this type of message."""
        self._handlers.serve(message, lambda asker, decoded, _host: handler(asker, decoded))

    def announce(self, ready: frozenset[Slot], due: int, load: Load | None = None) -> None:
        """Say in the next heartbeats which slots this node is ready for, how many URLs are due here, how busy it is."""
        self._due, self._load = due, load or self._load
        self._view.say_ready(ready)
        self._tell()

    def refuse(self, hosts: bytes) -> None:
        """Tell peers which hosts this node will not fetch: hashes of four bytes, one after the other."""
        self._core.own.refuse(hosts)
        self._driver.kick()

    def crawls(self, work: CrawlWork) -> None:
        """Ask this about the crawl from now on."""
        self._view.show_work(work.is_busy)
        self._sharing.work = work

    @property
    def load(self) -> Load:
        """How busy this machine is, as the heartbeats say it."""
        return self._load

    def balance(self) -> BalanceReport:
        """What is due here and at others, what moved and why."""
        return self._sharing.report(self._clock(), self._keeper.leases if self._keeper is not None else None)

    def join(self, addresses: Iterable[Address]) -> None:
        """Make first contact through these, of the families that this node has; call it before `run` or any time."""
        chosen = [address for address in addresses if address.family in self._parts.families]
        self._joins = self._joins or bool(chosen)
        self._core.join(self._clock(), chosen)
        self._driver.kick()

    def remember(self) -> int:
        """Take the peers of an earlier run as members, not live yet; returns how many. Blocks on one small file."""
        found = self._memory.recall(self._clock())
        self._joins = self._joins or bool(found)
        return found

    def adopt(self, signed: SignedStrategy) -> Strategy:
        """Adopt a strategy that a publisher hands to this node, and spread it; raises BadStrategy."""
        if self.strategies.adopt(signed):
            self._tell_strategy()
        return self.strategies.newest

    def warnings(self) -> tuple[str, ...]:
        """What an operator should know, one sentence each."""
        return self.strategies.warnings(self._clock())

    def live_peers(self) -> list[NodeId]:
        """The live peers, sorted; this node is not among them."""
        return sorted(self._view.live() - {self.node_id})

    async def read_records(self, key: Key) -> list[ValueRecord]:
        """The small records at a point, one an author; none where nobody answers in time."""
        found: asyncio.Future[list[ValueRecord]] = asyncio.get_running_loop().create_future()
        finder = self._core.finder
        finder.get(self._clock(), key, lambda _, records: None if found.done() else found.set_result(records))
        self._driver.kick()
        try:
            async with asyncio.timeout(READ_WITHIN_S):
                return await found
        except TimeoutError:
            return []

    async def write_record(self, key: Key, value: bytes, life_s: float) -> int:
        """Sign a small record and store it at a point; at how many nodes it lies."""
        kept: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        finder = self._core.finder
        finder.write(self._clock(), key, value, life_s, lambda _, n: None if kept.done() else kept.set_result(n))
        self._driver.kick()
        try:
            async with asyncio.timeout(READ_WITHIN_S):
                return await kept
        except TimeoutError:
            return 0

    async def run(self) -> None:
        """Take part until cancelled; then free the leases, say farewell and write the peer cache."""
        self._begin_leases()
        try:
            async with asyncio.TaskGroup() as carriers:
                carriers.create_task(self._parts.carrier.run(self._answer, self._may_relay), name="overlay-carrier")
                carriers.create_task(self._driver.run(), name="overlay-driver")
                try:
                    await self._work()
                finally:
                    await self._give_up()
                    self._core.leave(self._clock())
                    self._driver.kick()
        finally:
            self._memory.save()
            if self._keeper is not None:
                self._keeper.forget_quickly()

    async def _work(self) -> None:
        """What needs the carriers, and ends before them."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._puller.run(), name="overlay-strategies")
            tasks.create_task(self._spread.run(), name="overlay-strategy-spread")
            tasks.create_task(self._memory.run(), name="overlay-cache")
            tasks.create_task(self._keep_leases(), name="overlay-leases")
            tasks.create_task(self._solver.run(), name="overlay-puzzle")
            if self._prober is not None:
                tasks.create_task(self._prober.run(), name="overlay-prober")
                tasks.create_task(self._keep_standing(self._prober), name="overlay-standing")

    async def ask(self, peer: NodeId, message: Message, answer: type[Answer], *, timeout_s: float) -> Answer:
        """Send one message and return its answer; see `Overlay`."""
        name, body = type(message).__name__, self._encoder.encode(message)
        if peer == self.node_id:
            return self._decode(peer, await self._ask_self(name, body), answer)
        contact = self._view.contact(peer)
        if contact is None:
            raise PeerTimeout(peer.hex(), 0.0)
        return self._decode(peer, await self._ask_routes(contact, name, body, timeout_s), answer)

    async def ask_at(self, contact: Contact, message: Message, answer: type[Answer], *, timeout_s: float) -> Answer:
        """The same of whoever is at a contact, directly: no relay, and its silence is no sign of anything."""
        name, body = type(message).__name__, self._encoder.encode(message)
        heard = await self._parts.carrier.ask(Route(contact), name, body, timeout_s=timeout_s)
        return self._decode(contact.node_id, heard, answer)

    async def _ask_self(self, name: str, body: bytes) -> bytes:
        try:
            return await self._answer(self.node_id, name, body, "")
        except (RemoteError, InputError) as error:
            raise PeerRefused(self.node_id.hex(), str(error)) from error

    async def _ask_routes(self, peer: Contact, name: str, body: bytes, timeout_s: float) -> bytes:
        """Directly, or through one relay and then another while time is left."""
        ends = self._clock().steady + timeout_s
        routes = self._routes(peer)
        for route in routes:
            left = ends - self._clock().steady
            try:
                return await self._parts.carrier.ask(route, name, body, timeout_s=left)
            except PeerGone:
                if route.relay is None:
                    self._core.suspect(self._clock(), peer.node_id)
                    self._view.refresh()
                    self._driver.kick()
                raise
            except PeerTimeout:
                if route is routes[-1] or self._clock().steady >= ends:
                    raise
        raise PeerTimeout(peer.node_id.hex(), 0.0)

    def _routes(self, peer: Contact) -> list[Route]:
        """How to reach a peer: a relay has both families; which one is asked first stays the same for each peer."""
        if peer.families & self._parts.families:
            return [Route(peer)]
        dual = [self._view.contact(node) for node in self._view.live() - {self.node_id, peer.node_id}]
        fit = [c for c in dual if c is not None and c.families & self._parts.families and c.families & peer.families]
        fit.sort(key=lambda relay: blake2b(relay.node_id + peer.node_id, digest_size=8).digest())
        return [Route(peer, relay) for relay in fit[:RELAYS]]

    def _decode(self, peer: NodeId, body: bytes, answer: type[Answer]) -> Answer:
        try:
            return msgspec.msgpack.decode(body, type=answer)
        except MALFORMED as error:
            raise BadMessage(peer.hex(), f"its answer is no {answer.__name__}: {error}") from None

    async def _answer(self, asker: NodeId, name: str, body: bytes, host: str) -> bytes:
        """The answer to one message of a peer, or of this node itself."""
        if asker in self._core.members.blocked:
            self._core.refused[BLOCKED] += 1
            raise BadMessage(asker.hex(), "the strategy of this network blocks this node")
        return await self._handlers.answer(asker, name, body, host)

    def _may_relay(self, asker: NodeId, host: str, port: int) -> bool:
        """Members and, few at a time, clients are served, to endpoints of members that have answered there: anybody
        may name any address."""
        members, now = self._core.members, self._clock()
        if not self._rules.policy.allows(host):
            return False
        contacts = [known.opened.contact for _, known in members.known()]
        named = [(c.node_id, e.udp) for c in contacts for e in c.endpoints if (e.host, e.tcp_port) == (host, port)]
        met = any(self._core.has_met(now, peer, address) for peer, address in named[:NAMED])
        if named and not met:
            self._driver.kick()
        return met and (members.find(asker) is not None or self._guests.take("", now.steady))

    # Reachability

    def _open_prober(self, parts: OverlayDependencies) -> AutoNat | None:
        if parts.dial_back is None:
            return None
        prober = AutoNat(
            self._core, self._view, self, parts.dial_back, self._clock, parts.rng, parts.families, parts.probe_s
        )
        self._handlers.serve(ProbeMe, prober.answer_me)
        self.serve(Probe, prober.answer)
        self.serve(AreYouThere, prober.answer_there)
        return prober

    async def _keep_standing(self, prober: AutoNat) -> None:
        """Take part while strangers reach this node, and say only where they do."""
        mode, is_declared = self._parts.mode, self._parts.is_declared or not self._parts.probe_s
        standing = NodeRole(mode, is_declared=is_declared, joins=self._joins)
        told: tuple[bool, frozenset[Family]] | None = None
        while True:
            verdicts = prober.verdicts()
            takes_part = standing.takes_part(self._clock().steady, verdicts)
            if takes_part != self.takes_part:
                log.info(
                    "this node is a %s from now on", "member" if takes_part else "client: nobody gets through to it"
                )
                self._core.take_part(takes_part)
                self._view.refresh()
            said = takes_part, left_out(verdicts)
            if said != told:
                told = said
                self._core.own.leave_out(told[1])
                self._driver.kick()
            await asyncio.sleep(STANDING_S)

    # Strategies

    def _happened(self, event: Event) -> None:
        """An event of the core."""
        if isinstance(event, StrategyAhead):
            self._puller.is_ahead(event.peer)

    def _tell_strategy(self) -> None:
        """Put the newest version into packets, and the one in force into effect."""
        newest, current = self.strategies.newest, self.strategies.current(self._clock())
        policy = AddressPolicy(current.declared_prefixes, self._parts.allow_private)
        digest = bytes.fromhex(self.strategies.newest_digest)
        blocked = frozenset(NodeId(bytes.fromhex(peer)) for peer in current.blocked)
        graces = Graces(current.stable_grace_s, current.laptop_grace_s)
        bits = self.strategies.puzzle_bits(self._clock())
        self._core.set_strategy(newest.version, digest, current.slot_bits, policy, blocked, graces, bits)
        self._solver.want(max(newest.puzzle_bits, current.puzzle_bits))
        self._view.refresh()
        self._tell()

    def _solved(self, nonce: int) -> None:
        """The puzzle of our identity."""
        self._core.own.prove(nonce)
        self._driver.kick()

    # Leases and heartbeats

    def _begin_leases(self) -> None:
        if self._parts.member:
            path = self._parts.folder / "votes.json" if self._parts.folder is not None else None
            settle_s = SETTLE_S if self._joins else 0.0
            clock, executor = self._clock, self._parts.executor
            keeper = LeaseService(self._view, self, clock, executor, path, settle_s=settle_s, sharing=self._sharing)
            self._keeper = keeper
            self._view.show_leases(keeper.held)
            self.serve(LeaseRequest, keeper.answer_request)
            self.serve(LeaseRelease, keeper.answer_release)

    async def _keep_leases(self) -> None:
        """One round a second; what changed is told in the heartbeat."""
        in_force, held = self._in_force(), frozenset[Slot]()
        while True:
            if in_force != self._in_force():
                in_force = self._in_force()
                self._tell_strategy()
            if self._keeper is not None:
                await self._keeper.step()
                if held != self._view.leases().keys():
                    held = frozenset(self._view.leases())
                    self._tell()
            await asyncio.sleep(TICK_S)

    def _in_force(self) -> tuple[Strategy, int]:
        """What of the strategies comes into force by the passing of time."""
        now = self._clock()
        return self.strategies.current(now), self.strategies.puzzle_bits(now)

    async def _give_up(self) -> None:
        """Tell the others that the leases are free, shortly; they find out by themselves if that fails."""
        if self._keeper is None:
            return
        try:
            async with asyncio.timeout(STOP_S):
                await self._keeper.give_up()
        except TimeoutError:
            log.info("leases not released in time; the others wait until they run out")

    def _tell(self) -> None:
        """What is announced and the number of slots that it counts by change together."""
        while True:
            bits, ready, leased = self._view.strategy.slot_bits, self._view.own_ready(), self._view.leases()
            if self._view.strategy.slot_bits == bits:
                break  # all three are of one moment
        said = encode_slots(slot for slot in ready if slot < 1 << bits)
        told = encode_slots(leased)
        self._core.own.announce(ready=said, leased=told, due=self._due, load=self._load, slot_bits=bits)
        self._driver.kick()
