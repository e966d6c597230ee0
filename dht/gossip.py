"""How heartbeats spread: whom to tell, when, and what to make of those that come.

Pure: `now` and `rng` are arguments. Every few seconds an exchange with a random peer; earlier when there is news, so
that a new peer or a change is known to all within seconds; at once to all, or to some, when the change is our own.
"""

from collections.abc import Callable
from typing import NamedTuple

from dht.asker import Asker
from dht.chance import Rng
from dht.clock import Now
from dht.config import DhtConfig
from dht.doors import Doors
from dht.errors import BadMessage, BadSignature, TooLittleWork
from dht.exchange import make_ping
from dht.herald import Herald
from dht.keys import NodeId
from dht.limits import Buckets
from dht.members import Members, News
from dht.packets import Body, Packet
from dht.partners import Partners
from dht.reach import Reach
from dht.records import open_heartbeat

HEARTBEATS_LIMIT = 16  # of one packet; 1232 bytes hold six
BOOST_RATE, BOOST_BURST = 0.5, 6.0  # extra exchanges a second, and at once, when there is news
BOOST_S = (0.02, 0.2)  # until such an exchange: what else comes meanwhile goes with it
FANOUT = 4  # peers that hear a change of ours at once; they tell the others
SMALL_NETWORK = 16  # up to here, all hear it at once
CROWD = 50  # live peers at which exchanges come at their fastest
ALONE_S = 0.5  # between exchanges while nobody is live: somebody remembered may be


class Self(NamedTuple):
    """Who we are."""

    public_key: bytes
    network: bytes
    config: DhtConfig
    herald: Herald


class Gossip:
    """Spreads and learns heartbeats for one node."""

    def __init__(
        self,
        own: Self,
        members: Members,
        partners: Partners,
        doors: Doors,
        asker: Asker,
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
        self._boosts = Buckets(BOOST_RATE, BOOST_BURST)
        self._exchange_at = float("-inf")
        self.doors = doors
        self.reach = Reach()
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
        return min(self._herald.next_due, self.doors.next_due, self._exchange_at)

    def learn_all(self, now: Now, heartbeats: tuple[bytes, ...], sender: bytes | None) -> None:
        """Take the heartbeats of one packet; `sender`: the public key of who sent it, None where nobody proved it."""
        for raw in heartbeats[:HEARTBEATS_LIMIT]:
            self.learn(now, raw, sender)

    def learn(self, now: Now, raw: bytes, sender: bytes | None) -> None:
        """Take a heartbeat; a bad one is counted and does not spoil its neighbours."""
        try:
            opened = open_heartbeat(raw, now, self._own.network, self.reach, self.puzzle_bits)
        except TooLittleWork:
            self._asker.refused["too little work"] += 1
            return
        except (BadSignature, BadMessage):
            self._asker.refused["heartbeat"] += 1
            return
        author = opened.heartbeat.public_key
        if author == self._own.public_key:
            self._herald.outrun(opened.sequence)
            return
        news = self._members.add(opened, now, direct=author == sender)
        if news is News.NEW:
            self._partners.greet(opened.contact.node_id)
        if news >= News.CHANGED and self._boosts.take("", now.steady):
            self._exchange_at = min(self._exchange_at, now.steady + self._rng.uniform(*BOOST_S))

    def ping(self, now: Now, peer: NodeId) -> None:
        """Exchange with a known peer."""
        known = self._members.find(peer)
        if known:
            body = make_ping(self._members, self._herald, peer, now, self._rng)
            public_key = known.opened.heartbeat.public_key
            self._asker.ask(now, body, public_key, known.opened.contact, lambda *_: None, tries=1)

    def _tell(self, now: Now) -> None:
        """Something of ours changed: to all in a small network, to a few in a large one, who exchange it further."""
        live = self._partners.live_count(now)
        for peer in self._partners.choose(now, SMALL_NETWORK if live <= SMALL_NETWORK else FANOUT):
            self.ping(now, peer)

    def _exchange(self, now: Now) -> None:
        self._members.expire(now)
        live, config = self._partners.live_count(now), self._own.config
        newcomer = self._partners.newcomer()
        others = FANOUT if newcomer and live <= SMALL_NETWORK else 1  # a newcomer matters more where there are few
        for peer in dict.fromkeys([*newcomer, *self._partners.choose(now, others)]):
            self.ping(now, peer)
        pause = config.exchange_s + min(1.0, live / CROWD) * (config.exchange_min_s - config.exchange_s)
        if not live and len(self._members):
            pause = ALONE_S
        self._exchange_at = now.steady + pause * self._rng.uniform(0.8, 1.2)

    def _knock(self, now: Now) -> None:
        """PING bootstrap addresses that no live peer has."""
        live = [k.opened.contact for peer, k in self._members.known() if self._members.is_live(peer, now)]
        known = {e.udp for contact in live for e in contact.endpoints} | {e.udp for e in self._herald.endpoints()}
        for address in self.doors.choose(known, now, alone=not live):
            body = make_ping(self._members, self._herald, None, now, self._rng)
            self._asker.ask_address(now, body, address, self._opened)

    def _opened(self, now: Now, packet: Packet | None, _body: Body | None) -> None:
        """A door opened: exchange at once, which also tells who we are if we only now learned where."""
        if packet:
            self._exchange_at = now.steady
            self._welcomed(now)
