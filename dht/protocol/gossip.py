"""Gossip spreads heartbeats: it decides whom to tell, when, and what to make of those that come.

Pure: `now` and `rng` are arguments. The node exchanges news with a peer every few seconds, and earlier when there is
news, so that it reaches all within seconds. A change of its own goes at once to all peers, or to some. A live peer that
does not answer is asked again at once, then suspected (failure_detector.py).
"""

from collections.abc import Callable, Iterable
from functools import partial
from random import Random

from dht.admission.neighbourhood import SMALL_NETWORK
from dht.clock import Now
from dht.identity.node_key import node_id_of
from dht.keys import NodeId
from dht.membership.bootstrap_retry import BootstrapRetry
from dht.membership.failure_detector import PREFIX_BYTES, FailureDetector
from dht.membership.known_peer import News
from dht.membership.member_table import MemberTable
from dht.membership.partner_selection import PartnerSelection
from dht.protocol.digest_exchange import FEW_NEW, Rumours, make_answer, make_ping
from dht.protocol.heartbeat_intake import HeartbeatIntake
from dht.protocol.requester import Requester
from dht.protocol.self_heartbeat import SelfHeartbeat
from dht.rate_limit import RateLimiter
from dht.wire.contact import Address, Contact
from dht.wire.packets import Body, Packet, Ping, Pong

HEARTBEATS_LIMIT = 16  # of one packet; 1232 bytes hold six
BOOST_RATE, BOOST_BURST = 0.5, 6.0  # extra exchanges a second, and at once, when there is news
BOOST_S = (0.02, 0.2)  # until such an exchange: what else comes meanwhile goes with it
FAR_BOOST_RATE = 0.1  # the same for news of a far peer
CATCH_UP_RATE, CATCH_UP_BURST = 5.0, 40.0  # exchanges a second, and at once, of a node that knows few of many
BEHIND_S = 5.0  # after the last packet full of new peers, such a node asks for all parts of the network
ALARM_RATE, ALARM_BURST = 0.2, 3.0  # suspicions told at once to FANOUT near peers; the others go with the exchanges
OBJECT_S = 5.0  # between two heartbeats because somebody suspects us
TRIES, LAST_TRIES = 3, 5  # packets of two questions until a live peer is suspected: at 10 % loss, 1 in 40,000 is wrong
PATIENT_S = 0.4  # least timeout of the second: a machine that is busy for a second is not dead
LEAVE_LIMIT = 64  # near peers that hear from us that we stop
GAP_S = 2.0  # between two questions to near contacts that lookups find and gossip does not know
FANOUT = 4  # peers that hear a change of ours at once; they tell the others
HAMLET = 16  # up to here, all hear it at once
CROWD = 36  # live near peers at which exchanges come at their fastest; a neighbourhood of a large network has as many
GREET_S = 0.4  # between exchanges while new near peers wait to be met: only who was met can be seen to die
ALONE_S = 0.5  # between exchanges while nobody is live: somebody remembered may be
NEW = News.NEW  # looked up for every packet


class Gossip:
    """Spreads and learns heartbeats for one node."""

    def __init__(
        self,
        own: SelfHeartbeat,
        members: MemberTable,
        partners: PartnerSelection,
        bootstrap: BootstrapRetry,
        intake: HeartbeatIntake,
        requester: Requester,
        rng: Random,
        welcomed: Callable[[Now], None],
    ) -> None:
        """`welcomed` is called when a bootstrap address answered."""
        self._own = own
        self._members = members
        self._partners = partners
        self._bootstrap = bootstrap
        self._intake = intake
        self._requester = requester
        self._rng = rng
        self._welcomed = welcomed
        self._rumours = Rumours(members)
        self._detector = FailureDetector(members, partners, self.ping)
        self._behind_until = float("-inf")
        self._probing: set[NodeId] = set()
        self._boosts = RateLimiter(BOOST_RATE, BOOST_BURST)
        self._far_boosts = RateLimiter(FAR_BOOST_RATE, BOOST_BURST)
        self._catch_ups = RateLimiter(CATCH_UP_RATE, CATCH_UP_BURST)
        self._alarms = RateLimiter(ALARM_RATE, ALARM_BURST)
        self._objections = RateLimiter(1 / OBJECT_S, 1.0)
        self._gaps = RateLimiter(1 / GAP_S, 1.0)
        self._exchange_at = float("-inf")
        self._was_member = members.admission.is_member(members.own)

    def poll(self, now: Now) -> None:
        """Tell news, try bootstrap addresses and exchange, as is due."""
        if now.steady >= self._own.next_due:
            is_news = self._own.beat(now)
            self._members.claim_own(self._own.claim())
            if is_news:
                self._tell(now)
        if now.steady >= self._bootstrap.next_due:
            self._try_bootstrap(now)
        if now.steady >= self._exchange_at:
            self._exchange(now)

    @property
    def next_due(self) -> float:
        beat, bootstrap, exchange = self._own.next_due, self._bootstrap.next_due, self._exchange_at
        due = beat if beat < bootstrap else bootstrap
        return due if due < exchange else exchange

    def hear(self, now: Now, body: Ping | Pong, sender: bytes | None) -> None:
        """Take what came in a PING or PONG; `sender`: the public key of who sent it, None where nobody proved it."""
        self.take(now, body.heartbeats[:HEARTBEATS_LIMIT], sender)
        if body.suspects and sender is not None:
            if self._detector.take_rumour(now, body.suspects, node_id_of(sender)):
                self._alarm(now)
            self._object(now, body.suspects, node_id_of(sender))

    def take(self, now: Now, heartbeats: Iterable[bytes], sender: bytes | None) -> None:
        """Take heartbeats and spread what is new of them; `sender` as in `hear`."""
        news = self._intake.learn(now, heartbeats, sender) + self._admitted()
        if news:
            self._consider(now, news)

    def _admitted(self) -> list[tuple[News, NodeId]]:
        """The peers that others have reached lately: they are news to all, and so is this node itself."""
        members = self._members
        if self._was_member != members.admission.is_member(members.own):
            self._was_member = not self._was_member
            self._own.stir()
        if not (arrived := members.waiting.take_arrived()):
            return []
        for peer in filter(self._members.is_near, arrived):
            self._partners.greet(peer)
        return [(NEW, peer) for peer in arrived]

    def _consider(self, now: Now, news: list[tuple[News, NodeId]]) -> None:
        """Spread what came, unless it says that it is we who are behind."""
        behind = sum(told is NEW for told, _ in news)
        enough = 1 if now.steady < self._behind_until else FEW_NEW
        if behind >= enough and len(self._members) > SMALL_NETWORK:
            self._behind_until = now.steady + BEHIND_S
            if self._catch_ups.take("", now.steady):
                self._soon(now)
        else:
            for _, peer in news:
                self._spread(now, peer)

    def answer(self, now: Now, ping: Ping, asker: bytes, room: int) -> tuple[tuple[bytes, ...], bytes]:
        """Return the heartbeats and suspects for the PONG to a PING, in `room` bytes."""
        peer = node_id_of(asker)
        suspects = self._detector.suspects_for(now, peer)
        room -= len(suspects)
        return make_answer(ping, peer, self._members, self._own, self._rumours, room), suspects

    def hear_more(self, now: Now) -> None:
        """Ask another peer soon: the last one says that this node's address changed."""
        if self._boosts.take("", now.steady):
            self._soon(now)

    def ping(self, now: Now, peer: NodeId) -> None:
        """Exchange with a known peer; a live one that does not answer is asked again, then suspected."""
        known = self._members.find(peer)
        if known is None or peer in self._probing or not self._members.is_live(peer, now):
            self._ask(now, peer, lambda _at: None, tries=1)
            return
        since, asked_at = now.steady, known.opened.contact
        was_welcome = self._requester.is_welcome(asked_at)

        def again(at: Now) -> None:
            if self._members.is_live(peer, at):
                self._ask(at, peer, partial(lost, first_lost=at.steady), tries=LAST_TRIES, least_s=PATIENT_S)
            else:
                self._probing.discard(peer)

        def lost(at: Now, first_lost: float) -> None:
            self._probing.discard(peer)
            newest = self._members.find(peer)
            if newest is None or newest.opened.contact != asked_at:
                return  # it moved meanwhile: silence at its old address says nothing
            failing_since = self._partners.failing_since(peer)
            if failing_since > first_lost or newest.sent_steady > failing_since or not was_welcome:
                return  # it answered another question, or others hear it: our way to it is broken
            if self._detector.note_silence(at, peer, since):
                self._alarm(at, peer)

        self._probing.add(peer)
        if not self._ask(now, peer, again, tries=TRIES):
            self._probing.discard(peer)

    def greet(self, now: Now, contact: Contact, done: Callable[[bool], object]) -> None:
        """Exchange with whoever is at a contact; `done` is told whether it was the node that the contact names."""

        def heard(_at: Now, packet: Packet | None, _body: Body | None) -> None:
            done(packet is not None and node_id_of(packet.public_key) == contact.node_id)

        body = make_ping(self._members, self._own, self._rumours, None, now, self._rng)
        self._requester.ask_address(now, body, contact.endpoints[0].udp, heard, tries=TRIES)

    def meet(self, now: Now, asker: Address) -> None:
        """Ask the asker for this node's address while this node does not know it: no other node answers before this one
        has announced its address."""
        if self._own.raw or self._own.endpoints():
            return
        if self._gaps.take("", now.steady):
            body = make_ping(self._members, self._own, self._rumours, None, now, self._rng)
            self._requester.ask_address(now, body, asker, lambda *_: None)

    def notice(self, now: Now, contacts: list[tuple[bytes, Contact]]) -> None:
        """Ask near contacts of which a lookup heard and gossip did not who they are."""
        for public_key, contact in contacts:
            peer = contact.node_id
            unknown = self._members.find(peer) is None and peer != self._members.own
            if unknown and self._members.is_near(peer) and self._gaps.take("", now.steady):
                body = make_ping(self._members, self._own, self._rumours, peer, now, self._rng)
                self._requester.ask(now, body, public_key, contact, lambda *_: None, tries=1)

    def leave(self, now: Now) -> None:
        """Tell the near peers that this node stops."""
        self._own.leave(now)
        for peer in self._partners.live_near(now)[:LEAVE_LIMIT]:
            self._ask(now, peer, lambda _at: None, tries=1)

    def _ask(self, now: Now, peer: NodeId, lost: Callable[[Now], None], *, tries: int, least_s: float = 0.0) -> bool:
        """Send a PING; `lost` is called where no answer came. False where the peer cannot be asked."""
        known = self._members.find(peer)
        if known is None or self._partners.endpoint(known.opened.contact) is None:
            return False

        def done(at: Now, packet: Packet | None, _body: Body | None) -> None:
            if packet is None:
                lost(at)
            else:
                self._probing.discard(peer)
                self._detector.answered(peer)

        suspects, behind = self._detector.suspects_for(now, peer), now.steady < self._behind_until
        contact, public_key = known.opened.contact, known.opened.heartbeat.public_key
        body = make_ping(
            self._members, self._own, self._rumours, peer, now, self._rng, suspects=suspects, behind=behind
        )
        self._requester.ask(now, body, public_key, contact, done, tries=tries, least_s=least_s)
        return True

    def _spread(self, now: Now, peer: NodeId) -> None:
        """There is news of a peer: tell it to whom we meet next, and meet somebody soon."""
        self._rumours.add(peer)
        boosts = self._boosts if self._members.is_near(peer) else self._far_boosts
        if boosts.take("", now.steady):
            self._soon(now)

    def _soon(self, now: Now) -> None:
        self._exchange_at = min(self._exchange_at, now.steady + self._rng.uniform(*BOOST_S))

    def _alarm(self, now: Now, silent: NodeId | None = None) -> None:
        """Tell a few near peers at once whom we suspect, and a few of those who cannot ask the silent one."""
        if not self._alarms.take("", now.steady):
            return
        near = [peer for peer in self._partners.live_near(now) if self._members.is_live(peer, now)]
        trusting = [peer for peer in near if silent and not self._partners.may_ask(peer, silent)]
        asking = [peer for peer in near if peer not in trusting]
        for group in (asking, trusting):
            for peer in self._rng.sample(group, min(FANOUT, len(group))):
                self.ping(now, peer)

    def _object(self, now: Now, suspects: bytes, accuser: NodeId) -> None:
        """Where we are named as a suspect, say that we live."""
        own, size = self._members.own[:PREFIX_BYTES], len(suspects) // PREFIX_BYTES * PREFIX_BYTES
        named = any(suspects[n : n + PREFIX_BYTES] == own for n in range(0, size, PREFIX_BYTES))
        if named and self._objections.take("", now.steady):
            self._own.stir(is_news=False)
            self._own.beat(now)
            self.ping(now, accuser)

    def _tell(self, now: Now) -> None:
        """Something of ours changed: to all in a small network, to a few in a large one, who exchange it further."""
        live = self._partners.live_count(now)
        for peer in self._partners.choose(now, HAMLET if live <= HAMLET else FANOUT):
            self.ping(now, peer)

    def _exchange(self, now: Now) -> None:
        self._intake.expire(now)
        live, near, config = self._partners.live_count(now), len(self._partners.live_near(now)), self._own.config
        newcomer = self._partners.newcomer()
        others = FANOUT if newcomer and live <= HAMLET else 1  # a newcomer matters more where there are few
        for peer in dict.fromkeys([*newcomer, *self._partners.overdue(now), *self._partners.choose(now, others)]):
            self.ping(now, peer)
        pause = config.exchange_s + min(1.0, near / CROWD) * (config.exchange_min_s - config.exchange_s)
        if not live and len(self._members):
            pause = ALONE_S
        if self._partners.has_newcomers:
            pause = min(pause, GREET_S)
        self._exchange_at = now.steady + pause * self._rng.uniform(0.8, 1.2)

    def _try_bootstrap(self, now: Now) -> None:
        """PING bootstrap addresses that no live peer has."""
        live = [k.opened.contact for peer, k in self._members.known() if self._members.is_live(peer, now)]
        known = {e.udp for contact in live for e in contact.endpoints} | {e.udp for e in self._own.endpoints()}
        for address in self._bootstrap.choose(known, now, alone=not live):
            body = make_ping(self._members, self._own, self._rumours, None, now, self._rng)
            self._requester.ask_address(now, body, address, partial(self._bootstrapped, address))

    def _bootstrapped(self, address: Address, now: Now, packet: Packet | None, _body: Body | None) -> None:
        """A door opened: exchange at once, which also tells who we are if we only now learned where."""
        if packet:
            if self._bootstrap.is_trusted(address):
                self._members.trust([node_id_of(packet.public_key)])
            self._exchange_at = now.steady
            self._welcomed(now)
