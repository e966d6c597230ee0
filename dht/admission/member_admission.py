"""Admission says who is a member: in an attested network only those whom enough members have reached themselves.

Pure: what peers claim in their signed heartbeats in, who is vouched for out. An attester names in its own heartbeat the
peers that it has reached. A peer is admitted once three admitted members name it, or as many as share a family with it
where those are fewer; from then on it stays while one of them does. The last name may be missing where a silent member
alone could give it: three friends of whom one is away can let in a fourth. In networks of more than 16 members five
must, and only the 16 count whose ids are nearest to a point that follows from the peer's id: a few members that lie
cannot admit whom they please. In networks of more than 80 so must two of the five nearest to the point of its /24 or
/48, who hear of all that come from there. With a name goes the day since which its giver knows the peer: everybody
agrees on its age.

The roots need nobody: the founder for itself, and whom a node has other reasons to trust (its peer cache, the first
contacts of its network file). A newcomer hears of a whole network at once, and three names cannot be had from one
root: while it joins, one name is enough, and when it has joined it drops whom a few liars may have made up, and live
ones that have fewer names than the others, unless only one that is silent could give the last of them. An open network
admits whoever says that it is a member.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from functools import partial

from dht.admission.attester_order import AttesterOrder
from dht.admission.guest_lists import GuestLists
from dht.admission.inviters import NO_INVITERS, Inviters
from dht.admission.joined_words import JoinedWords
from dht.admission.membership_claim import MembershipClaim, mark_of
from dht.admission.neighbourhood import SMALL_NETWORK
from dht.keys import NodeId
from dht.wire.contact import Family

ATTESTERS = 3  # names that a peer needs where so many members can reach it
NEAR_ATTESTERS = 16  # where more can, only the names of so many count, the nearest to the peer's point,
NEAR_NAMES = 5  # and it needs so many: of 10,000 identities less than one, where two members of a hundred lie
BLOCK_ATTESTERS = 5  # in a large network, the members nearest to the point of a peer's /24 or /48,
BLOCK_NAMES = 2  # and it needs so many of theirs, too: they name few of one block (block_crowd.py)
ROUNDS = 16  # in which a newcomer drops whom too few name: who goes may have named others
ROOT_LIMIT = 8192  # twice what the peer cache holds


class MemberAdmission:
    """Says which of the peers of one member table, and whether this node itself, are vouched for.

    Every call that may change that returns whose standing changed."""

    def __init__(self, own: NodeId) -> None:
        self.is_attested = False  # else the network is open
        self.inviters = NO_INVITERS
        self.is_joining = False
        self.is_blocked = False  # this node itself, by the strategy
        self.vouched: set[NodeId] = set()  # admitted members, and bare bootstrap nodes that are roots
        self._own = own
        self._roots: set[NodeId] = set()
        self._claims: dict[NodeId, MembershipClaim] = {}
        self._by_mark: dict[bytes, NodeId] = {}
        self._named_by: dict[bytes, set[NodeId]] = {}  # those who name a mark and are vouched for
        self._members: Counter[frozenset[Family]] = Counter()  # admitted ones, by their families
        self._order = AttesterOrder()  # the same ones
        self.guests = GuestLists()  # of the same ones
        self._swept: set[NodeId] = set()  # who was weak at the last sweep
        self.named = 0  # counts changes of whom members name, and of since when

    def is_member(self, peer: NodeId) -> bool:
        """Tell whether a node counts as a member."""
        return peer in self.vouched and self._claims[peer].member

    def may_own(self, peer: NodeId) -> bool:
        """Tell whether a node may own slots: a member that is not leaving for good."""
        return self.is_member(peer) and not self._claims[peer].for_good

    def is_root(self, peer: NodeId) -> bool:
        """Tell whether a peer needs nobody's word."""
        return peer in self._roots

    def is_lasting(self, peer: NodeId) -> bool:
        """Tell whether a known peer will be vouched for when this node has joined, as far as is known now."""
        return not (self.is_attested and self.is_joining) or self.is_root(peer) or self.lacks(peer) <= 0

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
        return NEAR_NAMES if shared > NEAR_ATTESTERS else max(1, min(ATTESTERS, shared))

    def lacks(self, peer: NodeId) -> int:
        """Return how many names a node lacks; less than 0 where it has more than it needs."""
        claim = self._claims.get(peer)
        return 1 if claim is None else max(self._lacks_near(peer, claim), self._lacks_of_block(peer, claim))

    def needs(self, peer: NodeId, attester: NodeId) -> bool:
        """Tell whether a member would lack names without that of one attester, by its id or by its block."""
        claim = self._claims[peer]
        counts = self._lacks_of_block(peer, claim) >= 0 and attester in self.nearest_members(
            claim.block, claim.families, BLOCK_ATTESTERS
        )
        return counts or self._lacks_near(peer, claim) >= 0

    def is_counted(self, peer: NodeId, claim: MembershipClaim) -> bool:
        """Tell whether a peer with this claim has the names that it needs of those who count the members of its
        block."""
        return self._lacks_of_block(peer, claim) <= 0

    def first_day(self, peer: NodeId) -> int | None:
        """Return the day (since 1970) since which a node has the names that it needs; None where it lacks some. Twice
        as many members count as for its admission, so that nobody is younger because others came."""
        if peer not in self._claims:
            return None
        claim, mark = self._claims[peer], self.mark(peer)
        named_by = self._counting(peer, claim, 2 * NEAR_ATTESTERS)
        days = sorted(day for each in named_by if (day := self._claims[each].days.get(mark)))
        wanted = self.wanted(peer, claim.families)
        return days[wanted - 1] if len(days) >= wanted else None

    def nearest_members(self, subject: bytes, families: frozenset[Family], count: int = NEAR_ATTESTERS) -> list[NodeId]:
        """Return the members whose part it is to attest who has addresses of these families, by its id or its block."""
        return self._order.nearest(subject, count, lambda each: not self._claims[each].families.isdisjoint(families))

    def _shared(self, peer: NodeId, families: Iterable[Family]) -> int:
        shared = sum(count for has, count in self._members.items() if not has.isdisjoint(families))
        return shared - (self.is_member(peer) and not self._claims[peer].families.isdisjoint(families))

    def _lacks_near(self, peer: NodeId, claim: MembershipClaim) -> int:
        return self.wanted(peer, claim.families) - len(self._counting(peer, claim, NEAR_ATTESTERS))

    def _lacks_of_block(self, peer: NodeId, claim: MembershipClaim) -> int:
        """How many names a node lacks of those who count the members of its block; in a small network none do."""
        if not claim.block or len(self._order) <= SMALL_NETWORK:
            return -NEAR_ATTESTERS
        named_by = self._naming(peer, claim.invited_by)
        counting = (each in named_by for each in self.nearest_members(claim.block, claim.families, BLOCK_ATTESTERS))
        return BLOCK_NAMES - sum(counting)

    def _counting(self, peer: NodeId, claim: MembershipClaim, among: int) -> Collection[NodeId]:
        """Who names a peer with this claim and is near enough to count."""
        found = self._naming(peer, claim.invited_by)
        if len(found) < ATTESTERS or self._shared(peer, claim.families) <= NEAR_ATTESTERS:
            return found
        return [each for each in self.nearest_members(peer, claim.families, among) if each in found]

    def _naming(self, peer: NodeId, invited_by: bytes) -> frozenset[NodeId]:
        return frozenset(self._named_by.get(mark_of(peer, invited_by), ())) - {peer}

    def would_vouch(self, peer: NodeId, claim: MembershipClaim) -> bool:
        """Tell whether a peer with this claim is vouched for."""
        if self._is_revoked(claim) or (peer == self._own and self.is_blocked):
            return False
        if not self.is_attested or peer in self._roots:
            return True
        if not claim.member:
            return False
        if peer not in self.vouched and not (self.is_joining and peer != self._own):
            return max(self._lacks_near(peer, claim), self._lacks_of_block(peer, claim)) <= 0
        is_last = peer == self._own and self._members.total() <= 1  # of its network
        return is_last or bool(self._naming(peer, claim.invited_by))

    def is_one_too_many(self, peer: NodeId, invited_by: bytes, today: int) -> bool:
        """Tell whether others have used up an invitation, as guest_lists.py says."""
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
                self._roots.discard(peer)
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
        new = [peer for peer in peers if peer not in self._roots][: max(0, ROOT_LIMIT - len(self._roots))]
        self._roots.update(new)
        return self._settle(new)

    def follow(self, is_attested: bool, inviters: Inviters = NO_INVITERS) -> list[NodeId]:
        """Go by the rules of an attested network, or of an open one, from now on, and by who may invite."""
        self.inviters = inviters
        self._roots -= {peer for peer in self._roots & self._claims.keys() if self._is_revoked(self._claims[peer])}
        is_turned, self.is_attested = is_attested and not self.is_attested, is_attested
        was_here = is_turned and self._own in self.vouched and self._own not in self._roots
        if was_here:  # in an open network its own word made it a member
            self._expel(self._own)
        changed = self._settle(list(self._claims))
        return [*changed, self._own] if was_here else changed

    def block_own(self, is_blocked: bool) -> list[NodeId]:
        """Take this node for no member whatever speaks for it, or not any more."""
        self.is_blocked = is_blocked
        return self._settle([self._own])

    def end_join(self, is_live: Callable[[NodeId], bool]) -> list[NodeId]:
        """Ask of members from now on what others ask, and drop whom a few liars may have made up (joined_words.py)."""
        self.is_joining = False
        words = JoinedWords(self.attesters, self.vouched, self._roots, self._own)
        alone = words.unreached(partial(self._ways_wanted, is_live), self.is_member) if self.is_attested else []
        for peer in alone:
            self._expel(peer)
        changed = dict.fromkeys([*alone, *self._settle(list(self._claims))])
        for _ in range(ROUNDS):
            weak = sorted(peer for peer in self.vouched if self._is_weak(peer) and is_live(peer))
            weak = [peer for peer in weak if not self._has_all_there_are(peer, is_live)]
            if not weak:
                break
            touched = [each for peer in weak for each in self._expel(peer)]
            changed |= dict.fromkeys([*weak, *self._settle(touched)])
        return list(changed)

    def _ways_wanted(self, is_live: Callable[[NodeId], bool], peer: NodeId) -> int:
        """How many ways of words must lead to a peer when this node has joined; two are enough for who is silent, since
        it cannot ask for others where it lost a name."""
        wanted = min(ATTESTERS, self.wanted(peer, self._claims[peer].families))
        return wanted - self._has_all_there_are(peer, is_live) if is_live(peer) else min(2, wanted)

    def admit_despite_silence(self, waiting: Iterable[NodeId], is_live: Callable[[NodeId], bool]) -> list[NodeId]:
        """Admit those of the waiting peers, and this node, who lack one name that only a silent member could give."""
        if not self.is_attested:
            return []
        changed: dict[NodeId, None] = {}
        for peer in waiting if self.is_blocked else (self._own, *waiting):
            claim = self._claims.get(peer)
            if claim is None or peer in self.vouched or not claim.member or self._is_revoked(claim):
                continue
            if self._has_all_there_are(peer, is_live) and self._lacks_of_block(peer, claim) <= 0:
                changed |= dict.fromkeys([peer, *self._settle(self._admit(peer))])
        return list(changed)

    def _has_all_there_are(self, peer: NodeId, is_live: Callable[[NodeId], bool]) -> bool:
        """Tell whether a peer lacks one name that only a silent member could give: all live members that share a family
        with it name it, two at least where there are three members. Of others a node that is no member itself cannot
        tell: those who are may let nobody in now."""
        claim, is_own = self._claims[peer], peer == self._own
        if not (is_own or self.is_member(self._own)) or self._lacks_near(peer, claim) > 1:
            return False
        named_by = self._naming(peer, claim.invited_by)
        able = [each for each in self.nearest_members(peer, claim.families) if is_live(each)]
        staying = (each for each in able if not self._is_weak(each, 1))  # the others go with this round
        least = 1 if self._members.total() <= 2 else 2
        return len(named_by) >= least and all(each in named_by for each in staying)

    def sweep(self, is_live: Callable[[NodeId], bool]) -> list[NodeId]:
        """Drop, in a large network, the live members that had hardly any names left at this sweep and the one before:
        who can be reached asks for others within seconds."""
        least = NEAR_NAMES - ATTESTERS
        weak = {peer for peer in self.vouched if self._is_weak(peer, least) and is_live(peer)}
        gone, self._swept = sorted(weak & self._swept), weak
        touched = [each for peer in gone for each in self._expel(peer)]
        return [*gone, *self._settle(touched)]

    def _is_weak(self, peer: NodeId, least: int = 0) -> bool:
        may_lack = peer in self._roots or peer == self._own or not self._claims[peer].member
        return not may_lack and self._lacks_near(peer, self._claims[peer]) > least

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
        if self._members.total() <= ATTESTERS:  # fewer names may do for those who wait
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
