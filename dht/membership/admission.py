"""Admission says who is a member: in an attested network only those whom enough members have reached themselves.

Pure: what peers claim in their signed heartbeats in, who is vouched for out. An attester names in its own heartbeat the
peers that it has reached. A peer is admitted once three admitted members name it, or as many as share a family with it
where those are fewer; from then on it stays while one of them does. The roots need nobody: the founder for itself, and
whom a node has other reasons to trust (its peer cache, the first contacts of its network file). A newcomer hears of a
whole network at once, and three names cannot be had from one root: while it joins, one name is enough, and when it has
joined it drops who has fewer than the others. An open network admits whoever says that it is a member.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from hashlib import blake2b
from typing import NamedTuple

from dht.keys import KEY_BYTES, NodeId, distance
from dht.wire.contact import Family
from dht.wire.heartbeat import MARK_BYTES, VerifiedHeartbeat

ATTESTERS = 3  # names that a peer needs where so many members can reach it
ROUNDS = 16  # in which a newcomer drops whom too few name: who goes may have named others
ROOT_LIMIT = 8192  # twice what the peer cache holds


class MembershipClaim(NamedTuple):
    """What a node says of itself that admission goes by. `names`: marks of those whom it has reached."""

    member: bool
    families: frozenset[Family]
    names: frozenset[bytes] = frozenset()


def claim_of(opened: VerifiedHeartbeat) -> MembershipClaim:
    """Read the claim of a heartbeat's author."""
    return MembershipClaim(opened.heartbeat.member, opened.families, marks_in(opened.heartbeat.attests))


def mark_of(peer: bytes) -> bytes:
    """Return the beginning of an id by which attesters name it."""
    return peer[:MARK_BYTES]


def marks_in(attests: bytes) -> frozenset[bytes]:
    """Return the marks in a heartbeat's field."""
    return frozenset(attests[start : start + MARK_BYTES] for start in range(0, len(attests), MARK_BYTES))


def nearest_attesters(subject: NodeId, peers: Collection[NodeId], count: int) -> list[NodeId]:
    """Return those of some peers whose part it is to attest a subject: neither side can choose them."""
    point = blake2b(subject, digest_size=KEY_BYTES, person=b"dse-node attest").digest()
    return sorted((peer for peer in peers if peer != subject), key=lambda peer: distance(peer, point))[:count]


class MemberAdmission:
    """Says which of the peers of one member table, and whether this node itself, are vouched for.

    Every call that may change that returns whose standing changed."""

    def __init__(self, own: NodeId) -> None:
        self.is_attested = False  # else the network is open
        self.is_joining = False
        self.vouched: set[NodeId] = set()  # admitted members, and bare bootstrap nodes that are roots
        self._own = own
        self._roots: set[NodeId] = set()
        self._claims: dict[NodeId, MembershipClaim] = {}
        self._by_mark: dict[bytes, NodeId] = {}
        self._named_by: dict[bytes, set[NodeId]] = {}  # those who name a mark and are vouched for
        self._members: Counter[frozenset[Family]] = Counter()  # admitted ones, by their families

    def is_member(self, peer: NodeId) -> bool:
        """Tell whether a node counts as a member."""
        return peer in self.vouched and self._claims[peer].member

    def is_root(self, peer: NodeId) -> bool:
        """Tell whether a peer needs nobody's word."""
        return peer in self._roots

    def is_bare(self, peer: NodeId) -> bool:
        """Tell whether a node is vouched for and no member: a bare bootstrap node that is a root."""
        return peer in self.vouched and not self._claims[peer].member

    def find(self, mark: bytes) -> NodeId | None:
        """Return the node that a mark names, None where it is not known."""
        return self._by_mark.get(mark)

    def attesters(self, peer: NodeId) -> frozenset[NodeId]:
        """Return who names a peer and is vouched for."""
        return frozenset(self._named_by.get(mark_of(peer), ())) - {peer}

    def wanted(self, peer: NodeId, families: Iterable[Family]) -> int:
        """Return how many names a peer with addresses of these families needs to become a member."""
        others = +self._members
        if self.is_member(peer):
            others[self._claims[peer].families] -= 1
        shared = sum(count for has, count in others.items() if not has.isdisjoint(families))
        return max(1, min(ATTESTERS, shared))

    def lacks(self, peer: NodeId) -> int:
        """Return how many names a node lacks; less than 0 where it has more than it needs."""
        return self.wanted(peer, self._claims[peer].families) - len(self.attesters(peer)) if peer in self._claims else 1

    def would_vouch(self, peer: NodeId, claim: MembershipClaim) -> bool:
        """Tell whether a peer with this claim is vouched for."""
        if not self.is_attested or peer in self._roots:
            return True
        if not claim.member:
            return False
        names = len(self.attesters(peer))
        if peer not in self.vouched:
            return names >= (1 if self.is_joining and peer != self._own else self.wanted(peer, claim.families))
        return names > 0 or (peer == self._own and self._members.total() <= 1)  # the last one of its network stays

    def hear(self, peer: NodeId, claim: MembershipClaim) -> list[NodeId]:
        """Take what a node says now."""
        old, claim = self._claims.get(peer), claim._replace(names=claim.names - {mark_of(peer)})
        self._claims[peer], self._by_mark[mark_of(peer)] = claim, peer
        if old is None or peer not in self.vouched:
            return self._settle([peer])
        self._count(old, -1)
        self._count(claim, 1)
        changed = self._settle([peer, *self._name(peer, old.names, claim.names)])
        return changed if old.member == claim.member else list(dict.fromkeys([*changed, peer]))

    def forget(self, peer: NodeId) -> list[NodeId]:
        """Drop what a node said."""
        claim = self._claims.get(peer)
        if claim is None:
            return []
        touched = self._expel(peer) if peer in self.vouched else []
        del self._claims[peer]
        if self._by_mark.get(mark_of(peer)) == peer:
            del self._by_mark[mark_of(peer)]
        return self._settle(touched)

    def trust(self, peers: Iterable[NodeId]) -> list[NodeId]:
        """Take peers as roots, for good."""
        new = [peer for peer in peers if peer not in self._roots][: max(0, ROOT_LIMIT - len(self._roots))]
        self._roots.update(new)
        return self._settle(new)

    def follow(self, is_attested: bool) -> list[NodeId]:
        """Go by the rules of an attested network, or of an open one, from now on."""
        is_turned, self.is_attested = is_attested and not self.is_attested, is_attested
        was_here = is_turned and self._own in self.vouched and self._own not in self._roots
        if was_here:  # in an open network its own word made it a member
            self._expel(self._own)
        changed = self._settle(list(self._claims))
        return [*changed, self._own] if was_here else changed

    def end_join(self, is_live: Callable[[NodeId], bool]) -> list[NodeId]:
        """Ask of live members from now on what others ask; who is silent cannot be reached by more."""
        self.is_joining = False
        changed: dict[NodeId, None] = {}
        for _ in range(ROUNDS):
            weak = [peer for peer in self.vouched if self._is_weak(peer) and is_live(peer)]
            if not weak:
                break
            touched = [each for peer in weak for each in self._expel(peer)]
            changed |= dict.fromkeys([*weak, *self._settle(touched)])
        return list(changed)

    def _is_weak(self, peer: NodeId) -> bool:
        may_lack = peer in self._roots or peer == self._own or not self._claims[peer].member
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
        self._count(claim, 1)
        return self._name(peer, frozenset(), claim.names)

    def _expel(self, peer: NodeId) -> list[NodeId]:
        claim = self._claims[peer]
        self.vouched.discard(peer)
        self._count(claim, -1)
        touched = self._name(peer, claim.names, frozenset())
        if self._members.total() <= ATTESTERS:  # fewer names may do for those who wait
            touched += [each for each in self._claims if each not in self.vouched and self.attesters(each)]
        return touched

    def _name(self, peer: NodeId, before: frozenset[bytes], now: frozenset[bytes]) -> list[NodeId]:
        """Take other names of a peer that is vouched for; return whom they are about."""
        for mark in before - now:
            self._named_by[mark].discard(peer)
            if not self._named_by[mark]:
                del self._named_by[mark]
        for mark in now - before:
            self._named_by.setdefault(mark, set()).add(peer)
        return [self._by_mark[mark] for mark in before ^ now if mark in self._by_mark]

    def _count(self, claim: MembershipClaim, by: int) -> None:
        if claim.member:
            self._members[claim.families] += by
