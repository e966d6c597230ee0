"""How heartbeats spread: whom to tell, when, and what to make of those that come.

Pure: `now` and `rng` are arguments. Every few seconds an exchange with a peer; earlier when there is news, so that a
new peer or a change is known to all within seconds; at once to all, or to some, when the change is our own. A live peer
that does not answer is asked again at once, then suspected (watch.py).
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from dht.clock import Now
from dht.config import DhtConfig
from dht.errors import BadMessage, BadSignature, TooLittleWork
from dht.identity.node_key import node_id_of
from dht.keys import NodeId
from dht.membership.bootstrap_retry import BootstrapRetry
from dht.membership.failure_detector import PREFIX_BYTES, FailureDetector
from dht.membership.neighbourhood import SMALL_NETWORK
from dht.membership.partner_selection import PartnerSelection
from dht.membership.rumours import FEW_NEW, Rumours
from dht.membership.table import MemberTable, News
from dht.protocol.digest_exchange import make_answer, make_ping
from dht.protocol.requester import Requester
from dht.protocol.self_heartbeat import SelfHeartbeat
from dht.rate_limit import RateLimiter
from dht.rng import Rng
from dht.wire.address_policy import AddressPolicy
from dht.wire.contact import Contact
from dht.wire.heartbeat import VerifiedHeartbeat, check_time, open_heartbeat, open_heartbeat_once
from dht.wire.packets import Body, Packet, Ping, Pong

HEARTBEATS_LIMIT = 16  # of one packet; 1232 bytes hold six
BOOST_RATE, BOOST_BURST = 0.5, 6.0  # extra exchanges a second, and at once, when there is news
BOOST_S = (0.02, 0.2)  # until such an exchange: what else comes meanwhile goes with it
FAR_BOOST_RATE = 0.1  # the same for news of a far peer
CATCH_UP_RATE, CATCH_UP_BURST = 5.0, 40.0  # exchanges a second, and at once, of a node that knows few of many
BEHIND_S = 5.0  # after the last packet full of new peers, such a node asks for all parts of the network
ALARM_RATE, ALARM_BURST = 0.2, 3.0  # suspicions told at once to FANOUT near peers; the others go with the exchanges
OBJECT_S = 5.0  # between two heartbeats because somebody suspects us
TRIES = 2  # of one question to a live peer, of which there are two until it is suspected: at 10 % loss, 0.2 % are wrong
PATIENT_S = 0.4  # least timeout of the second one: a machine that is busy for a second is not dead
LEAVE_LIMIT = 64  # near peers that hear from us that we stop
GAP_S = 2.0  # between two questions to near contacts that lookups find and gossip does not know
FANOUT = 4  # peers that hear a change of ours at once; they tell the others
HAMLET = 16  # up to here, all hear it at once
CROWD = 36  # live near peers at which exchanges come at their fastest; a neighbourhood of a large network has as many
GREET_S = 0.4  # between exchanges while new near peers wait to be met: only who was met can be seen to die
ALONE_S = 0.5  # between exchanges while nobody is live: somebody remembered may be
CHANGED, NEW = News.CHANGED, News.NEW  # looked up for every heartbeat


class OwnState(NamedTuple):
    """Who we are."""

    public_key: bytes
    network: bytes
    config: DhtConfig
    herald: SelfHeartbeat


class Gossip:
    """Spreads and learns heartbeats for one node."""

    def __init__(
        self,
        own: OwnState,
        members: MemberTable,
        partners: PartnerSelection,
        doors: BootstrapRetry,
        asker: Requester,
        rng: Rng,
        welcomed: Callable[[Now], None],
    ) -> None:
        """`welcomed` is called when a bootstrap address answered."""
        self._own = own
        self._herald = own.herald
        self._members = members
        self._partners = partners
        self._asker = asker
        self._rng = rng
        self._welcomed = welcomed
        self._rumours = Rumours(members)
        self._watch = FailureDetector(members, partners, self.ping)
        self._behind_until = float("-inf")
        self._probing: set[NodeId] = set()
        self._boosts = RateLimiter(BOOST_RATE, BOOST_BURST)
        self._far_boosts = RateLimiter(FAR_BOOST_RATE, BOOST_BURST)
        self._catch_ups = RateLimiter(CATCH_UP_RATE, CATCH_UP_BURST)
        self._alarms = RateLimiter(ALARM_RATE, ALARM_BURST)
        self._objections = RateLimiter(1 / OBJECT_S, 1.0)
        self._gaps = RateLimiter(1 / GAP_S, 1.0)
        self._exchange_at = float("-inf")
        self.doors = doors
        self.reach = AddressPolicy()
        self.puzzle_bits = 0  # that an identity must have behind it

    def poll(self, now: Now) -> None:
        """Tell, knock and exchange as is due."""
        if now.steady >= self._herald.next_due and self._herald.beat(now):
            self._tell(now)
        if now.steady >= self.doors.next_due:
            self._knock(now)
        if now.steady >= self._exchange_at:
            self._exchange(now)

    @property
    def next_due(self) -> float:
        herald, doors, exchange = self._herald.next_due, self.doors.next_due, self._exchange_at
        due = herald if herald < doors else doors
        return due if due < exchange else exchange

    def hear(self, now: Now, body: Ping | Pong, sender: bytes | None) -> None:
        """Take what came in a PING or PONG; `sender`: the public key of who sent it, None where nobody proved it."""
        told = [self.learn(now, raw, sender) for raw in body.heartbeats[:HEARTBEATS_LIMIT]]
        news = [each for each in told if each[0] >= CHANGED]
        if news:
            self._consider(now, news)
        if body.suspects and sender is not None:
            if self._watch.rumour(now, body.suspects):
                self._alarm(now)
            self._object(now, body.suspects, node_id_of(sender))

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

    def learn(self, now: Now, raw: bytes, sender: bytes | None) -> tuple[News, NodeId]:
        """Take a heartbeat; a bad one is counted and does not spoil its neighbours. Returns what it told of whom."""
        try:
            graces, bits = self._herald.graces, self.puzzle_bits
            opened = open_heartbeat(raw, now, self._own.network, self.reach, graces, bits)
        except TooLittleWork:
            self._asker.refused["too little work"] += 1
            return News.OLD, self._members.own
        except (BadSignature, BadMessage):
            self._asker.refused["heartbeat"] += 1
            return News.OLD, self._members.own
        author, peer = opened.heartbeat.public_key, opened.contact.node_id
        if author == self._own.public_key:
            self._herald.outrun(opened.sequence)
            return News.OLD, peer
        news = self._members.add(opened, now, direct=author == sender)
        if news is NEW and self._members.is_near(peer):
            self._partners.greet(peer)
        return news, peer

    def recall(self, now: Now, raws: Iterable[bytes]) -> list[tuple[bytes, NodeId]]:
        """Take heartbeats of an earlier run, return whose they are; of expired ones, the addresses are worth a try."""
        found, former = list[VerifiedHeartbeat](), list[VerifiedHeartbeat]()
        for raw in raws:
            try:
                opened = open_heartbeat_once(raw, self._own.network, self.reach, self.puzzle_bits)
                if opened.heartbeat.expires_at <= now.wall:
                    former.append(opened)
                    continue
                check_time(opened, now, self._herald.graces)
            except (BadSignature, BadMessage):
                self._asker.refused["heartbeat"] += 1
                continue
            if opened.heartbeat.public_key == self._own.public_key:
                self._herald.outrun(opened.sequence)
            else:
                found.append(opened)
        for peer in self._members.add_all(found, now):
            if self._members.is_near(peer):
                self._partners.greet(peer)
        if former:
            self._remember(now, former)
        return [(opened.raw, opened.contact.node_id) for opened in found]

    def _remember(self, now: Now, former: list[VerifiedHeartbeat]) -> None:
        self.doors.remember([e.udp for opened in former for e in opened.contact.endpoints], now)

    def answer(self, now: Now, ping: Ping, asker: bytes, room: int) -> tuple[tuple[bytes, ...], bytes]:
        """Heartbeats and suspects for the PONG to a PING, in `room` bytes."""
        peer = node_id_of(asker)
        suspects = self._watch.names(now, peer)
        room -= len(suspects)
        return make_answer(ping, peer, self._members, self._herald, self._rumours, room), suspects

    def hear_more(self, now: Now) -> None:
        """A peer says that this node's address changed: ask the next one soon."""
        if self._boosts.take("", now.steady):
            self._soon(now)

    def ping(self, now: Now, peer: NodeId) -> None:
        """Exchange with a known peer; a live one that does not answer is asked again, then suspected."""
        known = self._members.find(peer)
        if known is None or peer in self._probing or not self._members.is_live(peer, now):
            self._ask(now, peer, lambda _at: None, tries=1)
            return
        was_well = not self._partners.failures(peer) and self._asker.is_welcome(known.opened.contact)
        since, asked_at = now.steady, known.opened.contact

        def again(at: Now) -> None:
            if self._members.is_live(peer, at):
                self._ask(at, peer, lost, tries=TRIES, least_s=PATIENT_S)
            else:
                self._probing.discard(peer)

        def lost(at: Now) -> None:
            self._probing.discard(peer)
            newest = self._members.find(peer)
            if newest is not None and newest.opened.contact != asked_at:
                return  # it moved meanwhile: silence at its old address says nothing
            if self._watch.silent(at, peer, since, was_well=was_well):
                self._alarm(at)

        self._probing.add(peer)
        if not self._ask(now, peer, again, tries=TRIES):
            self._probing.discard(peer)

    def notice(self, now: Now, contacts: list[tuple[bytes, Contact]]) -> None:
        """A lookup heard of these: a near one that we know nothing of is asked who it is."""
        for public_key, contact in contacts:
            peer = contact.node_id
            unknown = self._members.find(peer) is None and peer != self._members.own
            if unknown and self._members.is_near(peer) and self._gaps.take("", now.steady):
                body = make_ping(self._members, self._herald, self._rumours, peer, now, self._rng)
                self._asker.ask(now, body, public_key, contact, lambda *_: None, tries=1)

    def leave(self, now: Now) -> None:
        """Say to the near peers that this node stops."""
        self._herald.leave(now)
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
                self._watch.answered(peer)

        suspects = self._watch.names(now, peer)
        body = make_ping(
            self._members,
            self._herald,
            self._rumours,
            peer,
            now,
            self._rng,
            suspects=suspects,
            behind=now.steady < self._behind_until,
        )
        self._asker.ask(
            now, body, known.opened.heartbeat.public_key, known.opened.contact, done, tries=tries, least_s=least_s
        )
        return True

    def _spread(self, now: Now, peer: NodeId) -> None:
        """There is news of a peer: tell it to whom we meet next, and meet somebody soon."""
        self._rumours.add(peer)
        boosts = self._boosts if self._members.is_near(peer) else self._far_boosts
        if boosts.take("", now.steady):
            self._soon(now)

    def _soon(self, now: Now) -> None:
        self._exchange_at = min(self._exchange_at, now.steady + self._rng.uniform(*BOOST_S))

    def _alarm(self, now: Now) -> None:
        """Tell a few near peers at once whom we suspect."""
        if self._alarms.take("", now.steady):
            near = [peer for peer in self._partners.live_near(now) if self._members.is_live(peer, now)]
            for peer in self._rng.sample(near, min(FANOUT, len(near))):
                self.ping(now, peer)

    def _object(self, now: Now, suspects: bytes, accuser: NodeId) -> None:
        """Where we are named as a suspect, say that we live."""
        own, size = self._members.own[:PREFIX_BYTES], len(suspects) // PREFIX_BYTES * PREFIX_BYTES
        named = any(suspects[n : n + PREFIX_BYTES] == own for n in range(0, size, PREFIX_BYTES))
        if named and self._objections.take("", now.steady):
            self._herald.hurry()
            self._herald.beat(now)
            self.ping(now, accuser)

    def _tell(self, now: Now) -> None:
        """Something of ours changed: to all in a small network, to a few in a large one, who exchange it further."""
        live = self._partners.live_count(now)
        for peer in self._partners.choose(now, HAMLET if live <= HAMLET else FANOUT):
            self.ping(now, peer)

    def _exchange(self, now: Now) -> None:
        self._members.expire(now)
        if forgotten := self._members.take_forgotten():
            self._remember(now, forgotten)
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

    def _knock(self, now: Now) -> None:
        """PING bootstrap addresses that no live peer has."""
        live = [k.opened.contact for peer, k in self._members.known() if self._members.is_live(peer, now)]
        known = {e.udp for contact in live for e in contact.endpoints} | {e.udp for e in self._herald.endpoints()}
        for address in self.doors.choose(known, now, alone=not live):
            body = make_ping(self._members, self._herald, self._rumours, None, now, self._rng)
            self._asker.ask_address(now, body, address, self._opened)

    def _opened(self, now: Now, packet: Packet | None, _body: Body | None) -> None:
        """A door opened: exchange at once, which also tells who we are if we only now learned where."""
        if packet:
            self._exchange_at = now.steady
            self._welcomed(now)
