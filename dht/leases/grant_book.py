"""The grants that this node collects for the slots that it holds, and those that it signs for others.

Pure: claims and votes in, grants out. The holder asks for signatures when its tenure begins, every RENEW_S, and when
the team changes. Every vote of such a round that depends on no other vote may bring a signature. It keeps what it got
for as long as something written then may still be on its way. A voter signs what it granted in the same breath, so it
needs no memory of it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from msgspec.structs import replace

from dht.clock import Now
from dht.identity.node_key import Identity
from dht.keys import NodeId, Slot
from dht.leases.quorum_round import Attempt
from dht.leases.voter import Team, team_digest
from dht.messages import Claim, LeaseReply, Vote
from dht.wire.farewell import Farewell
from dht.wire.grant import CLOCKS_S, DOMAIN, GRANT_S, Grant, SignedGrant, granted_bytes, is_signed

RENEW_S = GRANT_S / 2
FORGET_S = 60.0  # between two looks for grants that are over
KEPT_S = 3600  # after its end: a page may wait so long for owners that take it
MOST_ASKED = 256  # signatures in one message: 20 ms of one core

_Name = tuple[int, Slot]  # slot_bits, slot


class GrantTerms(NamedTuple):
    """Holds what a grant of the slot names and needs: its team, and the farewells of members that stopped. `needed`:
    the number of signers, at least a majority of the others."""

    team: Team
    farewells: tuple[Farewell, ...]
    needed: int


@dataclass(slots=True)
class _Asked:
    """A grant that is asked for, and who signed it so far."""

    grant: Grant
    terms: GrantTerms
    signatures: dict[bytes, bytes] = field(default_factory=dict)


class GrantBook:
    """The grants of one node as holder and as voter."""

    def __init__(self, node_id: NodeId, signer: Identity) -> None:
        self._node_id, self._signer = node_id, signer
        self._asked: dict[_Name, _Asked] = {}
        self._kept: dict[_Name, list[SignedGrant]] = {}  # newest first
        self._widths = set[int]()  # slot_bits of grants that were kept
        self._forget_at = float("-inf")  # steady
        self.version = 0  # grows with every grant that is complete

    def ask(
        self,
        now: Now,
        network: bytes,
        slot_bits: int,
        attempts: Mapping[Slot, Attempt],
        terms_of: Callable[[Slot, Team], GrantTerms],
    ) -> None:
        """Ask in a round of votes for the grants that are wanted, of everybody; this node signs its own at once.
        `terms_of`: those of a slot that has these live owners."""
        if now.steady >= self._forget_at:
            self._forget_at = now.steady + FORGET_S
            self._forget(now)
        terms = {slot: terms_of(slot, attempt.team) for slot, attempt in attempts.items() if not attempt.company}
        wanting = [s for s, each in terms.items() if self._wants(now, (slot_bits, s), attempts[s].epoch, each)]
        for slot in wanting[:MOST_ASKED]:
            attempt = attempts[slot]
            begin = attempt.grant_from = int(now.wall)
            attempt.asks_all = True
            grant = _grant(network, slot_bits, slot, attempt.epoch, self._node_id, terms[slot].team, begin)
            self._asked[slot_bits, slot] = _Asked(grant, terms[slot])
            self._take((slot_bits, slot), self._signer.public_key, self._signer.sign(DOMAIN, granted_bytes(grant)))

    def hear(self, slot_bits: int, peer: NodeId, reply: LeaseReply) -> None:
        """Take the signatures that a peer's votes bring."""
        for vote in reply.votes[:MOST_ASKED]:
            asked = self._asked.get((slot_bits, Slot(vote.slot)))
            if asked is None or not (vote.granted and vote.signature) or vote.epoch != asked.grant.epoch:
                continue
            if is_signed(asked.grant, reply.voter, vote.signature):
                self._take((slot_bits, Slot(vote.slot)), reply.voter, vote.signature)

    def sign(
        self, now: Now, network: bytes, peer: NodeId, slot_bits: int, claims: Mapping[int, Claim], reply: LeaseReply,
        team: Callable[[Slot], Team], terms_of: Callable[[Slot, Team], GrantTerms],
    ) -> LeaseReply:  # fmt: skip
        """Add this node's signatures to votes that it grants just now. `claims`: those, by slot, that ask for one and
        may have it; signed are those of the team that this node sees, too, and from now on."""
        votes, signed = list[Vote](), 0
        for vote in reply.votes:
            claim, voters = claims.get(vote.slot), team(Slot(vote.slot))
            if claim is not None and vote.granted and signed < MOST_ASKED and _is_seen(now, claim, voters):
                named = terms_of(Slot(vote.slot), voters).team
                grant = _grant(network, slot_bits, Slot(vote.slot), vote.epoch, peer, named, claim.grant_from)
                vote, signed = replace(vote, signature=self._signer.sign(DOMAIN, granted_bytes(grant))), signed + 1
            votes.append(vote)
        return LeaseReply(tuple(votes), self._signer.public_key if signed else b"")

    def find(self, slot_bits: int, slot: Slot) -> list[SignedGrant]:
        """Return the grants that this node has of a slot, or of one that it was part of; newest first."""
        wholes = [
            (bits, Slot(slot >> (slot_bits - bits))) for bits in sorted(self._widths, reverse=True) if bits <= slot_bits
        ]
        return [grant for name in wholes for grant in self._kept.get(name, ())]

    def granted(self, now: Now, slot_bits: int, held: Mapping[Slot, int]) -> tuple[dict[Slot, int], float]:
        """Return those of held slots (slot: epoch) that this node may write in by a grant, and the Unix second until
        which that is so."""
        found, ends = dict[Slot, int](), now.wall + GRANT_S
        for slot, epoch in held.items():
            until = max((g.grant.until_s for g in self.find(slot_bits, slot) if g.grant.epoch == epoch), default=0)
            if until > now.wall:
                found[slot], ends = epoch, min(ends, until)
        return found, ends

    def _wants(self, now: Now, name: _Name, epoch: int, terms: GrantTerms) -> bool:
        newest = next(iter(self._kept.get(name, ())), None)
        return newest is None or _is_stale(now, newest, epoch, terms)

    def _take(self, name: _Name, key: bytes, signature: bytes) -> None:
        asked = self._asked[name]
        asked.signatures[key] = signature
        if len(asked.signatures) >= asked.terms.needed:
            del self._asked[name]
            self._widths.add(name[0])
            signed = SignedGrant(asked.grant, tuple(asked.signatures.items()), asked.terms.farewells)
            self._kept.setdefault(name, []).insert(0, signed)
            self.version += 1

    def _forget(self, now: Now) -> None:
        for name in [name for name, grants in self._kept.items() if grants[-1].grant.until_s + KEPT_S < now.wall]:
            self._kept[name] = [g for g in self._kept[name] if g.grant.until_s + KEPT_S >= now.wall]
            if not self._kept[name]:
                del self._kept[name]


def _grant(
    network: bytes, slot_bits: int, slot: Slot, epoch: int, holder: NodeId, team: Iterable[NodeId], begin_s: int
) -> Grant:
    return Grant(network, slot_bits, slot, epoch, holder, tuple(sorted(team)), begin_s, begin_s + GRANT_S)


def _is_stale(now: Now, newest: SignedGrant, epoch: int, terms: GrantTerms) -> bool:
    """Whether a new grant is wanted beside the newest one."""
    grant = newest.grant
    is_same = (grant.epoch, grant.team, newest.farewells) == (epoch, tuple(sorted(terms.team)), terms.farewells)
    return not is_same or not grant.not_before_s <= now.wall < grant.not_before_s + RENEW_S


def _is_seen(now: Now, claim: Claim, team: Team) -> bool:
    return bool(team) and claim.team == team_digest(team) and abs(claim.grant_from - now.wall) <= CLOCKS_S
