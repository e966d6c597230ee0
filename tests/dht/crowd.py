"""Hundreds of cores on one heap of events: a network in virtual time with as little around the cores as can be."""

from collections import Counter
from collections.abc import Iterable
from heapq import heappop, heappush
from math import log
from random import Random

from dht import Address, AddressPolicy, DhtConfig, Endpoint, Identity, NodeId, Now, ProtocolEngine, Slot
from dht.membership.neighbourhood import block_of
from dht.ownership.rendezvous import Placement

NETWORK = b"a crowd of bare cores"
WALL = 1_767_225_600.0


class Crowd:
    """Nodes by number. Each way of a packet takes a lognormal time, its median a quarter of `rtt_s` × 2."""

    def __init__(self, seed: int, *, loss: float = 0.0, rtt_s: float = 0.05, config: DhtConfig | None = None) -> None:
        self.rng = Random(seed)
        self.seed = seed
        self.loss = loss
        self.now = 0.0
        self.cores: dict[int, ProtocolEngine] = {}
        self.dead: set[int] = set()
        self.packets: Counter[int] = Counter()  # sent, by node
        self._config = config or DhtConfig()
        self._median = log(rtt_s / 2)
        self._events: list[tuple[float, int, int, bytes, Address]] = []
        self._made = 0
        self._armed: dict[int, float] = {}

    def clock(self) -> Now:
        return Now(WALL + self.now, self.now)

    def add(self, join: int | None = 0) -> int:
        n = len(self.cores)
        rng, place = Random(self.seed * 100_003 + n), address(n)
        listening = (Endpoint(place.host, place.port, place.port),)
        core = ProtocolEngine(
            Identity(rng.randbytes(32)), NETWORK, self._config, rng, listening=listening, policy=AddressPolicy()
        )
        self.cores[n] = core
        if n and join is not None:
            core.join(self.clock(), [address(join)])
        self._send(n, core.poll(self.clock()))
        return n

    def introduce(self, count: int) -> None:
        """Start nodes that all know each other already, as after a restart of all from their caches."""
        numbers = []
        for _ in range(count):
            numbers.append(self.add(join=None))
            self.now += 10.0 / count  # heartbeats are not sent all together
        raws = [self.cores[n].own.raw for n in numbers]
        for n in numbers:
            self.cores[n].remember(self.clock(), raws)

    def kill(self, numbers: Iterable[int]) -> None:
        self.dead |= set(numbers)

    def run(self, seconds: float) -> None:
        end = self.now + seconds
        while self._events and self._events[0][0] <= end:
            at, _, n, data, source = heappop(self._events)
            self.now = max(self.now, at)
            if n in self.dead:
                continue
            core = self.cores[n]
            if data:
                self._send(n, core.receive(self.clock(), data, source))
            elif self._armed.get(n) == at:
                del self._armed[n]
                self._send(n, core.poll(self.clock()))
            core.take_events()
        self.now = end

    def kick(self, n: int) -> None:
        """The core was told something."""
        self._send(n, self.cores[n].poll(self.clock()))

    def alive(self) -> list[int]:
        return [n for n in self.cores if n not in self.dead]

    def agreement(self, slot_bits: int, replicas: int = 3) -> float:
        """Share of the slots whose true live owners all see exactly the true live owners."""
        now, alive = self.clock(), {self.cores[n].node_id: self.cores[n] for n in self.alive()}
        members = tuple(sorted(core.node_id for core in self.cores.values()))
        truth, right = Placement(members, slot_bits, replicas), 0
        seen = {peer: Placement(core.members.members(now), slot_bits, replicas) for peer, core in alive.items()}
        for slot in range(1 << slot_bits):
            team = truth.live_owners(Slot(slot), alive.__contains__)
            right += all(self._team(seen[peer], slot, alive[peer]) == team for peer in team)
        return right / (1 << slot_bits)

    def _team(self, seen: Placement, slot: int, core: ProtocolEngine) -> tuple[NodeId, ...]:
        """The live owners of a slot as one core sees them."""
        now = self.clock()
        return seen.live_owners(Slot(slot), lambda peer: core.members.is_live(peer, now))

    def false_deaths(self) -> float:
        """Share of the pairs of near live nodes in which one takes the other for dead."""
        now, alive = self.clock(), {self.cores[n].node_id: self.cores[n] for n in self.alive()}
        members = sorted(core.node_id for core in self.cores.values())
        pairs: list[bool] = []
        for peer, core in alive.items():
            block = block_of(members, peer)
            pairs += [not core.members.is_live(other, now) for other in alive if block.has(other)]
        return sum(pairs) / len(pairs)

    def knowing(self, peer: NodeId) -> float:
        """Share of the live nodes that know of a peer."""
        cores = [self.cores[n] for n in self.alive()]
        return sum(c.node_id == peer or c.members.find(peer) is not None for c in cores) / len(cores)

    def _send(self, n: int, out: list[tuple[bytes, Address]]) -> None:
        source = address(n)
        for data, target in out:
            self.packets[n] += 1
            if self.loss and self.rng.random() < self.loss:
                continue
            self._push(self.now + self.rng.lognormvariate(self._median, 0.3), number(target), data, source)
        due = max(self.cores[n].next_due, self.now + 0.001)
        if due < self._armed.get(n, float("inf")):
            self._armed[n] = due
            self._push(due, n, b"", source)

    def _push(self, at: float, n: int, data: bytes, source: Address) -> None:
        self._made += 1
        heappush(self._events, (at, self._made, n, data, source))


def address(n: int) -> Address:
    """Each in a /24 of its own."""
    return Address(f"9.{n >> 8}.{n & 255}.1", 8091)


def number(place: Address) -> int:
    _, a, b, _ = map(int, place.host.split("."))
    return (a << 8) + b
