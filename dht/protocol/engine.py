"""The overlay's core without I/O: packets and time in, packets, events and the time of the next call out.

Pure: `now` and `rng` are arguments. Whoever drives it hands each datagram to `receive`, calls `poll` when `next_due` is
reached and after any other call, and sends what both return. Nothing that arrives makes it raise: what is wrong is
counted in `refused` by reason. Read herald, exchange and gossip for news; asker, walk and finder for lookups.
"""

import ipaddress
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType

from dht.clock import Now
from dht.config import DhtConfig
from dht.errors import BadMessage, BadSignature, RemoteError
from dht.identity.node_key import Identity, node_id_of
from dht.keys import Key, NodeId
from dht.membership.bootstrap_retry import BootstrapRetry
from dht.membership.partner_selection import PartnerSelection
from dht.membership.table import MemberTable
from dht.membership.verified_addresses import VerifiedAddresses
from dht.protocol.events import Event, MembersChanged, StrategyAhead
from dht.protocol.find_put_get import ValueFinder
from dht.protocol.gossip import Gossip, OwnState
from dht.protocol.requester import Datagram, Requester
from dht.protocol.self_heartbeat import SelfHeartbeat
from dht.rate_limit import RateLimiter
from dht.rng import Rng
from dht.routing.responder import Responder
from dht.routing.routing_table import RoutingTable
from dht.wire.address_policy import AddressPolicy
from dht.wire.contact import Address, Contact, Endpoint, Family
from dht.wire.heartbeat import GRACES, Graces, Load, VerifiedHeartbeat
from dht.wire.packets import (
    HEADER,
    MAC_BYTES,
    Body,
    Packet,
    PacketHeader,
    PacketKind,
    Ping,
    Pong,
    decode_body,
    decode_packet,
    is_from,
    kind_of,
)
from dht.wire.value_record import ValueRecord, ValueStore, sign_record

BLOCKED = "blocked by the strategy"
ALERT_S = 5.0  # between two events that say that the same peer's strategy is ahead

NOBODY: Mapping[bytes, float] = MappingProxyType({})
RESTORE_S = 900.0  # to twice that: until a small record that lies here is stored again where it belongs
RESTORE_EACH_S = 5.0  # between two of them: a full shelf costs some 15 packets a second at most
PING, ANSWERS = PacketKind.PING, frozenset(kind for kind in PacketKind if kind.is_answer)
MEET_S = 5.0  # between two questions to a peer for the sake of somebody who wants to be relayed to it


class ProtocolEngine:
    """One node of the overlay."""

    def __init__(
        self,
        identity: Identity,
        network: bytes,
        config: DhtConfig,
        rng: Rng,
        *,
        listening: tuple[Endpoint, ...],
        reach: AddressPolicy,
        member: bool = True,
        quiet: bool = False,
    ) -> None:
        """`network`: the network's id. `listening`: one endpoint a family; :: or 0.0.0.0 where peers shall tell.
        `quiet`: take no part until `take_part` says so."""
        families = frozenset(e.family for e in listening)
        self.node_id = identity.node_id
        self.refused: Counter[str] = Counter()  # what was refused, by reason
        self.members = MemberTable(identity.node_id, own_member=member and not quiet)
        self.routing = RoutingTable(identity.node_id)
        self.met = VerifiedAddresses()
        self._identity = identity
        self._network = network
        self._config = config
        self._rng = rng
        self._member, self._takes_part = member, not quiet
        self._herald = SelfHeartbeat(identity, network, config, reach, listening, rng, member=member, quiet=quiet)
        self._partners = PartnerSelection(self.members, families, rng)
        stamp = PacketHeader(network[:4], identity.public_key, 0, bytes(8))
        self._asker = Requester(identity, stamp, self.routing, self._partners, self.refused, rng)
        self._gossip = Gossip(
            OwnState(identity.public_key, network, config, self._herald),
            self.members,
            self._partners,
            BootstrapRetry(families, rng),
            self._asker,
            rng,
            self._welcomed,
        )
        shelf = ValueStore(identity.node_id, config.stored_records, lambda: RESTORE_S * rng.uniform(1.0, 2.0))
        self._responder = Responder(self.routing, shelf, network, rng.randbytes(32))
        self._finder = ValueFinder(
            self.node_id,
            network,
            self._asker,
            self.routing,
            shelf,
            families,
            self.refused,
            self._signed,
            self._gossip.notice,
        )
        self._finder.reach = self._gossip.reach = self._asker.reach = reach
        self._shelf = shelf
        self._addresses = RateLimiter(config.address_packets_s, 2 * config.address_packets_s)
        self._peers = RateLimiter(config.peer_packets_s, 2 * config.peer_packets_s)
        self._alerts = RateLimiter(1 / ALERT_S, 1.0)
        self._meetings = RateLimiter(1 / MEET_S, 1.0)
        self._events: list[Event] = []
        self._told_epoch = 0
        self._refresh_at = self._restore_at = float("-inf")

    def receive(self, now: Now, data: bytes, source: Address) -> list[Datagram]:
        """Take a datagram, return what to send."""
        try:
            reason = self._take(now, data, source)
        except BadSignature:
            reason = "signature"
        except RemoteError:
            reason = "malformed"
        if reason:
            self.refused[reason] += 1
        return self._asker.drain()

    def poll(self, now: Now) -> list[Datagram]:
        """Do what is due, return what to send."""
        self.members.awake(now)
        self._asker.overdue(now)
        self._gossip.poll(now)
        if now.steady >= self._refresh_at:
            self._refresh(now)
        if now.steady >= self._restore_at:
            self._restore_at = now.steady + RESTORE_EACH_S
            self._finder.restore(now)
        return self._asker.drain()

    @property
    def next_due(self) -> float:
        """Steady time of the next `poll`; -inf where something waits to be sent."""
        asker, gossip, refresh = self._asker.next_due, self._gossip.next_due, self._refresh_at
        due = asker if asker < gossip else gossip
        return due if due < refresh else refresh

    def take_events(self) -> list[Event]:
        """What happened since the last call."""
        if self.members.epoch != self._told_epoch:
            self._told_epoch = self.members.epoch
            self._events.append(MembersChanged(self._told_epoch))
        if not self._events:
            return []
        events, self._events = self._events, []
        return events

    @property
    def operator(self) -> str:
        """Who runs this node, as it declares."""
        return self._config.operator

    @property
    def public_key(self) -> bytes:
        """Of this node's identity."""
        return self._identity.public_key

    @property
    def sent(self) -> Counter[str]:
        """Packets sent, by kind of body."""
        return self._asker.sent

    @property
    def hops(self) -> Counter[int]:
        """Lookups that ended, by how many questions in a row led to the nearest contact."""
        return self._finder.hops

    @property
    def own_heartbeat(self) -> bytes:
        """The newest signed heartbeat of this node; empty while no address is known."""
        return self._herald.raw

    @property
    def own_endpoints(self) -> tuple[Endpoint, ...]:
        """Where peers reach this node, as far as it knows."""
        return self._herald.endpoints()

    @property
    def takes_part(self) -> bool:
        """Whether peers hear of this node."""
        return self._takes_part

    @property
    def own_addresses(self) -> tuple[Endpoint, ...]:
        """The same with those that are not announced."""
        return self._herald.addresses()

    def learns(self, family: Family) -> bool:
        """Whether this node has its address of a family from peers, and not from its operator."""
        return self._herald.learns(family)

    # What the node calls; each takes effect at the next `poll`.

    def join(self, now: Now, addresses: Iterable[Address]) -> None:
        """Make first contact: at once, then at growing intervals for as long as nobody is live, then each minute."""
        self._gossip.doors.add(addresses, now)

    def remember(self, now: Now, heartbeats: Iterable[bytes], since: Mapping[bytes, float] = NOBODY) -> None:
        """Take heartbeats of an earlier run as members, live only if it was just now; they are asked soon. `since`:
        when the author of each was first heard of, by the wall clock."""
        for raw, peer in self._gossip.recall(now, heartbeats):
            if raw in since and self.members.find(peer) is not None:
                self.members.ages.heard(peer, min(since[raw], now.wall))

    def introduce(self, now: Now, peer: VerifiedHeartbeat, address: Address, rtt_s: float) -> None:
        """Take a peer as if it had answered from this address after so long."""
        self._met(now, peer.heartbeat.public_key, peer.contact, address, rtt_s)

    def announce(
        self, *, ready: bytes, leased: bytes, due: int, load: Load | None = None, slot_bits: int | None = None
    ) -> None:
        """Say this in the next heartbeats; `ready` and `leased` are encoded sets of 2**slot_bits slots."""
        words = self._herald.words
        bits = words.slot_bits if slot_bits is None else slot_bits
        said = words._replace(ready=ready, leased=leased, due=due, load=load or words.load, slot_bits=bits)
        self._herald.say(said)

    def refuse(self, hosts: bytes) -> None:
        """Say in heartbeats which hosts this node will not fetch: hashes, 4 bytes each."""
        self._herald.say(self._herald.words._replace(refuses=hosts))

    def set_strategy(
        self,
        version: int,
        digest: bytes,
        slot_bits: int,
        reach: AddressPolicy,
        blocked: frozenset[NodeId] = frozenset(),
        graces: Graces = GRACES,
        puzzle_bits: int = 0,
    ) -> None:
        """The strategy in force, in every packet from now on; `reach` follows from its declared prefixes. Whoever is
        `blocked` is not listened to and no member; nor is who has less than `puzzle_bits` of work behind it, or is
        silent for longer than the grace."""
        digest = digest[:8].ljust(8, b"\0")
        self._asker.stamp = self._asker.stamp._replace(strategy_version=version, strategy_digest=digest)
        self._herald.say(self._herald.words._replace(strategy_version=version, slot_bits=slot_bits))
        self._gossip.reach = self._finder.reach = self._asker.reach = reach
        self._herald.graces = graces
        self.members.judge_by(graces)
        self.members.block(blocked)
        for peer in blocked:
            self.routing.forget(peer)
        if puzzle_bits > self._gossip.puzzle_bits:
            self.members.forget_idle(puzzle_bits)
        self._gossip.puzzle_bits = puzzle_bits

    def solved(self, nonce: int) -> None:
        """The puzzle of this node's identity; said in the next heartbeats."""
        self._herald.prove(nonce)

    def take_part(self, yes: bool) -> None:
        """Be a member that peers hear of, or a quiet client: it asks and is answered, and stands in nobody's tables."""
        self._takes_part = yes
        self.members.take_part(yes and self._member)
        self._herald.be_quiet(not yes)

    def leave_out(self, families: frozenset[Family]) -> None:
        """Do not announce this node's addresses of these families."""
        self._herald.leave_out(families)

    def suspect(self, now: Now, peer: NodeId) -> None:
        """The peer refused a connection: not live until a newer heartbeat of it; it is asked at once."""
        self.members.suspect(peer, now.steady)
        self._gossip.ping(now, peer)

    def leave(self, now: Now) -> None:
        """Say farewell to the near peers: this node stops; nothing is to be told or asked after that."""
        self._gossip.leave(now)

    def has_met(self, now: Now, peer: NodeId, address: Address) -> bool:
        """Whether the peer has answered at this host; if not it is asked now, now and then."""
        if self.met.has(peer, address, now.steady):
            return True
        if self._meetings.take(peer, now.steady):
            self._gossip.ping(now, peer)
        return False

    def start_lookup(self, now: Now, target: bytes, done: Callable[[Now, list[Contact]], None]) -> None:
        """Find the 16 nodes nearest to a point; `done` gets them nearest first, maybe none."""
        self._finder.find(now, target, done)

    def put(self, now: Now, record: bytes, done: Callable[[Now, int], None]) -> None:
        """Store a small record; `done` gets how many nodes have it. Raises RemoteError where it is none."""
        self._finder.put(now, record, done)

    def write(self, now: Now, key: Key, value: bytes, life_s: float, done: Callable[[Now, int], None]) -> None:
        """Sign a small record of this node and store it; `done` gets how many nodes have it."""
        expires_at = now.wall + life_s
        record = sign_record(
            self._identity, self._network, key=key, sequence=int(now.wall), expires_at=expires_at, value=value
        )
        self._finder.put(now, record, done)

    def get(self, now: Now, key: Key, done: Callable[[Now, list[ValueRecord]], None]) -> None:
        """Read what lies at a point: the newest valid record of each author."""
        self._finder.get(now, key, done)

    # Packets in. Each returns why it refused, or "".

    def _take(self, now: Now, data: bytes, source: Address) -> str:
        if not self._addresses.take(_block(source.host), now.steady):
            return "address over its rate"
        packet = decode_packet(data)
        if packet.network != self._asker.stamp.network:
            return "another network"
        if packet.public_key == self._identity.public_key:
            return "own packet"
        if self.members.blocked and node_id_of(packet.public_key) in self.members.blocked:
            return BLOCKED
        key = self._identity.shared_key(packet.public_key)
        if packet.has_mac:
            if not is_from(packet, key):
                return "wrong MAC"
            if not self._peers.take(packet.public_key, now.steady):
                return "peer over its rate"
            self._compare_strategy(now, packet)
        elif packet.kind is not PING:
            return "no MAC"
        return self._answered(now, packet) if packet.kind in ANSWERS else self._asked(now, packet, source, key)

    def _asked(self, now: Now, packet: Packet, source: Address, key: bytes) -> str:
        body = decode_body(packet)
        room = len(packet.data) - HEADER.size - MAC_BYTES
        answer: Body | None
        if isinstance(body, Ping):
            # Without MAC anybody may have put that key there: its heartbeats are dated as if relayed.
            self._gossip.hear(now, body, packet.public_key if packet.has_mac else None)
            news, suspects = self._gossip.answer(now, body, packet.public_key, room)
            answer = Pong((_packed(source.host), source.port), news, suspects)
        else:
            answer = self._responder.answer(now, packet, body, source, room)
        if answer and self._asker.answer(packet.transaction, answer, key, source, limit=len(packet.data)):
            return ""
        return "not worth an answer"

    def _answered(self, now: Now, packet: Packet) -> str:
        request = self._asker.requests.find(packet.transaction)
        if request is None or request.public_key not in (None, packet.public_key):
            return "answer that nobody asked for"
        if packet.kind is not kind_of(request.body).answer:
            return "answer of another kind"
        body = decode_body(packet)
        done = self._asker.requests.answered(packet.transaction)
        peer = node_id_of(packet.public_key)
        if isinstance(body, Pong):
            self._gossip.hear(now, body, packet.public_key)
            if self._herald.seen_at(_unpacked(body.seen[0]), peer):
                self._gossip.hear_more(now)
        known, entry = self.members.find(peer), self.routing.find(peer)
        contact = known.opened.contact if known else request.proven(entry.contact if entry else None)
        rtt_s = now.steady - request.sent[packet.transaction]
        self._met(now, packet.public_key, contact, request.address, rtt_s)
        done(now, packet, body)
        return ""

    def _met(self, now: Now, public_key: bytes, contact: Contact | None, address: Address, rtt_s: float) -> None:
        """A peer has answered from where it was asked; `contact`: as far as it is proven."""
        peer = node_id_of(public_key)
        if contact:
            self.routing.answered(public_key, contact, rtt_s, self._asker.reach.block(address.host))
        self._partners.answered(peer)
        self._asker.proved(address.host)
        self.met.note(peer, address, now.steady)

    def _signed(self, peer: NodeId) -> Contact | None:
        known = self.members.find(peer)
        return known.opened.contact if known else None

    def _compare_strategy(self, now: Now, packet: Packet) -> None:
        ours = self._asker.stamp
        other = (packet.strategy_version, packet.strategy_digest) != (ours.strategy_version, ours.strategy_digest)
        differs = packet.strategy_version >= ours.strategy_version and other
        if differs and self._alerts.take(packet.public_key, now.steady):
            self._events.append(StrategyAhead(node_id_of(packet.public_key), packet.strategy_version))

    def _refresh(self, now: Now) -> None:
        """Look up our own neighbourhood or a random point, so that far buckets stay filled."""
        self._refresh_at = now.steady + self._config.refresh_s * self._rng.uniform(0.75, 1.25)
        self._shelf.expire(now)
        target = self.node_id if self._rng.random() < 0.5 else self._rng.randbytes(len(self.node_id))
        self.start_lookup(now, target, lambda _now, _contacts: None)

    def _welcomed(self, now: Now) -> None:
        """First contact made: look around."""
        self._refresh_at = min(self._refresh_at, now.steady + 1.0)


@lru_cache(maxsize=4096)
def _packed(host: str) -> bytes:
    return ipaddress.ip_address(host).packed


@lru_cache(maxsize=4096)
def _block(host: str) -> bytes:
    """Whose address it is, for the rate limit: an IPv6 address stands for its /64, which one subscriber has whole."""
    packed = _packed(host)
    return packed[:8] if len(packed) == 16 else packed


@lru_cache(maxsize=4096)
def _unpacked(host: bytes) -> str:
    """Raises BadMessage where it is no address."""
    try:
        return str(ipaddress.ip_address(host))
    except ValueError as error:
        raise BadMessage("", f"PONG with an address of {len(host)} bytes") from error
