"""Admission decides which nodes are members: those that enough members have reached themselves.

Pure: what peers claim in their signed heartbeats in, who is vouched for out. A member names in its heartbeats the peers
that it has reached, each with the day since which it names it. Three names make a peer a member. Two are enough in a
network of up to 16 members that share an address family with the peer. One is enough where only a single member does.
Only the names of the 16 members count whose ids are nearest to a point that follows from the peer's id: a few liars
seldom hold three of these places. A member stays one while a single member names it.

Roots need no names: the founder for itself, the peers of the cache file, and the first contacts of the network file.
While a node joins, one name admits a peer, since few roots name three times. When the node has joined, it drops the
peers that a single node could have invented and the live peers that have too few names. In a network of two, one of
which is silent, the name that the other gives is enough.

A newcomer knows a network by names alone, so it asks which peers a single liar could have invented.

Pure: who names whom in, peers out. Where all chains of names from the starts to a peer pass through one node, that node
may have invented the peer. It may also have invented all that name the peer, however many these are. All others are
reached by two chains that share no node between (Menger 1927).
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Set

from dht.admission.attester_order import AttesterOrder
from dht.admission.inviters import NO_INVITERS, GuestLists, Inviters
from dht.admission.membership_claim import MembershipClaim, mark_of
from dht.clock import DAY_S, Now, day_of
from dht.keys import NodeId
from dht.wire.contact import Family

NEAR_ATTESTERS = 16  # members, the nearest to a peer's point, whose names for it count
ATTESTERS = 3  # names that a peer needs where more members than these 16 share an address family with it,
FEW_ATTESTERS = 2  # and where at most 16 do; fewer where fewer do
ROUNDS = 16  # in which a newcomer drops peers with too few names: a dropped peer may have named others
ROOT_LIMIT = 8192  # twice what the peer cache holds


def last_old_day(now: Now, min_age_days: int, began_at: float) -> int | None:
    """Return the newest join day (since 1970) that counts as established. Nodes that joined later are young. None: the
    network asks for no age, or it began (`began_at`, wall time) less than that ago. Nodes of that first time are as old
    as the network."""
    if not min_age_days or now.wall - began_at < min_age_days * DAY_S:
        return None
    return max(day_of(now.wall) - min_age_days - 1, day_of(began_at + min_age_days * DAY_S))


class MemberAdmission:
    """Keeps which peers of one member table are vouched for, and whether this node itself is.

    Every call that may change that returns the nodes that are vouched for now and were not before, or the reverse."""

    def __init__(self, own: NodeId) -> None:
        self.inviters = NO_INVITERS
        self.is_joining = False
        self.is_blocked = False  # this node itself, by the strategy
        self.vouched: set[NodeId] = set()  # admitted members, and bare bootstrap nodes that are roots
        self.roots: set[NodeId] = set()  # they need no names
        self._own = own
        self._claims: dict[NodeId, MembershipClaim] = {}
        self._by_mark: dict[bytes, NodeId] = {}
        self._named_by: dict[bytes, set[NodeId]] = {}  # those who name a mark and are vouched for
        self._members: Counter[frozenset[Family]] = Counter()  # admitted ones, by their families
        self._order = AttesterOrder()  # the same ones
        self.guests = GuestLists()  # of the same ones
        self.named = 0  # counts changes of whom members name, and of since when

    def is_member(self, peer: NodeId) -> bool:
        """Tell whether a node counts as a member."""
        return peer in self.vouched and self._claims[peer].member

    def may_own(self, peer: NodeId) -> bool:
        """Tell whether a node may own slots: a member that is not leaving for good."""
        return self.is_member(peer) and not self.is_leaving(peer)

    def is_leaving(self, peer: NodeId) -> bool:
        """Tell whether a node says that it leaves for good."""
        return peer in self._claims and self._claims[peer].for_good

    def is_root(self, peer: NodeId) -> bool:
        """Tell whether a peer needs nobody's word."""
        return peer in self.roots

    def is_lasting(self, peer: NodeId) -> bool:
        """Tell whether a known peer will be vouched for when this node has joined, as far as is known now."""
        return not self.is_joining or self.is_root(peer) or self.lacks(peer) <= 0

    def is_bare(self, peer: NodeId) -> bool:
        """Tell whether a node is vouched for and no member: a bare bootstrap node that is a root."""
        return peer in self.vouched and not self._claims[peer].member

    def find(self, mark: bytes) -> NodeId | None:
        """Return the node that a mark names, None where it is not known."""
        return self._by_mark.get(mark)

    def attesters(self, peer: NodeId) -> frozenset[NodeId]:
        """Return who names a peer and is vouched for."""
        return self._naming(peer, self.invited_by(peer))

    def mark(self, peer: NodeId) -> bytes:
        """Return by what attesters name a node, as far as it has said who invited it."""
        return mark_of(peer, self.invited_by(peer))

    def invited_by(self, peer: NodeId) -> bytes:
        """Return what a node has said of its invitation; b"" where it has none, or nothing is known of it."""
        return self._claims[peer].invited_by if peer in self._claims else b""

    def wanted(self, peer: NodeId, families: Iterable[Family]) -> int:
        """Return how many names a peer with addresses of these families needs to become a member."""
        shared = self._shared(peer, families)
        return ATTESTERS if shared > NEAR_ATTESTERS else max(1, min(FEW_ATTESTERS, shared))

    def lacks(self, peer: NodeId) -> int:
        """Return how many names a node lacks; less than 0 where it has more than it needs."""
        claim = self._claims.get(peer)
        if claim is None:
            return 1
        return self.wanted(peer, claim.families) - len(self._counting(peer, claim, NEAR_ATTESTERS))

    def first_day(self, peer: NodeId) -> int | None:
        """Return the day (since 1970) since which a node has the names that it needs; None where it lacks some. Twice
        as many members count as for its admission, so that nobody is younger because others came."""
        claim = self._claims.get(peer)
        if claim is None:
            return None
        mark = mark_of(peer, claim.invited_by)
        named_by = self._counting(peer, claim, 2 * NEAR_ATTESTERS)
        days = sorted(day for each in named_by if (day := self._claims[each].days.get(mark)))
        wanted = self.wanted(peer, claim.families)
        return days[wanted - 1] if len(days) >= wanted else None

    def nearest_members(self, peer: NodeId, families: frozenset[Family], count: int = NEAR_ATTESTERS) -> list[NodeId]:
        """Return the members that share a family of address with a peer and are nearest to its point."""
        return self._order.nearest(peer, count, lambda each: not self._claims[each].families.isdisjoint(families))

    def _shared(self, peer: NodeId, families: Iterable[Family]) -> int:
        shared = sum(count for has, count in self._members.items() if not has.isdisjoint(families))
        return shared - (self.is_member(peer) and not self._claims[peer].families.isdisjoint(families))

    def _counting(self, peer: NodeId, claim: MembershipClaim, among: int) -> Collection[NodeId]:
        """The members that name a peer with this claim and are near enough to count."""
        found = self._naming(peer, claim.invited_by)
        if len(found) < FEW_ATTESTERS or self._shared(peer, claim.families) <= NEAR_ATTESTERS:
            return found
        return [each for each in self.nearest_members(peer, claim.families, among) if each in found]

    def _naming(self, peer: NodeId, invited_by: bytes) -> frozenset[NodeId]:
        return frozenset(self._named_by.get(mark_of(peer, invited_by), ())) - {peer}

    def would_vouch(self, peer: NodeId, claim: MembershipClaim) -> bool:
        """Tell whether a peer with this claim is vouched for."""
        if self._is_revoked(claim) or (peer == self._own and self.is_blocked):
            return False
        if peer in self.roots:
            return True
        if not claim.member:
            return False
        if peer not in self.vouched and not (self.is_joining and peer != self._own):
            counting = self._counting(peer, claim, NEAR_ATTESTERS)
            return len(counting) >= self.wanted(peer, claim.families)
        is_last = peer == self._own and self._members.total() <= 1  # of its network
        return is_last or bool(self._naming(peer, claim.invited_by))

    def is_one_too_many(self, peer: NodeId, invited_by: bytes, today: int) -> bool:
        """Tell whether others have used up an invitation, as inviters.py says."""
        if not self.inviters.are_needed:
            return False
        return self.guests.is_one_too_many(peer, invited_by, lambda each: self.first_day(each) or today)

    def _is_revoked(self, claim: MembershipClaim) -> bool:
        return self.inviters.has_revoked(claim.invited_by)

    def hear(self, peer: NodeId, claim: MembershipClaim) -> list[NodeId]:
        """Take what a node says now."""
        own_mark = mark_of(peer, claim.invited_by)
        old = self._claims.get(peer)
        if own_mark in claim.names:
            claim = claim._replace(names=claim.names - {own_mark})
        if old is not None and old.invited_by != claim.invited_by:
            self._unmark(peer, old)
            if old.invited_by:  # it would be a way around what is revoked
                self.roots.discard(peer)
        self._claims[peer], self._by_mark[own_mark] = claim, peer
        if old is None or peer not in self.vouched:
            return self._settle([peer])
        self._count(peer, old, -1)
        self._count(peer, claim, 1)
        self.named += old.days != claim.days
        changed = self._settle([peer, *self._name(peer, old.names, claim.names)])
        stays = (old.member, old.for_good) == (claim.member, claim.for_good)
        return changed if stays else list(dict.fromkeys([*changed, peer]))

    def forget(self, peer: NodeId) -> list[NodeId]:
        """Drop what a node said."""
        claim = self._claims.get(peer)
        if claim is None:
            return []
        touched = self._expel(peer) if peer in self.vouched else []
        self._unmark(peer, claim)
        del self._claims[peer]
        return self._settle(touched)

    def _unmark(self, peer: NodeId, claim: MembershipClaim) -> None:
        mark = mark_of(peer, claim.invited_by)
        if self._by_mark.get(mark) == peer:
            del self._by_mark[mark]

    def trust(self, peers: Iterable[NodeId]) -> list[NodeId]:
        """Take peers as roots, for good."""
        new = [peer for peer in peers if peer not in self.roots][: max(0, ROOT_LIMIT - len(self.roots))]
        self.roots.update(new)
        return self._settle(new)

    def follow(self, inviters: Inviters) -> list[NodeId]:
        """Go by who may invite from now on."""
        self.inviters = inviters
        self.roots -= {peer for peer in self.roots & self._claims.keys() if self._is_revoked(self._claims[peer])}
        return self._settle(list(self._claims))

    def block_own(self, is_blocked: bool) -> list[NodeId]:
        """Take this node for no member whatever speaks for it, or not any more."""
        self.is_blocked = is_blocked
        return self._settle([self._own])

    def end_join(self, is_live: Callable[[NodeId], bool]) -> list[NodeId]:
        """Ask of members from now on what others ask. Drop the peers that a single node could have invented, and the
        live ones that have too few names."""
        self.is_joining = False
        invented = self._invented()
        for peer in invented:
            self._expel(peer)
        changed = dict.fromkeys([*invented, *self._settle(list(self._claims))])
        for _ in range(ROUNDS):
            weak = sorted(peer for peer in self.vouched if self._is_weak(peer) and is_live(peer))
            if not weak:
                break
            touched = [each for peer in weak for each in self._expel(peer)]
            changed |= dict.fromkeys([*weak, *self._settle(touched)])
        return list(changed)

    def _invented(self) -> list[NodeId]:
        """Return the peers that a single node could have invented; none where that may be so of this node itself, since
        its roots name few. Names of a single root that is a member have to be believed, and those of bare bootstrap
        nodes where no root is a member."""
        roots = (self.roots & self.vouched) - {self._own}
        members = {peer for peer in roots if self.is_member(peer)}
        believed = (members or roots) if len(members) <= 1 else set[NodeId]()
        names = {peer: self._named_peers(peer) for peer in {*self.vouched, self._own} & self._claims.keys()}
        starts = roots.union(*(names[each] for each in believed))
        if self._own in cut_off_by_one(names, starts):
            return []
        return sorted(cut_off_by_one(names, {*starts, self._own}) - roots)

    def _named_peers(self, peer: NodeId) -> list[NodeId]:
        return [self._by_mark[mark] for mark in self._claims[peer].names if mark in self._by_mark]

    def admit_beside_silent(self, waiting: Iterable[NodeId], is_live: Callable[[NodeId], bool]) -> list[NodeId]:
        """In a network of two, one of which is silent, admit this node or the first waiting peer that the other one
        names."""
        pair = [peer for peer in self.vouched if self.is_member(peer)] if self._members.total() == 2 else []
        if self.is_blocked or len(live := [peer for peer in pair if is_live(peer)]) != 1:
            return []
        for peer in (self._own, *(waiting if self.is_member(self._own) else ())):
            claim = self._claims.get(peer)
            if claim is None or peer in self.vouched or not claim.member or self._is_revoked(claim):
                continue
            if live[0] in self._naming(peer, claim.invited_by):
                return [peer, *self._settle(self._admit(peer))]
        return []

    def _is_weak(self, peer: NodeId) -> bool:
        may_lack = peer in self.roots or peer == self._own or not self._claims[peer].member
        return not may_lack and self.lacks(peer) > 0

    def _settle(self, queue: list[NodeId]) -> list[NodeId]:
        """Look at these again, and at all whom that concerns: each admission may admit others."""
        changed: dict[NodeId, None] = {}
        while queue:
            peer = queue.pop()
            claim = self._claims.get(peer)
            if claim is None or (is_vouched := self.would_vouch(peer, claim)) == (peer in self.vouched):
                continue
            changed[peer] = None
            queue += self._admit(peer) if is_vouched else self._expel(peer)
        return list(changed)

    def _admit(self, peer: NodeId) -> list[NodeId]:
        claim = self._claims[peer]
        self.vouched.add(peer)
        self._count(peer, claim, 1)
        return self._name(peer, frozenset(), claim.names)

    def _expel(self, peer: NodeId) -> list[NodeId]:
        claim = self._claims[peer]
        self.vouched.discard(peer)
        self._count(peer, claim, -1)
        touched = self._name(peer, claim.names, frozenset())
        if self._members.total() <= FEW_ATTESTERS + 1:  # fewer names may do for those who wait
            touched += [each for each in self._claims if each not in self.vouched and self.attesters(each)]
        return touched

    def _name(self, peer: NodeId, before: frozenset[bytes], now: frozenset[bytes]) -> list[NodeId]:
        """Take other names of a peer that is vouched for; return whom they are about."""
        self.named += before != now
        for mark in before - now:
            self._named_by[mark].discard(peer)
            if not self._named_by[mark]:
                del self._named_by[mark]
        for mark in now - before:
            self._named_by.setdefault(mark, set()).add(peer)
        return [self._by_mark[mark] for mark in sorted(before ^ now) if mark in self._by_mark]

    def _count(self, peer: NodeId, claim: MembershipClaim, by: int) -> None:
        if not claim.member:
            return
        self._members[claim.families] += by
        if by > 0:
            self._order.add(peer)
            self.guests.add(peer, claim.invited_by)
        else:
            self._order.drop(peer)
            self.guests.drop(peer, claim.invited_by)


def cut_off_by_one(names: Mapping[NodeId, Collection[NodeId]], starts: Set[NodeId]) -> set[NodeId]:
    """Return the peers of `names` that one node cuts off from the starts, and those that no chain reaches. `names`:
    each peer, with the peers that it names."""
    safe = set(starts)
    while True:
        found = _two_chains_lead_to(names, safe)
        if not found:
            return names.keys() - safe
        safe |= found


def _two_chains_lead_to(names: Mapping[NodeId, Collection[NodeId]], safe: Set[NodeId]) -> set[NodeId]:
    """Return the peers where chains of names from two different safe nodes meet first. `names`: the peers that each
    node names. No single node can be on both chains, so no single node can have invented such a peer."""
    origin, queue, found = {each: each for each in safe}, list(safe), set[NodeId]()
    for namer in queue:
        for peer in names.get(namer, ()):
            if peer not in origin:
                origin[peer] = origin[namer]
                queue.append(peer)
            elif peer not in safe and origin[peer] != origin[namer]:
                found.add(peer)
    return found
