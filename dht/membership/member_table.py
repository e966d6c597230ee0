"""The member table holds each peer's newest heartbeat.

Pure: heartbeats and `now` in, answers out. Heartbeats of near peers (neighbourhood.py) come every ten seconds. Those of
far peers come when their standing changed, and else every ten minutes or so. known_peer.py says when a heartbeat was
sent and what it changes, liveness.py which peers live, member_admission.py which are vouched for. All others wait.
"""

from collections.abc import Iterable, Iterator, Mapping

from dht.admission.inviters import NO_INVITERS, Inviters
from dht.admission.member_admission import MemberAdmission
from dht.admission.membership_claim import MembershipClaim, claim_of
from dht.admission.neighbourhood import IdRange
from dht.clock import Now
from dht.identity.puzzle import work_of
from dht.keys import NodeId, distance
from dht.membership.digest_index import DigestIndex
from dht.membership.known_peer import KnownPeer, News, changed_domains, date_heartbeat, is_news
from dht.membership.liveness import GraceClock, Liveness
from dht.membership.peer_pools import MemberOrder, PeerPools, WaitingPeers
from dht.membership.vanished_members import VanishedMembers
from dht.wire.address_policy import AddressPolicy
from dht.wire.heartbeat import VerifiedHeartbeat

JOIN_S = 60.0  # in which a newcomer hears of all that are there
MEMBER_LIMIT = 4096  # 1 MB of heartbeats; networks beyond that know their neighbourhood
ADMIT_S = 2.0  # between two looks at the peers that wait beside a silent member


class MemberTable:
    """Keeps the newest valid heartbeat of each node but this one, of 4,096 nodes at most."""

    def __init__(self, own: NodeId, *, own_member: bool = True, limit: int = MEMBER_LIMIT) -> None:
        self.own = own
        self.vanished = VanishedMembers()
        self.admission = MemberAdmission(own)
        self._own_claim = MembershipClaim(own_member, frozenset())
        self._limit = limit
        self.pools = PeerPools()  # of the peers that are vouched for
        self.find = self.pools.find  # what is known of a peer that is vouched for: asked ten times a packet
        self.waiting = WaitingPeers(lambda peer: bool(self.admission.attesters(peer)))
        self.digest_index = DigestIndex()  # of all, waiting ones too: nobody need tell us of them again
        self._order = MemberOrder()
        self.blocked: frozenset[NodeId] = frozenset()  # by the strategy: not taken, whoever brings them
        self.gone: Mapping[NodeId, float] = {}  # by the strategy: what they sent until then (wall time) is not taken
        self._now = Now(float("-inf"), float("-inf"))  # the last time that we were told
        self._join_ends, self._admit_at = float("inf"), float("-inf")
        self.liveness, self.graces = Liveness(), GraceClock()
        self.epoch = 0  # counts changes of `members`; owners are cached by it
        self.told = 0  # counts changes of `version`, and of what peers say that they lease
        self.version = 0  # counts changes of any peer's being there, or of what News.CHANGED means
        self.claim_own(self._own_claim)
        self.epoch = self.told = self.version = 0

    def add(self, opened: VerifiedHeartbeat, now: Now, *, direct: bool = False) -> News:
        """Take a verified heartbeat. `direct`: its author sent it just now."""
        self._now = now
        peer = opened.contact.node_id
        old = self.find(peer)
        if old is None:
            return self._add_new(peer, opened, now, direct)
        was = old.opened
        if opened.sequence <= was.sequence:
            return News.OLD
        if was.heartbeat.for_good and not opened.heartbeat.for_good:  # it left, and comes as a newcomer
            self._drop(peer)
            return self._add_new(peer, opened, now, direct)
        is_live, says_same = self.liveness.is_live(peer, old, now), opened.claims == was.claims
        news = News.SAME if is_live and (says_same or not is_news(was, opened)) else News.CHANGED
        turned = opened.sequence if news is News.CHANGED else old.turned
        known = KnownPeer(opened, *date_heartbeat(opened, old, now, direct), turned)
        self.digest_index.change(peer, opened.line, known.sent_steady)
        self.pools.renew(peer, known)
        if not (is_live and says_same and known.sent_steady >= old.sent_steady):  # nearly all are no more than that
            self._apply(peer, known, old, news)
        return news

    def add_all(self, heartbeats: Iterable[VerifiedHeartbeat], now: Now) -> list[NodeId]:
        """Take many verified heartbeats that were kept, as after a start: `add` of each, and in empty or roomy tables
        much faster. Their authors were vouched for, and are. Returns who was not known before."""
        newest: dict[NodeId, VerifiedHeartbeat] = {}
        for opened in heartbeats:
            peer = opened.contact.node_id
            if peer not in newest or newest[peer].sequence < opened.sequence:
                newest[peer] = opened
        self._now = now
        self._stand(self.admission.trust(newest))
        newest = {peer: opened for peer, opened in newest.items() if not self.is_gone(opened)}
        new = {peer: opened for peer, opened in newest.items() if self.find(peer) is None}
        if len(new) < len(newest) or len(self) + len(new) > self._limit or len(self.waiting):
            return [peer for peer, opened in newest.items() if self.add(opened, now) is News.NEW]
        for peer in (self.own, *self.blocked):
            new.pop(peer, None)
        known = {peer: KnownPeer(opened, *date_heartbeat(opened, None, now, False), 0) for peer, opened in new.items()}
        self._add_all_new(known, now)
        return list(known)

    def _add_all_new(self, known: dict[NodeId, KnownPeer], now: Now) -> None:
        """Peers of whom nothing was known before, for all of whom there is room."""
        self.digest_index.add_all((peer, each.opened.line, each.sent_steady) for peer, each in known.items())
        for peer in known:
            self.vanished.found(peer)
        self.pools.put_all(known)
        for each in known.values():
            self.graces.heard(each)
        changed = [other for peer, each in known.items() for other in self.admission.hear(peer, claim_of(each.opened))]
        self._stand(dict.fromkeys(changed))
        self.version += len(known)
        self.told += len(known)
        self._regroup()
        self.pools.divide(self.near)

    def _add_new(self, peer: NodeId, opened: VerifiedHeartbeat, now: Now, direct: bool) -> News:
        """Take the first heartbeat of a peer, or one of a peer that waits to be admitted."""
        held = self.waiting.find(peer)
        if self.is_gone(opened):
            return News.OLD
        if peer == self.own or peer in self.blocked or (held is not None and opened.sequence <= held.opened.sequence):
            return News.OLD
        known, claim = KnownPeer(opened, *date_heartbeat(opened, held, now, direct), 0), claim_of(opened)
        if self.vanished.has(peer):
            self.admission.trust([peer])
        if not self.admission.would_vouch(peer, claim):
            self._wait(peer, known, claim, held)
            return News.OLD
        if not self._make_room(peer, now):
            return News.OLD
        if held is not None:
            self._forget_waiting(peer)
        self.digest_index.add(peer, opened.line, known.sent_steady)
        self._take_in(peer, known)
        self._apply(peer, known, None, News.NEW)
        return News.NEW

    def _take_in(self, peer: NodeId, known: KnownPeer) -> None:
        """Know a peer from now on."""
        self.vanished.found(peer)
        self.pools.put(peer, known)
        self.graces.heard(known)

    def _apply(self, peer: NodeId, known: KnownPeer, old: KnownPeer | None, news: News) -> None:
        """Follow a heartbeat that differs from the one before."""
        beat, was = known.opened.heartbeat, old.opened.heartbeat if old is not None else None
        self.liveness.heard(peer, known.sent_steady)
        self.graces.heard(known)
        epoch, claim = self.epoch, claim_of(known.opened)
        if old is None or claim != claim_of(old.opened):
            self._stand(self.admission.hear(peer, claim))
        if was is not None and beat.member and self.epoch == epoch and changed_domains(was, beat):
            self.epoch += 1
        self.version += news is not News.SAME
        self.told += news is not News.SAME or (was is not None and was.leased != beat.leased and self.is_near(peer))

    def _wait(self, peer: NodeId, known: KnownPeer, claim: MembershipClaim, held: KnownPeer | None) -> None:
        """Keep the heartbeat of a peer that is not vouched for, if there is room."""
        if held is None:
            self.digest_index.add(peer, known.opened.line, known.sent_steady)
        else:
            self.digest_index.change(peer, known.opened.line, known.sent_steady)
        self.admission.hear(peer, claim)
        for each in self.waiting.put(peer, known, self._now.steady):
            self._forget_waiting(each)

    def _forget_waiting(self, peer: NodeId) -> None:
        self.waiting.take(peer)
        self.digest_index.drop(peer)
        self._stand(self.admission.forget(peer))

    def _stand(self, changed: Iterable[NodeId]) -> None:
        """Follow a change of whom is vouched for, and so of who is a member."""
        moved = False
        for peer in changed:
            is_vouched = peer in self.admission.vouched
            moved |= self._order.set(peer, is_member=self.admission.may_own(peer))
            if is_vouched and (known := self.waiting.admit(peer)) is not None:
                self._take_in(peer, known)
            elif not is_vouched and (out := self.pools.take(peer)) is not None:
                self.liveness.forget(peer)
                for each in self.waiting.put(peer, out, self._now.steady):
                    self._forget_waiting(each)
            else:
                continue
            self.version += 1
            self.told += 1
        if moved:
            self.told += 1
            self._regroup()

    def claim_own(self, claim: MembershipClaim) -> None:
        """Take what this node says of itself."""
        self._own_claim = claim
        self._stand(self.admission.hear(self.own, claim))

    def leavers(self, now: Now) -> tuple[NodeId, ...]:
        """Return the live members that are leaving for good, sorted: they own nothing and serve what they have yet to
        hand over. This node may be one."""
        live = (peer for peer, known in self.known() if known.opened.heartbeat.for_good and self.is_live(peer, now))
        own = [self.own] if self._own_claim.for_good else []
        return tuple(sorted([*own, *filter(self.admission.is_member, live)]))

    def take_part(self, own_member: bool) -> None:
        """Count this node among those who say that they are members, or do not from now on."""
        if own_member != self._own_claim.member:
            self.claim_own(self._own_claim._replace(member=own_member))

    def trust(self, peers: Iterable[NodeId]) -> None:
        """Take these as roots: nobody else need vouch for them. A node that knew nobody joins from now on; one that
        joins waits for what a new root will say of others, which may be new itself."""
        knew_nobody, new = not len(self), [peer for peer in peers if not self.admission.is_root(peer)]
        self._stand(self.admission.trust(new))
        if (knew_nobody and len(self)) or (new and self.admission.is_joining):
            self._begin_join()

    def prolong_join(self) -> None:
        """Have a node that joins do so for JOIN_S from now on: by a wrong clock it heard nobody."""
        if self.admission.is_joining:
            self._begin_join()

    def _begin_join(self) -> None:
        self.admission.is_joining, self._join_ends = True, self._now.steady + JOIN_S

    def follow(self, policy: AddressPolicy, inviters: Inviters = NO_INVITERS) -> None:
        """Go by these declared prefixes and inviters from now on."""
        self.waiting.policy = policy
        self._stand(self.admission.follow(inviters))

    @property
    def near(self) -> IdRange:
        """This node's neighbourhood."""
        return self.pools.block

    def known(self) -> Iterator[tuple[NodeId, KnownPeer]]:
        """Return every peer, near ones and then far ones, those heard of last first; bare bootstrap nodes too."""
        return self.pools.items()

    def __len__(self) -> int:
        return len(self.pools)

    def members(self, now: Now) -> tuple[NodeId, ...]:
        """Return the nodes that may own slots, sorted: those whose heartbeat is within its grace, and this node if it
        is one."""
        self.expire(now)
        return self._order.all()

    def forget_unproven(self, puzzle_bits: int, before: int) -> None:
        """Forget the peers whose identities have less work behind them than these bits; `before`: what all have."""
        for peer, known in (*self.known(), *self.waiting.items()) if puzzle_bits > before else ():
            if work_of(known.opened.heartbeat.public_key, known.opened.heartbeat.nonce) < puzzle_bits:
                self._drop(peer)

    def neighbourhood_of(self, point: bytes) -> IdRange:
        """Return the neighbourhood of a peer, or of any point."""
        return self._order.neighbourhood_of(point)

    def is_near(self, peer: bytes) -> bool:
        """Tell whether a peer is of this node's neighbourhood."""
        return self.near.has(peer)

    def expire(self, now: Now) -> None:
        """Forget the peers that have been silent for longer than their grace; they are `vanished`."""
        self._now = now
        if now.steady >= self._join_ends:
            self._join_ends = float("inf")
            self._stand(self.admission.end_join(lambda peer: self.is_live(peer, now)))
        for peer in self.waiting.overdue(now.steady):
            self._forget_waiting(peer)
        if now.steady >= self._admit_at:
            self._admit_at = now.steady + ADMIT_S
            waiting = [peer for peer, _ in self.waiting.items()]
            self._stand(self.admission.admit_beside_silent(waiting, lambda peer: self.is_live(peer, now)))
        for peer, known in self.graces.take_overdue(self.known(), now):
            self.vanished.lose(known.opened, self.admission.first_day(peer), self.admission.first_day(self.own))
            self._drop(peer)

    def is_live(self, peer: NodeId, now: Now) -> bool:
        """Tell whether a peer lives, as liveness.py judges it; this node always does."""
        known = self.find(peer)
        return self.liveness.is_live(peer, known, now) if known is not None else peer == self.own

    def live(self, now: Now) -> tuple[list[tuple[NodeId, VerifiedHeartbeat]], float]:
        """Return all live peers but this node, with what they said last, and until when they stay so. Until that steady
        time none of them ceases to be live, whatever is heard; nobody joins them before `version` changes."""
        found, until = self.liveness.live_of(self.known(), now)
        return [(peer, known.opened) for peer, known in found], until

    def block(self, peers: frozenset[NodeId]) -> None:
        """Keep these peers out from now on, and nobody else."""
        self.blocked = peers
        self._stand(self.admission.block_own(self.own in peers))
        for peer in peers:
            self.vanished.found(peer)
            self._drop(peer)

    def is_gone(self, opened: VerifiedHeartbeat) -> bool:
        """Tell whether the strategy says that a heartbeat's author has gone for good since it was sent."""
        return opened.heartbeat.sent_at <= self.gone.get(opened.contact.node_id, float("-inf"))

    def put_out(self, gone: Mapping[NodeId, float]) -> None:
        """Forget these peers, and refuse what they sent until an instant (wall time): one that lives is a newcomer."""
        new, self.gone = gone.items() - self.gone.items(), gone
        for peer, _ in sorted(new):
            self.vanished.found(peer)
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
        if self.waiting.find(peer) is not None:
            self._forget_waiting(peer)
        if self.pools.take(peer) is None:
            return
        self.version += 1
        self.told += 1
        self.digest_index.drop(peer)
        self.liveness.forget(peer)
        self._stand([peer, *self.admission.forget(peer)])

    def _regroup(self) -> None:
        """Others are members now: who is near?"""
        self.epoch += 1
        block = self._order.neighbourhood_of(self.own)
        if block != self.near:
            self.liveness.move(block, self._now.steady)
            self.pools.divide(block)
            self.told += 1
