"""Runs overlay cores by the thousand: one heap of events and no asyncio, around the `ProtocolEngine` of a real node.

Two things differ from a real node. The key that two nodes share is the XOR of their public keys, since a key exchange
would be most of the work; and nothing runs above the cores. Packets are real bytes with real MACs, heartbeats are
really signed.
Time, delays, losses and identities follow from one seed; `trace_hash` runs over every packet sent.

    swarm = Swarm(seed=1)
    swarm.add(1000)
    form(swarm)  # node/extras/simulation/forming.py; or let them join
    swarm.run(60.0)
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from heapq import heappop, heappush
from random import Random
from struct import Struct
from typing import Any

from dht import (
    Address,
    AddressPolicy,
    Datagram,
    DhtConfig,
    Endpoint,
    Event,
    Family,
    Identity,
    NodeId,
    Now,
    ProtocolEngine,
    now_of,
)
from node.extras.simulation.delays import Delays
from node.extras.simulation.everybody import trust_everybody
from node.extras.simulation.loop import EPOCH, rarely_collected

NETWORK = b"a network of bare cores!"[:20]
PORT = 8091
NAT_S = 120.0  # how long a NAT lets answers in after a packet went out; RFC 4787, REQ-5
FAMILIES: dict[str, tuple[Family, ...]] = {"4": (4,), "6": (6,), "both": (4, 6)}
SENT = Struct("<dIIB")  # one line of the trace: when, from, to, kind of packet


class SwarmIdentity(Identity):
    """Signs as any other; the key that it shares with a peer is the XOR of both public keys, so no secret."""

    def __init__(self, seed: bytes) -> None:
        super().__init__(seed)
        self._number = int.from_bytes(self.public_key, "big")

    def shared_key(self, public_key: bytes) -> bytes:
        return (self._number ^ int.from_bytes(public_key, "big")).to_bytes(32, "big")


@dataclass(slots=True, eq=False)
class Bee:
    """One node of a swarm. `nat_holes`: from whom a NAT before it lets packets in, until when; None without."""

    index: int
    core: ProtocolEngine
    addresses: dict[Family, Address]
    nat_holes: dict[Address, float] | None = None
    up: bool = True
    wake_at: float = float("inf")
    life: int = 0  # counts its starts; what was sent to an earlier life is lost

    @property
    def node_id(self) -> NodeId:
        """Return the node's id."""
        return self.core.node_id


@dataclass(slots=True)
class Swarm:
    """A simulated network. `loss`: share of packets lost. `on_event` hears what cores tell."""

    seed: int = 1
    loss: float = 0.0
    config: DhtConfig = field(default_factory=DhtConfig)
    on_event: Callable[["Swarm", Bee, Event], None] | None = None
    delays: Delays = field(init=False)
    bees: list[Bee] = field(default_factory=list, init=False)
    time: float = field(default=0.0, init=False)
    sent: int = field(default=0, init=False)  # packets
    sent_bytes: int = field(default=0, init=False)  # what they carried
    rng: Random = field(init=False)
    _heap: list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] = field(default_factory=list, init=False)
    _order: int = field(default=0, init=False)
    _places: dict[Address, Bee] = field(default_factory=dict, init=False)
    _groups: Mapping[int, int] = field(default_factory=dict, init=False)
    _trace: Any = field(init=False)

    def __post_init__(self) -> None:
        self.delays = Delays(self.seed)
        self.rng = Random(f"swarm {self.seed}")
        self._trace = blake2b(digest_size=16)

    @property
    def now(self) -> Now:
        """Return the time; all nodes have the same."""
        return now_of((EPOCH + self.time, self.time))

    @property
    def trace_hash(self) -> str:
        """Return the hash of everything sent so far, hex: two runs with equal hashes went alike."""
        return str(self._trace.copy().hexdigest())

    def running(self) -> list[Bee]:
        """Return the nodes that are up."""
        return [bee for bee in self.bees if bee.up]

    def add(self, count: int, *, families: str = "both", nat: bool = False, quiet: bool = False) -> list[Bee]:
        """Start more nodes, which know nobody yet. `families`: "4", "6" or "both". `quiet`: clients, in no table."""
        return [self._add(families, nat, quiet) for _ in range(count)]

    def join(self, bee: Bee, *others: Bee) -> None:
        """Tell a node where others are."""
        bee.core.join(self.now, [address for other in others for address in other.addresses.values()])
        self.kick(bee)

    def kill(self, *bees: Bee) -> None:
        """Take nodes away without a word, with what is on its way to them."""
        for bee in bees:
            bee.up = False

    def wake(self, bee: Bee) -> None:
        """Let a node that was gone go on with what it knew, as a laptop whose lid is opened."""
        bee.up = True
        bee.life += 1
        self.kick(bee)

    def restart(self, bee: Bee) -> None:
        """Let a node that was gone begin anew, with its identity and address, knowing nobody."""
        bee.core = self._core(bee.index, bee.addresses, bee.life + 1, quiet=not bee.core.takes_part)
        self.wake(bee)

    def cut(self, groups: Mapping[int, int]) -> None:
        """Part nodes of different groups from now on; who is not named is in group 0."""
        self._groups = groups

    def heal(self) -> None:
        """Make one network of all groups again."""
        self._groups = {}

    def joined(self, a: Bee, b: Bee) -> bool:
        """Tell whether no cut is between two nodes."""
        return not self._groups or self._groups.get(a.index, 0) == self._groups.get(b.index, 0)

    def later(self, delay_s: float, what: Callable[..., None], *arguments: object) -> None:
        """Call something after so many seconds of virtual time."""
        self._push(self.time + delay_s, what, arguments)

    def kick(self, bee: Bee) -> None:
        """Let a core act on what it was just told."""
        self._act(bee, bee.core.poll(self.now))

    def run(self, until: float) -> None:
        """Let time pass until this instant."""
        heap = self._heap
        with rarely_collected():
            while heap and heap[0][0] <= until:
                self.time, _, what, arguments = heappop(heap)
                what(*arguments)
        self.time = until

    def _add(self, families: str, nat: bool, quiet: bool) -> Bee:
        index = len(self.bees)
        addresses = {family: place(index, family) for family in FAMILIES[families]}
        bee = Bee(index, self._core(index, addresses, 0, quiet=quiet), addresses, {} if nat else None)
        self.bees.append(bee)
        self._places |= dict.fromkeys(addresses.values(), bee)
        self.later(0.0, self.kick, bee)
        return bee

    def _core(self, index: int, addresses: Mapping[Family, Address], life: int, *, quiet: bool) -> ProtocolEngine:
        identity = SwarmIdentity(Random(f"identity {self.seed} {index}").randbytes(32))
        listening = tuple(Endpoint(a.host, a.port, a.port) for a in addresses.values())
        rng = Random(f"core {self.seed} {index} {life}")
        core = ProtocolEngine(identity, NETWORK, self.config, rng, listening=listening, policy=AddressPolicy())
        if quiet:
            core.take_part(False)
        trust_everybody(core)
        return core

    def _push(self, at: float, what: Callable[..., None], arguments: tuple[Any, ...]) -> None:
        self._order += 1
        heappush(self._heap, (at, self._order, what, arguments))

    def _act(self, bee: Bee, packets: list[Datagram]) -> None:
        """Send what a core wants sent, hear what it tells, note when it wants to be called."""
        for data, target in packets:
            self._send(bee, data, target)
        if self.on_event:
            for event in bee.core.take_events():
                self.on_event(self, bee, event)
        due = bee.core.next_due
        if due < bee.wake_at:
            bee.wake_at = due = due if due > self.time else self.time
            self._push(due, self._wake, (bee, due))

    def _wake(self, bee: Bee, at: float) -> None:
        if at != bee.wake_at:
            return
        bee.wake_at = float("inf")
        if not bee.up:
            return
        due = bee.core.next_due
        if due <= self.time:
            self._act(bee, bee.core.poll(self.now))
        else:  # what was waited for has happened
            bee.wake_at = due
            self._push(due, self._wake, (bee, due))

    def _send(self, bee: Bee, data: bytes, target: Address) -> None:
        there, now = self._places.get(target), self.time
        self.sent += 1
        self.sent_bytes += len(data)
        self._trace.update(SENT.pack(now, bee.index, there.index if there else 0xFFFFFFFF, data[1]))
        if bee.nat_holes is not None:
            bee.nat_holes[target] = now + NAT_S
        if there is None or (self.loss and self.rng.random() < self.loss):
            return
        if self._groups and not self.joined(bee, there):
            return
        at = now + self.delays.one_way_s(bee.index, there.index, self.rng.random())
        self._push(at, self._deliver, (bee, there, there.life, data, bee.addresses[target.family]))

    def _deliver(self, sender: Bee, bee: Bee, life: int, data: bytes, source: Address) -> None:
        if not bee.up or bee.life != life or (self._groups and not self.joined(sender, bee)):
            return
        if bee.nat_holes is not None and bee.nat_holes.get(source, -1.0) < self.time:
            return
        self._act(bee, bee.core.receive(self.now, data, source))


def place(index: int, family: Family) -> Address:
    """Return the address of a numbered node: public, each in a /24 and a /32 of its own."""
    if family == 6:
        return Address(f"2a00:{index + 1:x}::1", PORT)
    return Address(f"{20 + (index >> 16)}.{index >> 8 & 255}.{index & 255}.1", PORT)
