"""A small network of bare cores for attacks: packets over a fixed delay, virtual time, everything that flies kept.

Every node has a /24 of its own, as strangers on the Internet mostly do. An attacker is a callable at an address: it
sees each packet sent there and returns what it sends; it also has an identity, so that its MACs are right.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from ipaddress import ip_address
from random import Random

import msgspec

from dht.clock import Now
from dht.config import DhtConfig
from dht.identity.node_key import Identity
from dht.protocol.engine import ProtocolEngine
from dht.wire.address_policy import AddressPolicy
from dht.wire.contact import Address, Endpoint
from dht.wire.heartbeat import Heartbeat, pack_endpoint, sign_heartbeat
from dht.wire.packets import (
    PACKET_LIMIT,
    Body,
    Found,
    Got,
    PackedContact,
    Packet,
    PacketHeader,
    PacketKind,
    Ping,
    Pong,
    Stored,
    decode_packet,
    encode_packet,
)
from node.extras.simulation.everybody import trust_everybody

NETWORK = b"a network under attack.."[:20]
PORT = 8091
DELAY_S = 0.02
NAT_S = 30.0  # after which a NAT forgets where its host sent something
WALL = 1_700_000_000.0

Attack = Callable[[Now, Packet, Address], list[tuple[bytes, Address]]]


@dataclass(frozen=True)
class Flight:
    """One packet on its way."""

    at: float
    data: bytes
    source: Address
    target: Address


def identity(n: int) -> Identity:
    return Identity(n.to_bytes(32, "big"))


def host(n: int) -> str:
    return f"11.{n // 250}.{n % 250}.1"


@dataclass
class Attacker:
    """Writes packets under valid MACs, from its own address or a forged one."""

    identity: Identity
    address: Address
    version: int = 0

    def packet(self, to: bytes, body: Body, *, transaction: bytes = b"attacker", size: int = PACKET_LIMIT) -> bytes:
        """`to`: the recipient's public key."""
        stamp = PacketHeader(NETWORK[:4], self.identity.public_key, self.version, bytes(8))
        return encode_packet(stamp, transaction, body, self.identity.shared_key(to), size=size)

    def heartbeat(self, now: Now, **fields: object) -> bytes:
        """A valid heartbeat of its own, with whatever else it says."""
        place = pack_endpoint(Endpoint(self.address.host, self.address.port, self.address.port))
        usual = Heartbeat(self.identity.public_key, int(now.wall), now.wall, now.wall + 40_000, (place,))
        return sign_heartbeat(self.identity, msgspec.structs.replace(usual, **fields), NETWORK)

    def obey(
        self,
        now: Now,
        packet: Packet,
        source: Address,
        contacts: tuple[PackedContact, ...],
        records: tuple[bytes, ...] = (),
    ) -> list[tuple[bytes, Address]]:
        """Answer as a good node would, so as to be let into tables; FIND and GET with what the attack is about."""
        answer: Body
        match packet.kind:
            case PacketKind.PING:
                answer = Pong((ip_address(source.host).packed, source.port), (self.heartbeat(now),))
            case PacketKind.FIND:
                answer = Found(contacts, b"12345678")
            case PacketKind.GET:
                answer = Got(records, contacts, b"12345678")
            case PacketKind.PUT:
                answer = Stored(True)
            case _:
                return []
        return [(self.packet(packet.public_key, answer, transaction=packet.transaction, size=0), source)]

    @property
    def packed(self) -> PackedContact:
        place = pack_endpoint(Endpoint(self.address.host, self.address.port, self.address.port))
        return PackedContact(self.identity.public_key, (place,))


@dataclass
class Town:
    """`nodes` by address; `flights`: every packet delivered or lost since the start."""

    seed: int = 1
    policy: AddressPolicy = field(default_factory=AddressPolicy)
    nodes: dict[Address, ProtocolEngine] = field(default_factory=dict)
    attackers: dict[Address, Attack] = field(default_factory=dict)
    flights: list[Flight] = field(default_factory=list)
    keys: dict[bytes, bytes] = field(default_factory=dict)  # public key by node id
    wrong: dict[Address, float] = field(default_factory=dict)  # seconds by which a node's wall clock is ahead
    steady: float = 100.0
    behind_nat: set[str] = field(default_factory=set)  # hosts whose NAT lets in only what comes from where they sent
    _sent: dict[tuple[Address, Address], float] = field(default_factory=dict)  # by hosts behind NATs
    _queue: list[tuple[float, int, Flight]] = field(default_factory=list)

    @property
    def now(self) -> Now:
        return Now(WALL + self.steady, self.steady)

    def clock(self, address: Address) -> Now:
        """The time as a node sees it."""
        return Now(WALL + self.steady + self.wrong.get(address, 0.0), self.steady)

    def add(self, n: int, *, join: bool = True, config: DhtConfig | None = None, at: str = "") -> ProtocolEngine:
        """A node with identity n; it joins through the first one."""
        address = Address(at or host(n), PORT)
        core = ProtocolEngine(
            identity(n),
            NETWORK,
            config or DhtConfig(),
            Random(self.seed * 1000 + n),
            listening=(Endpoint(address.host, PORT, PORT),),
            policy=self.policy,
        )
        trust_everybody(core)
        if join and self.nodes:
            core.join(self.now, [next(iter(self.nodes))])
        self.nodes[address] = core
        self.keys[core.node_id] = identity(n).public_key
        return core

    def throw(self, data: bytes, source: Address, target: Address) -> None:
        """Put a packet on its way."""
        flight = Flight(self.steady, data, source, target)
        if source.host in self.behind_nat:
            self._sent[source, target] = self.steady
        heappush(self._queue, (self.steady + DELAY_S, len(self.flights), flight))
        self.flights.append(flight)

    def run(self, seconds: float) -> None:
        """Let everything happen that is due within so many seconds."""
        end = self.steady + seconds
        while True:
            due, address = min((core.next_due, address) for address, core in self.nodes.items())
            flight_at = self._queue[0][0] if self._queue else float("inf")
            at = max(self.steady, min(due, flight_at))
            if at > end:
                break
            self.steady = at
            if flight_at <= due:
                self._land(heappop(self._queue)[2])
            else:
                self._out(self.nodes[address].poll(self.clock(address)), address)
        self.steady = end

    def settle(self, nodes: int, seconds: float = 40.0) -> list[ProtocolEngine]:
        """So many nodes that know each other."""
        cores = []
        for n in range(1, nodes + 1):
            cores.append(self.add(n))
            self.run(0.2)
        self.run(seconds)
        return cores

    def hire(
        self, attacker: Attacker, contacts: tuple[PackedContact, ...] = (), records: tuple[bytes, ...] = ()
    ) -> None:
        """Let an attacker in: it greets every node, answers like a member, and FIND and GET with these."""
        self.attackers[attacker.address] = lambda now, packet, source: attacker.obey(
            now, packet, source, contacts, records
        )
        for address, node in list(self.nodes.items()):
            hello = Ping(0, (1 << 32) - 1, b"", (attacker.heartbeat(self.now),))
            self.throw(attacker.packet(self.keys[node.node_id], hello), attacker.address, address)

    def between(self, source: Address, target: Address) -> Iterator[Flight]:
        return (f for f in self.flights if (f.source, f.target) == (source, target))

    def _land(self, flight: Flight) -> None:
        sent_at = self._sent.get((flight.target, flight.source), -NAT_S)
        if flight.target.host in self.behind_nat and self.steady - sent_at >= NAT_S:
            return
        node, attack = self.nodes.get(flight.target), self.attackers.get(flight.target)
        if node:
            self._out(node.receive(self.clock(flight.target), flight.data, flight.source), flight.target)
        elif attack:
            self._out(attack(self.now, decode_packet(flight.data), flight.source), flight.target)

    def _out(self, packets: list[tuple[bytes, Address]], source: Address) -> None:
        for data, target in packets:
            self.throw(data, source, target)


def address_of(core: ProtocolEngine) -> Address:
    return core.own.endpoints()[0].udp
