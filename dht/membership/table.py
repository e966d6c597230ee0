"""Who is in the network as far as this node has heard: the newest heartbeat of each peer, and when it was sent.

Pure: heartbeats and `now` in, answers out. Ages go by this node's steady clock. How long ago a heartbeat was sent
is judged against the quickest delivery of its author seen so far, so clocks may differ by any amount and a late copy
of a dead peer's last heartbeat does not revive it. Heartbeats of near peers (neighbourhood.py) come every ten seconds,
those of far ones when their standing changed and every ten minutes or so.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from enum import IntEnum
from itertools import chain

import msgspec

from dht.clock import Now
from dht.identity.puzzle import work_of
from dht.keys import NodeId, distance
from dht.membership.digest_index import DigestIndex
from dht.membership.neighbourhood import WHOLE, IdRange, block_of
from dht.membership.seniority import Seniority
from dht.wire.heartbeat import GRACES, Graces, Heartbeat, VerifiedHeartbeat

LIVE_S = 30.0  # of a near peer: three heartbeats, two may be lost
FAR_LIVE_S = 1800.0  # of a far one: three of its refreshes (exchange.py)
SETTLE_S = LIVE_S + 10.0  # a far peer that becomes near is judged as a near one from then on: all have been heard anew
SENT_SLACK_S = 0.2  # by which we may take a heartbeat for younger than it is: the quickest way of a packet
MEMBER_LIMIT = 4096  # 1 MB of heartbeats; networks beyond that know their neighbourhood
FORGOTTEN = 63  # of the members whose grace is over, kept for `take_forgotten` besides one more
ASLEEP_S = 60.0  # a running node does something every few seconds: after so long without anything it has slept
DRIFT_S = 0.02  # by which an author's clock may fall behind ours in ten seconds: four times what NTP's slewing does
SET_BACK_S = 20.0  # two heartbeats in a row so late say that their author's clock was set back; gossip is quicker
INTERVAL_S = 10.0  # a heartbeat that arrives straight from its author may be as old as this


class News(IntEnum):
    """What a heartbeat told."""

    OLD = 0  # nothing: this sequence or a newer one is known
    SAME = 1  # still there
    CHANGED = 2  # endpoints, readiness or strategy differ, or it was silent before
    NEW = 3  # a peer that was not known


class KnownPeer(msgspec.Struct, frozen=True, gc=False):
    """A peer's newest heartbeat; `sent_steady`: when it was sent, on this node's steady clock, at the latest."""

    opened: VerifiedHeartbeat
    sent_steady: float
    base: float  # least (steady receipt - sent_at) seen of this author
    late_s: float  # by how much this heartbeat came later than that
    turned: int  # sequence of the first heartbeat heard since its standing changed; 0 where we never saw it change


class MemberTable:
    """The newest valid heartbeat per node, this node's own excepted; bounded."""

    def __init__(self, own: NodeId, *, own_member: bool = True, limit: int = MEMBER_LIMIT) -> None:
        self.own = own
        self.seniority = Seniority(own)
        self._own_member = own_member
        self._limit = limit
        self._near: dict[NodeId, KnownPeer] = {}  # the one heard of last at the end
        self._far: dict[NodeId, KnownPeer] = {}  # all others
        self.lines = DigestIndex()  # of all
        self._sorted: list[NodeId] = [own] if own_member else []  # members
        self._suspected: dict[NodeId, float] = {}  # since when (steady) they are silent
        self.blocked: frozenset[NodeId] = frozenset()  # by the strategy: not taken, whoever brings them
        self._forgotten: list[VerifiedHeartbeat] = []
        self._cached: tuple[NodeId, ...] | None = None
        self._next_expiry = float("inf")
        self._judged = WHOLE  # the part of `near` that was near long enough to be judged so, until `_settled_at`
        self._settled_at = self._at = float("-inf")  # `_at`: the last steady time that we were told
        self.near = WHOLE
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
            return self._meet(peer, opened, now, direct)
        was = old.opened
        if opened.sequence <= was.sequence:
            return News.OLD
        is_live, says_same = self._is_live(peer, old, now), opened.words == was.words
        news = News.SAME if is_live and (says_same or not _differs(was, opened)) else News.CHANGED
        turned = opened.sequence if news is News.CHANGED else old.turned
        known = KnownPeer(opened, *_dated(opened, old, now, direct), turned)
        self.lines.change(peer, opened.line, known.sent_steady)
        pool = self._near if peer in self._near else self._far
        del pool[peer]  # the one heard of last is at the end
        pool[peer] = known
        if not (is_live and says_same and known.sent_steady >= old.sent_steady):  # nearly all are no more than that
            self._weigh(peer, known, old, news, now)
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
        known = {peer: KnownPeer(opened, *_dated(opened, None, now, False), 0) for peer, opened in new.items()}
        self._meet_all(known, now)
        return list(known)

    def _meet_all(self, known: dict[NodeId, KnownPeer], now: Now) -> None:
        """Peers of whom nothing was known before, for all of whom there is room."""
        self._at = now.steady
        self.lines.add_all((peer, each.opened.line, each.sent_steady) for peer, each in known.items())
        self.seniority.heard_all(known, now.wall)
        self._far |= known
        self._next_expiry = min([self._next_expiry, *map(self._ends, known.values())])
        self._sorted += [peer for peer, each in known.items() if each.opened.heartbeat.member]
        self._sorted.sort()
        self.version += len(known)
        self.told += len(known)
        self._regroup()
        self._part()

    def _meet(self, peer: NodeId, opened: VerifiedHeartbeat, now: Now, direct: bool) -> News:
        """Take the first heartbeat of a peer."""
        if peer == self.own or peer in self.blocked or not self._make_room(peer, now):
            return News.OLD
        known = KnownPeer(opened, *_dated(opened, None, now, direct), 0)
        self.lines.add(peer, opened.line, known.sent_steady)
        self.seniority.heard(peer, now.wall)
        self._keep(peer, known)
        self._weigh(peer, known, None, News.NEW, now)
        return News.NEW

    def _keep(self, peer: NodeId, known: KnownPeer) -> None:
        (self._near if self.near.has(peer) else self._far)[peer] = known

    def _weigh(self, peer: NodeId, known: KnownPeer, old: KnownPeer | None, news: News, now: Now) -> None:
        """What follows from a heartbeat that differs from the one before."""
        beat, was = known.opened.heartbeat, old.opened.heartbeat if old is not None else None
        if self._suspected.get(peer, now.steady) < known.sent_steady - SENT_SLACK_S:
            del self._suspected[peer]
        self._next_expiry = min(self._next_expiry, self._ends(known))
        if beat.member != (was is not None and was.member):
            self._enlist(peer, member=beat.member)
        elif was is not None and beat.member and _stands_elsewhere(was, beat):
            self.epoch += 1
        self.version += news is not News.SAME
        self.told += news is not News.SAME or (was is not None and was.leased != beat.leased and self.is_near(peer))

    def take_part(self, own_member: bool) -> None:
        """Whether this node is a member itself."""
        if own_member != self._own_member:
            self._own_member = own_member
            self._enlist(self.own, member=own_member)

    def find(self, peer: NodeId) -> KnownPeer | None:
        return self._near.get(peer) or self._far.get(peer)

    def known(self) -> Iterator[tuple[NodeId, KnownPeer]]:
        """Every peer, near ones and then far ones, the one heard of last first; bare bootstrap nodes too."""
        return chain(reversed(self._near.items()), reversed(self._far.items()))

    def near_known(self) -> dict[NodeId, KnownPeer]:
        """The near ones of them, the one heard of last at the end: most that is done concerns these."""
        return self._near

    def far_known(self) -> dict[NodeId, KnownPeer]:
        """The others."""
        return self._far

    def __len__(self) -> int:
        return len(self.lines)

    def members(self, now: Now) -> tuple[NodeId, ...]:
        """Nodes that may own slots: heartbeat within its grace; this node among them if it is one; sorted."""
        self.expire(now)
        if self._cached is None:
            self._cached = tuple(self._sorted)
        return self._cached

    def forget_idle(self, puzzle_bits: int) -> None:
        """These are no members any more: their identities have less work behind them than the strategy asks for."""
        beats = [(peer, known.opened.heartbeat) for peer, known in self.known()]
        for peer in [peer for peer, beat in beats if work_of(beat.public_key, beat.nonce) < puzzle_bits]:
            self._drop(peer)

    def block_of(self, point: bytes) -> IdRange:
        """The neighbourhood of a peer, or of any point."""
        return block_of(self._sorted, point)

    def is_near(self, peer: bytes) -> bool:
        """Whether a peer is of this node's neighbourhood."""
        return self.near.has(peer)

    def ids(self, block: IdRange = WHOLE) -> list[NodeId]:
        """The known peers of a block, sorted; bare bootstrap nodes too."""
        return self.lines.ids(*self.lines.span(block))

    def named(self, prefix: bytes) -> NodeId | None:
        """The known peer whose id begins with these bytes; the first, where there are several."""
        return self.lines.named(prefix)

    def expire(self, now: Now) -> None:
        """Forget who has been silent for longer than the grace; `take_forgotten` has them."""
        self._at = now.steady
        if self._awake_at is not None:
            self.awake(now)
        if now.steady < self._next_expiry:
            return
        for peer, known in [(p, known) for p, known in self.known() if now.steady > self._ends(known)]:
            self._forgotten = [*self._forgotten[-FORGOTTEN:], known.opened]
            self._drop(peer)
        self._next_expiry = min((self._ends(known) for _, known in self.known()), default=float("inf"))

    def judge_by(self, graces: Graces) -> None:
        """The graces of the strategy in force from now on."""
        if graces != self._graces:
            self._graces, self._next_expiry = graces, float("-inf")

    def awake(self, now: Now) -> None:
        """This node runs; call it whenever it does something, every few seconds. After a sleep nobody expires for a
        while: that this node heard nobody says nothing about the others."""
        if self._awake_at is not None and now.steady - self._awake_at > ASLEEP_S:
            self._next_expiry = now.steady + LIVE_S
        self._awake_at = now.steady

    def _ends(self, known: KnownPeer) -> float:
        """When a silent peer is a member no longer, steady time."""
        return known.sent_steady + self._graces.of(known.opened.heartbeat.stable)

    def take_forgotten(self) -> list[VerifiedHeartbeat]:
        """Who was forgotten for its silence since the last call, the last of them."""
        forgotten = self._forgotten
        if forgotten:
            self._forgotten = []
        return forgotten

    def is_live(self, peer: NodeId, now: Now) -> bool:
        """Heard of lately (see `_window_s`), not leaving, not suspected since; this node always is."""
        known = self._near.get(peer) or self._far.get(peer)
        return self._is_live(peer, known, now) if known is not None else peer == self.own

    def _is_live(self, peer: NodeId, known: KnownPeer, now: Now) -> bool:
        age_s = now.steady - known.sent_steady
        if age_s > LIVE_S and age_s > self._window_s(known.opened.prefix, now):
            return False
        return peer not in self._suspected and not known.opened.heartbeat.leaving

    def live_of(self, peers: Iterable[tuple[NodeId, KnownPeer]], now: Now) -> list[NodeId]:
        """Those of some known peers that are live, in their order: `is_live` of many at once."""
        judged_near, found = self._judged_near(now), list[NodeId]()
        first, last = judged_near.first, judged_near.last
        for peer, known in peers:
            age_s, opened = now.steady - known.sent_steady, known.opened
            is_heard = age_s <= LIVE_S or (age_s <= FAR_LIVE_S and not first <= opened.prefix <= last)
            if is_heard and not opened.heartbeat.leaving and peer not in self._suspected:
                found.append(peer)
        return found

    def live(self, now: Now) -> tuple[list[tuple[NodeId, VerifiedHeartbeat]], float]:
        """All peers that are live, with what they said last; this node is not among them. And until when (steady
        time) all of them stay so at least, whatever is heard; nobody joins them before `version` changes."""
        found, until = [], self._settled_at if self._settled_at > now.steady else float("inf")
        for peer, known in self.known():
            ends = known.sent_steady + self._window_s(known.opened.prefix, now)
            if ends >= now.steady and peer not in self._suspected and not known.opened.heartbeat.leaving:
                found.append((peer, known.opened))
                until = min(until, ends)
        return found, until

    def block(self, peers: frozenset[NodeId]) -> None:
        """These are no members from now on, and nobody else is kept out."""
        self.blocked = peers
        for peer in peers:
            if self.find(peer) is not None:
                self._drop(peer)

    def suspect(self, peer: NodeId, since: float) -> None:
        """It has not answered since then (steady), or refused a connection: not live until a later heartbeat."""
        if self.find(peer) is not None:
            self._suspected[peer] = since
            self.version += 1
            self.told += 1

    def _window_s(self, prefix: int, now: Now) -> float:
        """For how long a heartbeat of this author is a sign of life."""
        block = self._judged_near(now)
        return LIVE_S if block.first <= prefix <= block.last else FAR_LIVE_S

    def _judged_near(self, now: Now) -> IdRange:
        """Who is judged as near; see SETTLE_S."""
        return self.near if now.steady >= self._settled_at else self._judged

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
        self.lines.drop(peer)
        known = self._near.pop(peer, None) or self._far.pop(peer)
        if known.opened.heartbeat.member:
            self._enlist(peer, member=False)
        self._suspected.pop(peer, None)
        self.seniority.forget(peer)

    def _enlist(self, peer: NodeId, *, member: bool) -> None:
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
        block = block_of(self._sorted, self.own)
        if block != self.near:
            judged = self.near if self._at >= self._settled_at else self._judged
            self._judged = min(judged, block, key=lambda b: b.width)  # one of them is inside the other
            self._settled_at = self._at + SETTLE_S
            self.near = block
            self._part()
            self.told += 1

    def _part(self) -> None:
        """Tell near peers from far ones, all of them."""
        first, last = self.near
        all_known = [*self._far.items(), *self._near.items()]
        self._near = {peer: known for peer, known in all_known if first <= known.opened.prefix <= last}
        self._far = {peer: known for peer, known in all_known if not first <= known.opened.prefix <= last}


def _dated(opened: VerifiedHeartbeat, old: KnownPeer | None, now: Now, direct: bool) -> tuple[float, float, float]:
    """When a heartbeat was sent, the author's base, how late it came; see the module docstring."""
    sent_at = opened.heartbeat.sent_at
    delay = now.steady - sent_at
    if old is None and not direct:  # no measure but the wall clocks: believe them for this once
        age = max(0.0, now.wall - sent_at)
        return now.steady - age, delay - min(age, INTERVAL_S), age
    if old is None:
        return now.steady, delay, 0.0
    base = old.base + DRIFT_S
    if delay < base:
        base = delay
    late_s = delay - base
    if late_s > INTERVAL_S and (direct or min(late_s, old.late_s) > SET_BACK_S):  # the author's clock was set back
        base = delay
    return now.steady - (delay - base), base, late_s


def _stands_elsewhere(a: Heartbeat, b: Heartbeat) -> bool:
    """Whether what decides beside whom a member keeps copies (diversity.py) changed."""
    return a.operator != b.operator or (a.endpoints != b.endpoints and _prefixes(a) != _prefixes(b))


def _prefixes(beat: Heartbeat) -> list[bytes]:
    """Of its addresses, which may come and go inside them."""
    return [host[:3] if len(host) == 4 else host[:6] for host, _, _ in beat.endpoints]


def _differs(old: VerifiedHeartbeat, new: VerifiedHeartbeat) -> bool:
    """Leases are left out: they move often, and nobody acts on a peer's word about its leases."""
    a, b = old.heartbeat, new.heartbeat
    if (a.endpoints, a.ready, a.leaving) != (b.endpoints, b.ready, b.leaving):
        return True
    return (a.member, a.strategy_version, a.slot_bits) != (b.member, b.strategy_version, b.slot_bits)
