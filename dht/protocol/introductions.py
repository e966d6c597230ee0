"""Nodes behind NATs are reached by UDP hole punching: an introducer tells them who wants to reach them.

Pure: `now` is an argument. A NAT lets a packet in only where its host has sent one out. So a node behind one registers
with a few introducers, members that anybody reaches, and repeats that before its NAT forgets them. An asker sends the
node its packet all the same, which opens the asker's own NAT, and asks an introducer. The introducer reports to the
node the address from which the asker's packets come. The node sends a packet there, which opens its NAT. Then the
asker's repeated packet gets through. Source: Ford, Srisuresh, Kegel 2005, Peer-to-Peer Communication Across Network
Address Translators. An introducer sends one packet for each that comes, to nodes that asked for it, and so does the
node.
"""

from dht.clock import Now
from dht.errors import BadMessage
from dht.identity.node_key import node_id_of
from dht.keys import NodeId
from dht.membership.known_peer import KnownPeer
from dht.membership.member_table import MemberTable
from dht.membership.working_families import WorkingFamilies
from dht.protocol.events import DialWanted
from dht.protocol.network_rules import NetworkRules
from dht.protocol.requester import Requester
from dht.rate_limit import RateLimiter, remember
from dht.wire.contact import Address, Contact, Endpoint, pack_host, unpack_host
from dht.wire.packets import Find, Introduce, Introduced, Packet, Punch, Punched

REGISTER_S = 12.0  # many NATs forget a UDP mapping after 30 s: two packets may be lost
WARM_S = 25.0  # after a packet from a peer its NAT still lets ours in
GUESTS = 512  # nodes that one introducer serves
ONE_S, ONE_BURST = 2.0, 16.0  # introductions a second for one asker
ALL_S, ALL_BURST = 50.0, 200.0  # and for all
NEVER = float("inf")


class Introductions:
    """Makes, passes on and follows the introductions of one node. `names`: the members that introduce this node."""

    def __init__(
        self,
        node_id: NodeId,
        rules: NetworkRules,
        members: MemberTable,
        requester: Requester,
        families: WorkingFamilies,
    ) -> None:
        self._node_id, self._rules, self._members = node_id, rules, members
        self._requester, self._families = requester, families
        self.names: tuple[NodeId, ...] = ()
        self.next_due = NEVER
        self._guests: dict[NodeId, tuple[bytes, Address, float]] = {}  # key, where its packets come from, since when
        self._heard: dict[NodeId, float] = {}  # peers behind NATs, and when (steady) one of them last answered
        self._one, self._all = RateLimiter(ONE_S, ONE_BURST), RateLimiter(ALL_S, ALL_BURST, keys=1)
        self._turn = 0

    # For this node, behind a NAT

    def register_with(self, names: tuple[NodeId, ...]) -> None:
        """Be introduced by these members from now on; by nobody where there are none."""
        self.names = names
        self.next_due = float("-inf") if names else NEVER

    def poll(self, now: Now) -> None:
        """Register anew where it is due."""
        if now.steady < self.next_due:
            return
        self.next_due = now.steady + REGISTER_S
        for name in self.names:
            if known := self._members.find(name):
                self._ask(now, known, Introduce(self._node_id))

    def punched(self, now: Now, packet: Packet, body: Punch, source: Address) -> tuple[Punched, DialWanted | None]:
        """Send a packet to whom an introducer names, and return what to dial, if anything; raises BadMessage for an
        address that cannot be one."""
        asker, address = body.public_key or packet.public_key, source
        if body.public_key:
            address = Address(unpack_host(body.seen[0]), body.seen[1])
        try:
            endpoint = Endpoint(address.host, address.port, body.tcp_port or address.port)
        except ValueError as error:
            raise BadMessage("", f"PUNCH towards no address: {error}") from None
        is_fit = node_id_of(packet.public_key) in self.names and self._rules.policy.allows(address.host)
        if not is_fit or not self._all.take("", now.steady):
            return Punched(False), None
        if body.public_key:
            self._requester.ask_unlisted(now, Find(self._node_id), asker, address)
        wanted = DialWanted(node_id_of(asker), endpoint, any_port=not body.public_key)
        return Punched(True), wanted if body.tcp_port else None

    # For whoever wants to reach such a node

    def answered(self, now: Now, peer: NodeId) -> None:
        """Note that a peer behind a NAT answered: the way to it is open."""
        remember(self._heard, peer, now.steady, GUESTS)

    def reach(self, now: Now, contact: Contact, tcp_port: int = 0) -> bool:
        """Have a peer behind a NAT send something to this node, unless it did lately; False where nobody can tell it.

        `tcp_port`: from which this node dials the peer, 0 where datagrams will do."""
        if not tcp_port and now.steady - self._heard.get(contact.node_id, -WARM_S) < WARM_S:
            return True
        if self._node_id in contact.introducers and (guest := self._guest(now, contact.node_id)):
            return self._tell(now, guest, Punch(b"", (b"", 0), tcp_port))
        able = [known for name in contact.introducers if (known := self._members.find(name)) and self._serves(known)]
        if not able:
            return False
        self._turn += 1
        self._ask(now, able[self._turn % len(able)], Introduce(contact.node_id, tcp_port))
        return True

    # For others

    def introduces(self, now: Now, peer: NodeId) -> bool:
        """Tell whether a peer behind a NAT is registered with this node."""
        return self._guest(now, peer) is not None

    def introduce(self, now: Now, packet: Packet, body: Introduce, source: Address) -> Introduced:
        """Answer an introduction request: pass it on to its target, or register the asker where the target is the asker
        itself.

        `packet`: the request, by whose key the asker is known. `source`: the address from which it came. The answer
        reports whether this was done: not for a target that is unregistered or of another address family, nor above the
        rate limits."""
        asker = node_id_of(packet.public_key)
        if not self._one.take(asker, now.steady) or not self._all.take("", now.steady):
            return Introduced(False)
        if body.target == asker:
            remember(self._guests, asker, (packet.public_key, source, now.steady), GUESTS)
            return Introduced(True)
        guest = self._guest(now, NodeId(body.target))
        if guest is None or guest[1].family != source.family:
            return Introduced(False)
        seen = pack_host(source.host), source.port
        return Introduced(self._tell(now, guest, Punch(packet.public_key, seen, body.tcp_port)))

    def _guest(self, now: Now, peer: NodeId) -> tuple[bytes, Address, float] | None:
        guest = self._guests.get(peer)
        return guest if guest is not None and now.steady - guest[2] <= 3 * REGISTER_S else None

    def _tell(self, now: Now, guest: tuple[bytes, Address, float], body: Punch) -> bool:
        key, address, _ = guest
        self._requester.ask_unlisted(now, body, key, address)
        return True

    def _serves(self, known: KnownPeer) -> bool:
        contact = known.opened.contact
        return not contact.introducers and contact.shares(self._families.towards_peers)

    def _ask(self, now: Now, known: KnownPeer, body: Introduce) -> None:
        opened = known.opened
        self._requester.ask(now, body, opened.heartbeat.public_key, opened.contact, lambda *_: None)
