"""With whom to exchange news next.

Pure: `now` and `rng` are arguments. Mostly a random live peer; now and then one that is silent, since after a cut both
sides are silent to each other and somebody has to try. Who does not answer is tried at doubling intervals, for ever.
"""

from dht.chance import Rng
from dht.clock import Now
from dht.contact import Contact, Endpoint, Family
from dht.keys import NodeId
from dht.members import Members

RETRY_FIRST_S, RETRY_MOST_S = 2.0, 60.0
SILENT_SHARE = 1 / 8  # of the exchanges go to peers that are not live
TRIES = 8  # candidates looked at beyond those wanted, some of which wait for their next try
SURVEY_S = 5.0  # between two sortings of the peers into live and silent
GREET_LIMIT = 64  # new peers that wait for our first packet


class Partners:
    """Chooses among the members that share a family with this node."""

    def __init__(self, members: Members, families: frozenset[Family], rng: Rng) -> None:
        self._members = members
        self._families = families
        self._rng = rng
        self._fails: dict[NodeId, tuple[int, float]] = {}  # failures in a row, steady time of the next try
        self._greet: list[NodeId] = []
        self._live: list[NodeId] = []
        self._silent: list[NodeId] = []
        self._survey_at, self._version = float("-inf"), -1

    def endpoint(self, contact: Contact) -> Endpoint | None:
        """Where to send to a peer: the other of two families after each failure; None where we share none."""
        usable = [e for e in contact.endpoints if e.family in self._families]
        fails = self._fails.get(contact.node_id, (0, 0.0))[0]
        return usable[fails % len(usable)] if usable else None

    def greet(self, peer: NodeId) -> None:
        """A peer was not known before: let it hear from us soon."""
        if len(self._greet) < GREET_LIMIT:
            self._greet.append(peer)

    def choose(self, now: Now, count: int = 1) -> list[NodeId]:
        """Up to `count` different peers to send a PING to."""
        self._survey(now)
        pool = self._live
        if self._silent and (not pool or self._rng.random() < SILENT_SHARE):
            pool = self._silent
        found: list[NodeId] = []
        for peer in self._rng.sample(pool, min(len(pool), count + TRIES)):
            if self._fails.get(peer, (0, 0.0))[1] <= now.steady and len(found) < count:
                found.append(peer)
        return found

    def live_count(self, now: Now) -> int:
        """Live peers that share a family with us; may be some seconds old."""
        self._survey(now)
        return len(self._live)

    def _survey(self, now: Now) -> None:
        """Sort the peers into live and silent ones, when peers came or went and every few seconds."""
        if now.steady < self._survey_at and self._version == self._members.version:
            return
        self._survey_at, self._version = now.steady + SURVEY_S, self._members.version
        self._live, self._silent = [], []
        for peer, known in self._members.known():
            if not self._families.isdisjoint(known.opened.families):
                (self._live if self._members.is_live(peer, now) else self._silent).append(peer)

    def newcomer(self) -> list[NodeId]:
        """The next new peer that we can reach, if there is one."""
        while self._greet:
            known = self._members.find(peer := self._greet.pop())
            if known and not self._families.isdisjoint(known.opened.families):
                return [peer]
        return []

    def answered(self, peer: NodeId) -> None:
        self._fails.pop(peer, None)

    def failed(self, peer: NodeId, now: Now) -> None:
        if self._members.find(peer) is None:
            self._fails.pop(peer, None)
            return
        fails = self._fails.get(peer, (0, 0.0))[0] + 1
        wait = min(RETRY_MOST_S, RETRY_FIRST_S * 2 ** min(fails, 10)) * self._rng.uniform(0.8, 1.2)
        self._fails[peer] = fails, now.steady + wait
