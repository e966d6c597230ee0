"""A network in memory for the store's tests: virtual time, crashable disks, and an overlay whose views lag."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import sha256
from heapq import heappop
from itertools import pairwise
from typing import Any

import msgspec

from dht import (
    BadMessage,
    Contact,
    Identity,
    InputError,
    Message,
    NodeId,
    Now,
    PeerAudit,
    PeerTimeout,
    RemoteError,
    SignedGrant,
    SiteShards,
    Slot,
    Strategy,
    slot_of,
)
from dht.membership.answer_times import AnswerTimes, LatePeers
from dht.ownership.ready_peers import LastWord
from store import Draft, MemoryDisk, RecordStore, Replicator, StoreConfig
from store.record.record_check import BodyRules, RecordCheck
from store.segments.file_system import FolderDisk
from store.writing.ruling import needs_grant
from tests.coroutine_tests import Story, Test, as_test
from tests.store.support import WALL, NoBodyRules, grant

CONFIG = StoreConfig(
    reserve_bytes=0, step_s=0.2, reconcile_every_s=20, view_settle_s=0.5, join_wait_s=3, deliver_every_s=0.5
)


class VirtualLoop(asyncio.SelectorEventLoop):
    """Time jumps to the next timer; executors run inline."""

    def __init__(self) -> None:
        super().__init__()
        self._virtual = 0.0

    def time(self) -> float:
        return self._virtual

    def _run_once(self) -> None:
        while self._scheduled and self._scheduled[0]._cancelled:  # type: ignore[attr-defined]
            heappop(self._scheduled)._scheduled = False  # type: ignore[attr-defined]
            self._timer_cancelled_count -= 1  # a timer that nobody waits for is no reason to wait
        if not self._ready and self._scheduled:  # type: ignore[attr-defined]
            self._virtual = max(self._virtual, self._scheduled[0]._when)  # type: ignore[attr-defined]
        super()._run_once()  # type: ignore[misc]

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> Any:
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:
            future.set_exception(error)
        return future


def simulate(
    main: Coroutine[Any, Any, None], *, real: bool = False, loop: Callable[[], asyncio.AbstractEventLoop] = VirtualLoop
) -> None:
    """Run a test in virtual time, or in real time with real threads."""
    with asyncio.Runner(loop_factory=None if real else loop) as runner:
        runner.run(main)


def steady_clock() -> Now:
    """Return the loop's time."""
    return Now(WALL, asyncio.get_running_loop().time())


@lru_cache(1 << 12)
def ranked(members: tuple[NodeId, ...], slot: Slot) -> tuple[NodeId, ...]:
    """Members by their weight for a slot."""
    return tuple(sorted(members, key=lambda m: sha256(m + slot.to_bytes(2, "big")).digest(), reverse=True))


@dataclass(eq=False)
class FakeOverlay:
    """Both `Overlay` and `View` of one node."""

    net: "Net"
    node_id: NodeId
    handlers: dict[type, Callable[[NodeId, Any], Awaitable[Message]]] = field(default_factory=dict)
    up: bool = False
    late: LatePeers = field(default_factory=lambda: LatePeers(steady_clock))
    times: AnswerTimes = field(default_factory=lambda: AnswerTimes(steady_clock))
    counted: dict[str, int] = field(default_factory=dict)
    members_by: tuple[object, ...] = ()  # what the members as of the last question follow from
    members_then: tuple[NodeId, ...] = ()

    @property
    def view(self) -> "FakeOverlay":
        return self

    @property
    def strategy(self) -> Strategy:
        return self.net.strategy

    @property
    def peers(self) -> "FakeOverlay":
        return self

    @property
    def votes(self) -> "FakeOverlay":
        return self

    def why_apart(self) -> str:
        return ""

    def former_strategies(self) -> tuple[Strategy, ...]:
        return ()

    def coming_strategies(self) -> tuple[Strategy, ...]:
        return ()

    def members(self) -> tuple[NodeId, ...]:
        said = [len(n.history) for n in self.net.list]
        basis = said, set(self.net.strangers), self.net.is_lagging and asyncio.get_running_loop().time()
        if basis != self.members_by:
            known = (n for n in self.net.list if n.id not in self.net.strangers)
            found = sorted(n.id for n in known if n.id == self.node_id or self._seen(n).is_member)
            self.members_by, self.members_then = basis, tuple(found)
        return self.members_then

    def contact(self, peer: NodeId) -> Contact | None:
        return None

    def is_direct(self, peer: NodeId) -> bool:
        return peer not in self.net.relayed

    def is_live(self, peer: NodeId) -> bool:
        same_side = (peer in self.net.cut) == (self.node_id in self.net.cut)
        return peer == self.node_id or (same_side and self._seen(self.net.nodes[peer]).up)

    def live(self) -> frozenset[NodeId]:
        return frozenset(n.id for n in self.net.list if self.is_live(n.id))

    def _seen(self, node: "Node") -> "State":
        """A node as this one has heard of it."""
        lag_s = self.net.lag_s(self.node_id, node.id) if self.net.is_lagging else 0.0
        if not lag_s:
            return node.history[-1] if node.history else State(-1.0)
        then = asyncio.get_running_loop().time() - lag_s
        return next((s for s in reversed(node.history) if s.at <= then), State(-1.0))

    def _ranked(self, slot: Slot) -> tuple[NodeId, ...]:
        return ranked(self.members(), slot)

    def promised(self, slot: Slot) -> NodeId | None:
        return self.net.holder

    def announced(self, slot: Slot) -> tuple[NodeId, ...]:
        return ()

    def owners(self, slot: Slot) -> tuple[NodeId, ...]:
        return self._ranked(slot)[: self.strategy.replicas]

    def owners_by_slot(self) -> list[tuple[NodeId, ...]]:
        return [self.owners(Slot(slot)) for slot in range(1 << self.strategy.slot_bits)]

    def ready_by_slot(self) -> list[tuple[NodeId, ...]]:
        return [self.ready(Slot(slot)) for slot in range(1 << self.strategy.slot_bits)]

    def candidates(self, slot: Slot) -> tuple[NodeId, ...]:
        return self._ranked(slot)[: self.net.candidates]

    def is_ready(self, peer: NodeId, slot: Slot) -> bool:
        return self.is_live(peer) and slot in self._seen(self.net.nodes[peer]).announced

    def live_owners(self, slot: Slot) -> tuple[NodeId, ...]:
        live = [m for m in self.owners(slot) if self.is_live(m)]
        rest = [m for m in self._ranked(slot)[self.strategy.replicas :] if self.is_live(m)]
        return tuple(live + rest[: max(0, 2 - len(live))])

    def keepers(self, slot: Slot, doubted: frozenset[NodeId] = frozenset()) -> tuple[NodeId, ...]:
        owners = self.owners(slot)
        silent = sum(m in doubted or not self.is_live(m) for m in owners)
        live = (m for m in self.candidates(slot) if self.is_live(m) and m not in doubted)
        return tuple(m for m in live if m not in owners)[:silent]

    def count_as_full(self, peers: frozenset[NodeId]) -> None:
        self.full = peers

    def kept(self) -> frozenset[Slot]:
        slots = map(Slot, range(1 << self.strategy.slot_bits))
        return frozenset(s for s in slots if self.node_id in self.keepers(s))

    def away(self) -> frozenset[NodeId]:
        return frozenset()

    uncounted = tie_breakers = away

    def stopped(self, signed: SignedGrant) -> frozenset[NodeId]:
        return signed.stopped

    def last_word(self, peer: NodeId) -> LastWord | None:
        said = [s for s in self.net.nodes[peer].history if s.up]
        return LastWord(self.is_stable(peer), said[-1].announced) if said and peer != self.node_id else None

    def is_stable(self, peer: NodeId) -> bool:
        return peer not in self.net.laptops

    def vanished(self) -> frozenset[NodeId]:
        return frozenset()

    def silent_s(self, peer: NodeId) -> float | None:
        """Seconds since a node ran, as it would have said by heartbeat."""
        states, now = self.net.nodes[peer].history, asyncio.get_running_loop().time()
        ended = [later.at for said, later in pairwise(states) if said.up and not later.up]
        return None if not states else 0.0 if states[-1].up else now - ended[-1] if ended else None

    def seasoned(self, peers: Iterable[NodeId]) -> tuple[NodeId, ...]:
        return tuple(peer for peer in peers if peer in self.net.old)

    def is_known_for_a_day(self, peer: NodeId) -> bool:
        return True

    @property
    def is_leaving(self) -> bool:
        return False

    def ready(self, slot: Slot) -> tuple[NodeId, ...]:
        return tuple(sorted(m for m in self.candidates(slot) if self.is_ready(m, slot)))

    def owned(self) -> frozenset[Slot]:
        slots = map(Slot, range(1 << self.strategy.slot_bits))
        return frozenset(s for s in slots if self.node_id in self.owners(s) + self.live_owners(s))

    def leases(self) -> Mapping[Slot, int]:
        return {}

    def grants(self, slot: Slot) -> tuple[SignedGrant, ...]:
        return tuple(self.net.granted.get((self.node_id, slot), ()))

    async def ask(self, peer: NodeId, message: Message, answer: type[Any], *, timeout_s: float) -> Any:
        self.counted[type(message).__name__] = self.counted.get(type(message).__name__, 0) + 1
        await asyncio.sleep(self.net.delay_s + self.net.slow.get(peer, 0.0))
        other = self.net.nodes[peer].overlay
        if not self.net.reachable(self.node_id, peer):
            await asyncio.sleep(timeout_s)
            raise PeerTimeout(peer.hex(), timeout_s)
        received = msgspec.msgpack.decode(msgspec.msgpack.encode(message), type=type(message))
        if (handler := other.handlers.get(type(message))) is None:
            raise BadMessage(peer.hex(), f"this node answers no {type(message).__name__}")
        try:
            reply = await handler(self.node_id, received)
        except (RemoteError, InputError) as error:
            self.late.note_answer(peer)
            raise BadMessage(peer.hex(), str(error)) from error
        await asyncio.sleep(self.net.delay_s)
        if not self.net.reachable(self.node_id, peer):
            raise PeerTimeout(peer.hex(), timeout_s)
        self.late.note_answer(peer)
        return msgspec.msgpack.decode(msgspec.msgpack.encode(reply), type=answer)

    def serve(self, message: type, handler: Any) -> None:
        self.handlers[message] = handler

    def announce(self, ready: frozenset[Slot], due: int) -> None:
        self.net.nodes[self.node_id].tell(ready)


@dataclass(eq=False)
class FakeHosts:
    """The host records that one node sees."""

    said: dict[str, int] = field(default_factory=dict)
    wondered: set[str] = field(default_factory=set)

    @property
    def spreads(self) -> bool:
        return bool(self.said)

    def depths(self, site: str) -> tuple[int, ...]:
        return (self.said.get(site, 0),)

    def doubt(self, site: str) -> None:
        self.wondered.add(site)


@dataclass(frozen=True)
class State:
    """A node's announcement at some moment."""

    at: float
    up: bool = False
    announced: frozenset[Slot] = frozenset()
    is_member: bool = False


class LeaseHolder(Replicator):
    """A replicator whose node gets the grants of what it writes, as it would from the owners' votes."""

    net: "Net"
    identity: Identity

    async def write(self, drafts: Sequence[Draft], *, is_patient: bool = True) -> None:
        if self.net.gives_grants:
            self.net.elect(drafts, self.identity)
        await super().write(drafts, is_patient=is_patient)


@dataclass(eq=False)
class Node:
    """One node with its disk, running or not."""

    net: "Net"
    identity: Identity
    disk: MemoryDisk | FolderDisk = field(default_factory=MemoryDisk)
    history: list[State] = field(default_factory=list)
    rules: BodyRules = field(default_factory=NoBodyRules)
    slept_s: float = 0.0  # by how much its clocks went on while it did not

    def __post_init__(self) -> None:
        self.id = self.identity.node_id
        self.overlay = FakeOverlay(self.net, self.id)
        self.config, self.hosts = CONFIG, FakeHosts()

    def start(self, *, expects_others: bool = True) -> None:
        self.overlay = FakeOverlay(self.net, self.id, up=True)
        loop = asyncio.get_running_loop()
        clock = lambda: Now(WALL + loop.time() + self.slept_s, loop.time() + self.slept_s)  # noqa: E731
        self.store = RecordStore(self.disk, self.config, clock)
        self.audit = PeerAudit(clock, random.Random(self.id).random)
        check = RecordCheck(self.rules, SiteShards(self.overlay, self.hosts), self.store.denial)
        self.replicator = LeaseHolder(
            self.store, self.overlay, self.identity, check, random.Random(self.id),
            expects_others=expects_others, audit=self.audit,
        )  # fmt: skip
        self.replicator.net, self.replicator.identity = self.net, self.identity
        self.tell(frozenset())
        self.task = self.net.group.create_task(self._run())

    async def _run(self) -> None:
        overlay = self.overlay
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self.replicator.run())
                tasks.create_task(self.audit.checks.run())
                while True:
                    await self.replicator.ready_changed.wait()
                    self.replicator.ready_changed.clear()
                    self.overlay.announce(self.replicator.ready_slots(), 0)
        except ExceptionGroup:
            if overlay.up:  # tasks of a node that was killed in this very moment find its disk closed
                raise

    def kill(self, *, lose_database: bool = False) -> None:
        """Die without a word: what was not synced is gone."""
        self.task.cancel()
        self.overlay.up = False
        self.tell(frozenset())
        if isinstance(self.disk, MemoryDisk):
            self.disk.crash(lose_database=lose_database)

    async def stop(self) -> None:
        """End in order, as a node of real threads and files must."""
        self.kill()
        await asyncio.wait([self.task])
        self.store.close()

    def tell(self, announced: frozenset[Slot]) -> None:
        self.history.append(State(asyncio.get_running_loop().time(), self.overlay.up, announced, True))

    def wipe(self) -> None:
        self.disk = MemoryDisk()

    @property
    def own_ready(self) -> bool:
        return self.overlay.owned() <= self.replicator.ready_slots()


class Net:
    """All nodes of a test."""

    def __init__(
        self, group: asyncio.TaskGroup, count: int, *, replicas: int = 3, slot_bits: int = 4, lag_s: float = 0
    ) -> None:
        self.group, self._lag_s = group, lag_s
        self.delay_s = 0.01  # of a message, one way
        self.candidates = 16
        self.slow: dict[NodeId, float] = {}  # seconds by which a node's answers come later
        self.old: set[NodeId] = set()  # who has been here for long enough to decide; nobody: no such rule
        self.cut: set[NodeId] = set()  # on the other side of a partition
        self.laptops: set[NodeId] = set()  # all others are stable machines
        self.relayed: set[NodeId] = set()  # who is asked through relays
        self.holder: NodeId | None = None  # who holds the leases of all slots
        self.granted: dict[tuple[NodeId, Slot], list[SignedGrant]] = {}  # what holders collected
        self.gives_grants = True  # whoever writes holds the lease; else only what the test grants is granted
        self.strangers: set[NodeId] = set()  # who is a member no more, of whom nobody remembers that it was
        self.frozen: set[NodeId] = set()  # take what is sent and answer nothing; nobody has noticed
        self.strategy = Strategy(
            network="00" * 20, version=1, effective_at=0, expires_at=1 << 40, next_at=1 << 40, replicas=replicas,
            min_acks=2, slot_bits=slot_bits,
        )  # fmt: skip
        self.list = [Node(self, Identity(bytes([n + 1]) * 32)) for n in range(count)]
        self.nodes = {n.id: n for n in self.list}

    def grant(self, drafts: Iterable[Draft], holder: Identity, *voters: Identity) -> list[SignedGrant]:
        """Have voters give a holder the grants under which it writes some drafts."""
        bits = self.strategy.slot_bits
        given = [grant(draft, holder, *voters, bits=bits) for draft in drafts]
        for each in given:
            self.granted.setdefault((holder.node_id, Slot(each.grant.slot)), []).append(each)
        return given

    def elect(self, drafts: Iterable[Draft], holder: Identity) -> tuple[SignedGrant, ...]:
        """Have all owners of the drafts' slots grant these to a holder, unless they did; return the grants."""
        found = dict[SignedGrant, None]()
        for draft in (draft for draft in drafts if needs_grant(draft.kind, draft.epoch)):
            slot = Slot(slot_of(draft.key, self.strategy.slot_bits))
            voters = [
                self.nodes[owner].identity for owner in self.list[0].overlay.owners(slot) if owner != holder.node_id
            ]
            given = self.granted.get((holder.node_id, slot), [])
            fit = (each for each in given if each.grant.covers(draft.key, draft.epoch, draft.at_ms))
            fit = (each for each in fit if each.signers >= {voter.node_id for voter in voters})
            found[next(fit, None) or self.grant([draft], holder, *voters)[0]] = None
        return tuple(found)

    def lag_s(self, observer: NodeId, subject: NodeId) -> float:
        """How old news of one node is at another: fixed per pair, up to the network's lag."""
        return 0.0 if observer == subject else self._lag_s * sha256(observer + subject).digest()[0] / 255

    @property
    def is_lagging(self) -> bool:
        """Whether news of nodes takes time."""
        return self._lag_s > 0

    def reachable(self, a: NodeId, b: NodeId) -> bool:
        answers = not {a, b} & self.frozen
        return answers and self.nodes[a].overlay.up and self.nodes[b].overlay.up and (a in self.cut) == (b in self.cut)

    def running(self) -> list[Node]:
        return [n for n in self.list if n.overlay.up]

    async def start(self, count: int | None = None) -> None:
        """Start all nodes, or the first few, and wait until they are ready."""
        for node in self.list[:count]:
            node.start()
        await self.all_ready()

    def set_strategy(self, **fields: Any) -> None:
        self.strategy = msgspec.structs.replace(self.strategy, **fields)

    async def until(self, what: Callable[[], bool], within_s: float = 120) -> float:
        """Let time pass until something is so; returns the seconds it took."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        while not what():
            assert loop.time() - started < within_s, "it never came to pass"
            await asyncio.sleep(0.1)
        return loop.time() - started

    async def all_ready(self) -> None:
        await self.until(lambda: all(n.own_ready for n in self.running()))

    def is_level(self) -> bool:
        """All owners of every slot hold the same, and nobody else holds anything."""
        for slot in range(1 << self.strategy.slot_bits):
            owners = self.running()[0].overlay.owners(Slot(slot))
            states = {n.id: n.replicator.slot_states([Slot(slot)])[0] for n in self.running()}
            if len({states[o].fingerprint for o in owners}) > 1:
                return False
            if any(s.documents + s.visits for m, s in states.items() if m not in owners):
                return False
        return True

    def config(self, **fields: Any) -> None:
        for node in self.list:
            node.config = replace(node.config, **fields)


def network(
    count: int,
    story: Callable[[Net], Awaitable[None]],
    *,
    real: bool = False,
    loop: Callable[[], asyncio.AbstractEventLoop] = VirtualLoop,
    **fields: Any,
) -> None:
    """Run a story about `count` nodes, none of them started."""

    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            net = Net(group, count, **fields)
            await story(net)
            for node in net.running():
                await node.stop()

    simulate(main(), real=real, loop=loop)


def in_network(
    count: int, *, real: bool = False, loop: Callable[[], asyncio.AbstractEventLoop] = VirtualLoop, **fields: Any
) -> Callable[[Story], Test]:
    """Make a coroutine a test: its first parameter is a network of `count` nodes, its others are the test's."""
    return lambda story: as_test(story, lambda s: network(count, s, real=real, loop=loop, **fields))
