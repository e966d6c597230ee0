"""The member table holds who is in the network as far as this node has heard: each peer's newest heartbeat.

Pure: heartbeats and `now` in, answers out. Heartbeats of near peers (neighbourhood.py) come every ten seconds, those of
far ones when their standing changed and every ten minutes or so. known_peer.py says when a heartbeat was sent and what
it changes, liveness.py who lives.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from itertools import chain

from dht.clock import Now
from dht.identity.puzzle import work_of
from dht.keys import NodeId, distance
from dht.membership.digest_index import DigestIndex
from dht.membership.known_peer import KnownPeer, News, changed_domains, date_heartbeat, is_news
from dht.membership.liveness import LIVE_S, Liveness
from dht.membership.neighbourhood import WHOLE, IdRange, neighbourhood_of
from dht.membership.seniority import Seniority
from dht.membership.vanished_members import VanishedMembers
from dht.wire.heartbeat import GRACES, Graces, VerifiedHeartbeat

MEMBER_LIMIT = 4096  # 1 MB of heartbeats; networks beyond that know their neighbourhood
FORGOTTEN = 63  # of the members whose grace is over, kept for `take_forgotten` besides one more
ASLEEP_S = 60.0  # a running node does something every few seconds: after so long without anything it has slept


class MemberTable:
    """Keeps the newest valid heartbeat of each node but this one, of 4,096 nodes at most."""

    def __init__(self, own: NodeId, *, own_member: bool = True, limit: int = MEMBER_LIMIT) -> None:
        self.own = own
        self.seniority = Seniority(own)
        self.vanished = VanishedMembers()
        self._own_member = own_member
        self._limit = limit
        self._near: dict[NodeId, KnownPeer] = {}  # the one heard of last at the end
        self._far: dict[NodeId, KnownPeer] = {}  # all others
        self.digest_index = DigestIndex()  # of all
        self._sorted: list[NodeId] = [own] if own_member else []  # members
        self.blocked: frozenset[NodeId] = frozenset()  # by the strategy: not taken, whoever brings them
        self._forgotten: list[VerifiedHeartbeat] = []
        self._cached: tuple[NodeId, ...] | None = None
        self._next_expiry = float("inf")
        self._at = float("-inf")  # the last steady time that we were told
        self.near = WHOLE
        self.liveness = Liveness()
        self._graces = GRACES
        self._awake_at: float | None = None  # None: nobody said so yet
        self.epoch = 0  # counts changes of `members`; owners are cached by it
        self.told = 0  # counts changes of `version`, and of what peers say that they lease
        self.version = 0  # counts changes of any peer's being there, or of what News.CHANGED means

    def add(self, opened: VerifiedHeartbeat, now: Now, *, direct: bool = False) -> News:
        """Take a verified heartbeat. `direct`: its author sent it just now."""
        self._at = now.steady
        peer = opened.contact.node_id
        old = self.find(peer)
        if old is None:
            return self._add_new(peer, opened, now, direct)
        was = old.opened
        if opened.sequence <= was.sequence:
            return News.OLD
        is_live, says_same = self.liveness.is_live(peer, old, now), opened.claims == was.claims
        news = News.SAME if is_live and (says_same or not is_news(was, opened)) else News.CHANGED
        turned = opened.sequence if news is News.CHANGED else old.turned
        known = KnownPeer(opened, *date_heartbeat(opened, old, now, direct), turned)
        self.digest_index.change(peer, opened.line, known.sent_steady)
        pool = self._near if peer in self._near else self._far
        del pool[peer]  # the one heard of last is at the end
        pool[peer] = known
        if not (is_live and says_same and known.sent_steady >= old.sent_steady):  # nearly all are no more than that
            self._apply(peer, known, old, news)
        return news

    def add_all(self, heartbeats: Iterable[VerifiedHeartbeat], now: Now) -> list[NodeId]:
        """Take many verified heartbeats that were kept, as after a start: `add` of each, and in empty or roomy tables
        much faster. Returns who was not known before."""
        newest: dict[NodeId, VerifiedHeartbeat] = {}
        for opened in heartbeats:
            peer = opened.contact.node_id
            if peer not in newest or newest[peer].sequence < opened.sequence:
                newest[peer] = opened
        new = {peer: opened for peer, opened in newest.items() if self.find(peer) is None}
        if len(new) < len(newest) or len(self) + len(new) > self._limit:
            return [peer for peer, opened in newest.items() if self.add(opened, now) is News.NEW]
        for peer in (self.own, *self.blocked):
            new.pop(peer, None)
        known = {peer: KnownPeer(opened, *date_heartbeat(opened, None, now, False), 0) for peer, opened in new.items()}
        self._add_all_new(known, now)
        return list(known)

    def _add_all_new(self, known: dict[NodeId, KnownPeer], now: Now) -> None:
        """Peers of whom nothing was known before, for all of whom there is room."""
        self._at = now.steady
        self.digest_index.add_all((peer, each.opened.line, each.sent_steady) for peer, each in known.items())
        self.seniority.heard_all(known, now.wall)
        for peer in known:
            self.vanished.found(peer)
        self._far |= known
        self._next_expiry = min([self._next_expiry, *map(self._grace_end, known.values())])
        self._sorted += [peer for peer, each in known.items() if each.opened.heartbeat.member]
        self._sorted.sort()
        self.version += len(known)
        self.told += len(known)
        self._regroup()
        self._divide()

    def _add_new(self, peer: NodeId, opened: VerifiedHeartbeat, now: Now, direct: bool) -> News:
        """Take the first heartbeat of a peer."""
        if peer == self.own or peer in self.blocked or not self._make_room(peer, now):
            return News.OLD
        known = KnownPeer(opened, *date_heartbeat(opened, None, now, direct), 0)
        self.digest_index.add(peer, opened.line, known.sent_steady)
        self.seniority.heard(peer, now.wall)
        self.vanished.found(peer)
        (self._near if self.near.has(peer) else self._far)[peer] = known
        self._apply(peer, known, None, News.NEW)
        return News.NEW

    def _apply(self, peer: NodeId, known: KnownPeer, old: KnownPeer | None, news: News) -> None:
        """What follows from a heartbeat that differs from the one before."""
        beat, was = known.opened.heartbeat, old.opened.heartbeat if old is not None else None
        self.liveness.heard(peer, known.sent_steady)
        self._next_expiry = min(self._next_expiry, self._grace_end(known))
        if beat.member != (was is not None and was.member):
            self._set_member(peer, member=beat.member)
        elif was is not None and beat.member and changed_domains(was, beat):
            self.epoch += 1
        self.version += news is not News.SAME
        self.told += news is not News.SAME or (was is not None and was.leased != beat.leased and self.is_near(peer))

    def take_part(self, own_member: bool) -> None:
        """Count this node among the members, or do not from now on."""
        if own_member != self._own_member:
            self._own_member = own_member
            self._set_member(self.own, member=own_member)

    def find(self, peer: NodeId) -> KnownPeer | None:
        """Return what is known of a peer, None where nothing is."""
        return self._near.get(peer) or self._far.get(peer)

    def known(self) -> Iterator[tuple[NodeId, KnownPeer]]:
        """Return every peer, near ones and then far ones, those heard of last first; bare bootstrap nodes too."""
        return chain(reversed(self._near.items()), reversed(self._far.items()))

    def near_known(self) -> dict[NodeId, KnownPeer]:
        """Return the peers of this node's neighbourhood, the one heard of last at the end."""
        return self._near

    def far_known(self) -> dict[NodeId, KnownPeer]:
        """Return the peers outside this node's neighbourhood, the one heard of last at the end."""
        return self._far

    def __len__(self) -> int:
        return len(self.digest_index)

    def members(self, now: Now) -> tuple[NodeId, ...]:
        """Return the nodes that may own slots, sorted: those whose heartbeat is within its grace, and this node if it
        is one."""
        self.expire(now)
        if self._cached is None:
            self._cached = tuple(self._sorted)
        return self._cached

    def forget_unproven(self, puzzle_bits: int) -> None:
        """Forget the peers whose identities have less work behind them than these bits."""
        beats = [(peer, known.opened.heartbeat) for peer, known in self.known()]
        for peer in [peer for peer, beat in beats if work_of(beat.public_key, beat.nonce) < puzzle_bits]:
            self._drop(peer)

    def neighbourhood_of(self, point: bytes) -> IdRange:
        """Return the neighbourhood of a peer, or of any point."""
        return neighbourhood_of(self._sorted, point)

    def is_near(self, peer: bytes) -> bool:
        """Tell whether a peer is of this node's neighbourhood."""
        return self.near.has(peer)

    def expire(self, now: Now) -> None:
        """Forget who has been silent for longer than the grace; `take_forgotten` returns them."""
        self._at = now.steady
        if self._awake_at is not None:
            self.awake(now)
        if now.steady < self._next_expiry:
            return
        for peer, known in [(p, known) for p, known in self.known() if now.steady > self._grace_end(known)]:
            self._forgotten = [*self._forgotten[-FORGOTTEN:], known.opened]
            self.vanished.lose(known.opened, self.seniority.since(peer), self.seniority.since(self.own))
            self._drop(peer)
        self._next_expiry = min((self._grace_end(known) for _, known in self.known()), default=float("inf"))

    def set_graces(self, graces: Graces) -> None:
        """Keep silent members for as long as these graces from now on."""
        if graces != self._graces:
            self._graces, self._next_expiry = graces, float("-inf")

    def awake(self, now: Now) -> None:
        """Note that this node runs; call it whenever it does something, every few seconds. After a sleep nobody expires
        for a while: that this node heard nobody says nothing about the others."""
        if self._awake_at is not None and now.steady - self._awake_at > ASLEEP_S:
            self._next_expiry = now.steady + LIVE_S
        self._awake_at = now.steady

    def _grace_end(self, known: KnownPeer) -> float:
        """When a silent peer is a member no longer, steady time."""
        return known.sent_steady + self._graces.of(known.opened.heartbeat.stable)

    def take_forgotten(self) -> list[VerifiedHeartbeat]:
        """Return the last of those who were forgotten for their silence since the last call."""
        forgotten = self._forgotten
        if forgotten:
            self._forgotten = []
        return forgotten

    def is_live(self, peer: NodeId, now: Now) -> bool:
        """Tell whether a peer lives, as liveness.py judges it; this node always does."""
        known = self._near.get(peer) or self._far.get(peer)
        return self.liveness.is_live(peer, known, now) if known is not None else peer == self.own

    def live(self, now: Now) -> tuple[list[tuple[NodeId, VerifiedHeartbeat]], float]:
        """Return all live peers but this node, with what they said last, and until when they stay so. Until that steady
        time none of them ceases to be live, whatever is heard; nobody joins them before `version` changes."""
        found, until = self.liveness.live_of(self.known(), now)
        return [(peer, known.opened) for peer, known in found], until

    def block(self, peers: frozenset[NodeId]) -> None:
        """Keep these peers out from now on, and nobody else."""
        self.blocked = peers
        for peer in peers:
            self.vanished.found(peer)
            if self.find(peer) is not None:
                self._drop(peer)

    def suspect(self, peer: NodeId, since: float) -> None:
        """Take a peer for dead that has not answered since this steady time, or refused a connection, until a later
        heartbeat."""
        if self.find(peer) is not None:
            self.liveness.suspect(peer, since)
            self.version += 1
            self.told += 1

    def _make_room(self, peer: NodeId, now: Now) -> bool:
        """Drop the longest silent peer, or the furthest one if all are live; False if that is the new one."""
        if len(self) < self._limit:
            return True
        _, oldest = min((known.sent_steady, p) for p, known in self.known())
        if self.is_live(oldest, now):
            oldest = max((p for p, _ in self.known()), key=lambda p: distance(p, self.own))
            if distance(oldest, self.own) <= distance(peer, self.own):
                return False
        self._drop(oldest)
        return True

    def _drop(self, peer: NodeId) -> None:
        self.version += 1
        self.told += 1
        self.digest_index.drop(peer)
        known = self._near.pop(peer, None) or self._far.pop(peer)
        if known.opened.heartbeat.member:
            self._set_member(peer, member=False)
        self.liveness.forget(peer)
        self.seniority.forget(peer)

    def _set_member(self, peer: NodeId, *, member: bool) -> None:
        """A member more, or less; neighbourhoods may shift."""
        if member:
            insort(self._sorted, peer)
        else:
            del self._sorted[bisect_left(self._sorted, peer)]
        self._regroup()

    def _regroup(self) -> None:
        """Others are members now: who is near?"""
        self._cached = None
        self.epoch += 1
        block = neighbourhood_of(self._sorted, self.own)
        if block != self.near:
            self.liveness.move(block, self._at)
            self.near = block
            self._divide()
            self.told += 1

    def _divide(self) -> None:
        """Tell near peers from far ones, all of them."""
        first, last = self.near
        all_known = [*self._far.items(), *self._near.items()]
        self._near = {peer: known for peer, known in all_known if first <= known.opened.prefix <= last}
        self._far = {peer: known for peer, known in all_known if not first <= known.opened.prefix <= last}
