"""The engine runs the protocol without I/O: packets and time in, packets, events and the next call's time out.

Pure: `now` and `rng` are arguments. Its driver hands each datagram to `receive`, calls `poll` when `next_due` is
reached and after any other call, and sends the packets that both return. No datagram makes it raise: `refused` counts
bad ones by reason. Read self_heartbeat, digest_exchange and gossip for news; requester and value_finder for lookups.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from random import Random

from dht.audit.evidence import evidence_points
from dht.clock import Now
from dht.config import DhtConfig
from dht.errors import BadSignature, RemoteError
from dht.identity.node_key import Identity, node_id_of
from dht.keys import NodeId
from dht.membership.bootstrap_retry import BootstrapRetry
from dht.membership.known_peer import VerifiedAddresses
from dht.membership.member_table import MemberTable
from dht.membership.partner_selection import PartnerSelection
from dht.membership.peer_clocks import PeerClocks
from dht.membership.reasons_apart import TwinWatch
from dht.membership.working_families import WorkingFamilies
from dht.protocol.events import Event, StrategyAlerts
from dht.protocol.family_probe import FamilyProbe
from dht.protocol.gossip import Gossip
from dht.protocol.heartbeat_intake import HeartbeatIntake
from dht.protocol.introductions import Introductions
from dht.protocol.message_answers import MessageAnswers
from dht.protocol.message_questions import MessageQuestions, Told
from dht.protocol.network_rules import BLOCKED, NetworkRules, PacketFilter, StrategyRules
from dht.protocol.requester import Datagram, Requester
from dht.protocol.self_heartbeat import SelfHeartbeat
from dht.protocol.value_finder import TableUpkeep, ValueFinder
from dht.rate_limit import RateLimiter
from dht.routing.responder import Responder
from dht.routing.routing_table import RoutingTable
from dht.wire.address_policy import AddressPolicy
from dht.wire.contact import Address, Contact, Endpoint, pack_host, unpack_host
from dht.wire.heartbeat import VerifiedHeartbeat
from dht.wire.packets import (
    HEADER,
    MAC_BYTES,
    AskedMessage,
    Body,
    Introduce,
    Packet,
    PacketKind,
    Part,
    Ping,
    Pong,
    Punch,
    Question,
    decode_body,
    kind_of,
)

ANSWERS = frozenset(kind for kind in PacketKind if kind.is_answer)
VERIFY_S = 5.0  # between two questions to a peer for the sake of somebody who wants to be relayed to it


class ProtocolEngine:
    """Runs the protocol for one node. `own` is what it says of itself, `finder` its lookups; both act at the next
    `poll`."""

    def __init__(
        self,
        identity: Identity,
        network: bytes,
        config: DhtConfig,
        rng: Random,
        *,
        listening: tuple[Endpoint, ...],
        policy: AddressPolicy,
        member: bool = True,
        families: WorkingFamilies | None = None,
    ) -> None:
        """`network`: the network's id. `listening`: one endpoint a family; :: or 0.0.0.0 where peers shall tell.
        `families`: those of this machine, by default the ones in which it listens."""
        self.families = families = families or WorkingFamilies(e.family for e in listening)
        self.node_id = identity.node_id
        self.refused: Counter[str] = Counter()  # what was refused, by reason
        self.rules = rules = NetworkRules(network, identity.public_key, policy)
        self.members = members = MemberTable(identity.node_id, own_member=member)
        self.routing = RoutingTable(identity.node_id)
        self.verified_addresses = VerifiedAddresses()
        self.clocks, self.twin = PeerClocks(), TwinWatch()
        self.own = SelfHeartbeat(identity, rules, config, listening, rng, families, member=member)
        self.identity, self._member, self._takes_part = identity, member, True
        self._partners = partners = PartnerSelection(members, families, rng)
        self._bootstrap = bootstrap = BootstrapRetry(families, rng)
        self._filter = PacketFilter(identity, rules, config, members)
        self._requester = asks = Requester(identity, rules, self.routing, partners, self.refused, rng)
        self.intake = intake = HeartbeatIntake(
            self.own, rules, members, partners, bootstrap, self.clocks, self.twin, self.refused
        )
        self.refused_heartbeats = intake.refused_heartbeats
        self.joined_on = members.admission.first_day
        self._tables = tables = TableUpkeep(
            identity.node_id, config.stored_records, config.refresh_s, rng, self.joined_on, evidence_points(network)
        )
        self._gossip = Gossip(self.own, members, partners, bootstrap, intake, asks, rng, tables.welcomed)
        self.questions = MessageQuestions(identity, rules, asks.send, rng)
        self.answers = MessageAnswers(identity, rules, asks.send)
        self._family_probe = FamilyProbe(families, members, bootstrap, asks, rng)
        self.introductions = Introductions(self.node_id, rules, members, asks, families)
        self.store = store = tables.store
        self._responder = Responder(self.routing, store, network, rng.randbytes(32))
        self.finder = ValueFinder(identity, rules, asks, self.routing, store, members, families, self._gossip.notice)
        self._alerts = StrategyAlerts(rules, members, intake.contact_at)
        self._verifications = RateLimiter(1 / VERIFY_S, 1.0)
        self._events = list[Event]()
        members.trust([] if member else [identity.node_id])  # whom a bare bootstrap node has reached are a network

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
        return self._drain(now)

    def poll(self, now: Now) -> list[Datagram]:
        """Do what is due, return what to send."""
        self.members.graces.awake(now)
        self._requester.overdue(now)
        self.questions.overdue(now)
        self._gossip.poll(now)
        self._tables.poll(now, self.finder)
        self.introductions.poll(now)
        return self._drain(now)

    @property
    def next_due(self) -> float:
        """Steady time of the next `poll`; -inf where something waits to be sent."""
        asks, gossip, refresh = self._requester.next_due, self._gossip.next_due, self._tables.next_due
        due = asks if asks < gossip else gossip
        due = due if due < refresh else refresh
        register, messages = self.introductions.next_due, self.questions.next_due
        due = due if due < register else register
        return due if due < messages else messages

    def take_events(self) -> list[Event]:
        """Return what happened since the last call."""
        if self.refused_heartbeats.has_news:  # asked for every packet
            self._events += self.refused_heartbeats.take_news()
        if not self._events:
            return []
        events, self._events = self._events, []
        return events

    @property
    def sent(self) -> Counter[str]:
        """Packets sent, by kind of body."""
        return self._requester.sent

    @property
    def takes_part(self) -> bool:
        """Whether peers hear of this node."""
        return self._takes_part

    # What the node calls; each takes effect at the next `poll`.

    def join(self, now: Now, addresses: Iterable[Address], *, is_trusted: bool = True) -> None:
        """Make first contact, at growing intervals and then each minute; if `is_trusted`, who answers is a root."""
        self._bootstrap.add(addresses, now, is_trusted=is_trusted)

    def remember(self, now: Now, heartbeats: Iterable[bytes]) -> None:
        """Take the authors of an earlier run's heartbeats (raw bytes) as members, live by recent ones; ask them."""
        self.intake.recall(now, heartbeats)

    def introduce(self, now: Now, peer: VerifiedHeartbeat, address: Address, rtt_s: float) -> None:
        """Take a peer as if it had answered from this address after so many seconds."""
        self._proved(now, peer.heartbeat.public_key, peer.contact, address, rtt_s)

    def set_strategy(self, rules: StrategyRules) -> None:
        """Go by this strategy from now on."""
        before = [each.opened for _, each in self.members.known()]
        self.intake.note_member()
        self.members.forget_unproven(rules.puzzle_bits, self.rules.puzzle_bits)
        self.rules.adopt(rules)
        self.own.follow(rules.version, rules.slot_bits)
        self.members.graces.set_graces(rules.graces)
        self.members.follow(rules.policy, rules.inviters)
        self.members.block(rules.blocked)
        self.members.put_out(rules.gone)
        for peer in rules.blocked:
            self.routing.forget(peer)
        self.intake.follow(before)

    def take_part(self, yes: bool) -> None:
        """Be a member that peers hear of, or a quiet client: it asks and is answered, and stands in nobody's tables."""
        self._takes_part = yes
        self.members.take_part(yes and self._member)
        self.own.be_quiet(not yes)

    def refresh_families(self, now: Now) -> bool:
        """Look which families work here; tell whether this machine has other ones, or other addresses, than before."""
        before = self.families.working
        moved = self._family_probe.refresh(now)
        if not moved and before == self.families.working:
            return False
        self.own.doubt(moved)
        self._gossip.hear_more(now)
        return True

    def suspect(self, now: Now, peer: NodeId) -> None:
        """Take a peer that refused a connection for dead until a newer heartbeat of it; it is asked at once."""
        self.members.suspect(peer, now.steady)
        self._gossip.ping(now, peer)

    def fails(self, peer: NodeId) -> bool:
        """Tell whether a known peer left the last question of this node without an answer."""
        return self._partners.failing_since(peer) < float("inf")

    def meet(self, now: Now, contact: Contact, done: Callable[[bool], object]) -> None:
        """Ask whoever is at a contact, by introduction where it has introducers; `done` is told whether it answered."""
        self._gossip.greet(now, contact, done)
        self.introductions.reach(now, contact)

    def hear(self, now: Now, heartbeats: Iterable[bytes]) -> None:
        """Take heartbeats that came in a message."""
        self._gossip.take(now, heartbeats, None)

    def leave(self, now: Now) -> None:
        """Say farewell to the near peers: this node stops; nothing is to be told or asked after that."""
        self._gossip.leave(now)

    def ask_in_packets(
        self, now: Now, peer: Contact, message: AskedMessage, done: Callable[[Told], None], silent: Callable[[], None]
    ) -> bytes | None:
        """Ask a small message and return its transaction; None where it has to go another way."""
        known, endpoint = self.members.find(peer.node_id), self._partners.endpoint(peer)
        if known is None or endpoint is None:
            return None
        if peer.introducers:
            self.introductions.reach(now, peer)
        key, usual_s = known.opened.heartbeat.public_key, self.routing.timeout_s(peer.node_id)
        return self.questions.ask(now, key, endpoint.udp, message, usual_s, done, silent)

    def packets_unheard(self, now: Now, peer: NodeId) -> None:
        """Note that a peer answered over TLS what it did not answer in packets."""
        known = self.members.find(peer)
        if known is not None:
            self.questions.unheard(now, known.opened.heartbeat.public_key)

    def verify_address(self, now: Now, peer: NodeId, address: Address) -> bool:
        """Tell whether a peer has answered at this host lately; if not, ask it, at most every five seconds."""
        if self.verified_addresses.has(peer, address, now.steady):
            return True
        if self._verifications.take(peer, now.steady):
            self._gossip.ping(now, peer)
        return False

    # Packets in. Each returns why it refused, or "".

    def _take(self, now: Now, data: bytes, source: Address) -> str:
        packet = self._filter.admit(now, data, source)
        if isinstance(packet, str):
            return packet
        if self.members.blocked and node_id_of(packet.public_key) in self.members.blocked:
            return self._heard_blocked(now, packet, source)
        if packet.has_mac and packet.kind is not PacketKind.PONG:
            self._events += self._alerts.compare(now, packet)
        return self._answered(now, packet) if packet.kind in ANSWERS else self._asked(now, packet, source)

    def _heard_blocked(self, now: Now, packet: Packet, source: Address) -> str:
        """Take from a blocked node's packet which strategy it has; an empty PONG shows it ours."""
        if packet.kind is PacketKind.PING:
            answer, key = Pong((pack_host(source.host), source.port), ()), self.identity.shared_key(packet.public_key)
            self._requester.answer(packet.transaction, answer, key, source, limit=len(packet.data))
        body, request = decode_body(packet), self._requester.requests.find(packet.transaction)
        if isinstance(body, Pong) and request and request.public_key in (None, packet.public_key):
            self._events += self._alerts.compare(now, packet, request.address, body.heartbeats)
        elif packet.has_mac:
            self._events += self._alerts.compare(now, packet)
        return BLOCKED

    def _asked(self, now: Now, packet: Packet, source: Address) -> str:
        body = decode_body(packet)
        if isinstance(body, Question):
            is_proven = self.verified_addresses.has(node_id_of(packet.public_key), source, now.steady)
            return self.answers.take(now, packet, body, source, is_proven=is_proven)
        room = len(packet.data) - HEADER.size - MAC_BYTES
        answer: Body | None
        if isinstance(body, Ping):
            # Without MAC anybody may have put that key there: its heartbeats are dated as if relayed.
            self._gossip.hear(now, body, packet.public_key if packet.has_mac else None)
            self._gossip.meet(now, source)
            news, suspects = self._gossip.answer(now, body, packet.public_key, room)
            answer = Pong((pack_host(source.host), source.port), news, suspects)
        elif isinstance(body, Introduce):
            answer = self.introductions.introduce(now, packet, body, source)
        elif isinstance(body, Punch):
            answer, dial = self.introductions.punched(now, packet, body, source)
            self._events += [dial] if dial else []
        else:
            answer = self._responder.answer(now, packet, body, source, room)
        key = self.identity.shared_key(packet.public_key)
        if answer and self._requester.answer(packet.transaction, answer, key, source, limit=len(packet.data)):
            return ""
        return "not worth an answer"

    def _answered(self, now: Now, packet: Packet) -> str:
        if packet.kind is PacketKind.PART:
            body = decode_body(packet)
            return self.questions.take(now, packet, body) if isinstance(body, Part) else "malformed"
        request = self._requester.requests.find(packet.transaction)
        if request is None or request.public_key not in (None, packet.public_key):
            return "answer that nobody asked for"
        if packet.kind is not kind_of(request.body).answer:
            return "answer of another kind"
        body = decode_body(packet)
        done = self._requester.requests.answered(packet.transaction)
        peer = node_id_of(packet.public_key)
        if isinstance(body, Pong):
            self._gossip.hear(now, body, packet.public_key)
            if self.own.seen_at(unpack_host(body.seen[0]), peer):
                self._gossip.hear_more(now)
            self._events += self._alerts.compare(now, packet, request.address, body.heartbeats)
        known = self.members.find(peer)
        entry = self.routing.find(peer) if known is None else None
        contact = known.opened.contact if known else request.proven(entry.contact if entry else None)
        rtt_s = now.steady - request.sent[packet.transaction]
        self._proved(now, packet.public_key, contact, request.address, rtt_s)
        done(now, packet, body)
        return ""

    def _proved(self, now: Now, public_key: bytes, contact: Contact | None, address: Address, rtt_s: float) -> None:
        """A peer has answered from where it was asked; `contact`: as far as it is proven."""
        peer = node_id_of(public_key)
        if contact and contact.introducers:
            self.introductions.answered(now, peer)
        if contact:
            self.routing.answered(public_key, contact, rtt_s, self.rules.policy.subnet(address.host))
        self._partners.answered(peer)
        self._requester.proved(address.host)
        self.families.answered(address.host, now.steady)
        self.verified_addresses.note(peer, address, now.steady)

    def _drain(self, now: Now) -> list[Datagram]:
        """Return what is to be sent; those behind NATs who are asked something are told where it comes from."""
        for contact in self._requester.take_nat_peers():
            self.introductions.reach(now, contact)
        return self._requester.drain()
