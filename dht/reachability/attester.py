"""The attester reaches those who ask for it, and names them in this node's heartbeats.

Who wants to be a member asks the six whose part it is by hash (attester_order.py). Each of them reaches the asker
where its heartbeat says that it is, by datagram from a new port and by connection, and not through a relay; behind a
NAT by introduction. What an asker can have others do is small, rare, and only for its own endpoints. A silent member
that lost names cannot ask: others name it until it is back.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Annotated

from msgspec import Meta

from dht.admission.attested_peers import AttestedPeers
from dht.admission.attester_order import nearest_attesters
from dht.admission.block_crowd import crowding_blocks, is_crowded
from dht.admission.member_admission import ATTESTERS, BLOCK_ATTESTERS, BLOCK_NAMES
from dht.admission.membership_claim import MembershipClaim, claim_of, days_in, mark_of, marks_in
from dht.clock import Clock, day_of
from dht.errors import BadMessage
from dht.keys import NodeId
from dht.messages import Done, Message
from dht.ownership.view import OverlayView
from dht.protocol.engine import ProtocolEngine
from dht.rate_limit import RateLimiter
from dht.reachability.autonat import ProbeReply
from dht.reachability.invitation_check import check_invitation
from dht.wire.contact import Contact, Endpoint, Family
from dht.wire.heartbeat import HEARTBEAT_LIMIT_BYTES, MOST_ATTESTED, VerifiedHeartbeat, open_heartbeat
from dht.wire.invitation import SHOWN_LIMIT_BYTES

ASKED = 6  # members: half of them may be away
NEAREST = 2 * ASKED  # two nodes seldom know quite the same members
BLOCK_ASKED = 3  # members that count who comes from its /24 or /48, in a large network
ONE_EVERY_S, ONE_BURST = 10.0, 4.0  # times that one asker is reached
ALL_S, ALL_BURST = 2.0, 32.0  # times a second that all together are

FULL = f"names {MOST_ATTESTED} others already"

Reach = Callable[[Contact], Awaitable[ProbeReply]]


class AttestMe(Message, frozen=True, array_like=True):
    """Reach the sender where its newest heartbeat says that it is, and name it."""

    heartbeat: Annotated[bytes, Meta(max_length=HEARTBEAT_LIMIT_BYTES)]
    invitation: Annotated[bytes, Meta(max_length=SHOWN_LIMIT_BYTES)] = b""  # ShownInvitation; none in other networks


class Attester:
    """Attests peers for one node. `reach` dials a contact's first endpoint; `kick` has the engine send what it has."""

    def __init__(
        self, core: ProtocolEngine, view: OverlayView, reach: Reach, clock: Clock, kick: Callable[[], None]
    ) -> None:
        self._core, self._view, self._reach, self._clock, self._kick = core, view, reach, clock, kick
        self._one, self._all = RateLimiter(1 / ONE_EVERY_S, ONE_BURST), RateLimiter(ALL_S, ALL_BURST, keys=1)
        self._named = AttestedPeers(core.node_id, core.members.admission, self._is_ours)
        self._gone = set[tuple[NodeId, float]]()  # who was put out by the strategy, and since when it holds
        self._found_by: tuple[object, ...] = ()  # what the candidates asked for last follow from
        self._found: tuple[NodeId, ...] = ()
        self._spoken_for = set[NodeId]()  # those of them whom this node need not have reached

    def candidates(self, families: frozenset[Family]) -> Sequence[NodeId]:
        """Return who may attest a peer with addresses of these families, be it this node: live members, and bare
        bootstrap nodes while there are hardly any."""
        view, members = self._view, self._core.members
        basis = view.live(), members.told, families, self._core.own.endpoints()
        if basis != self._found_by:
            live = [(peer, contact) for peer in view.live() if (contact := view.contact(peer)) is not None]
            able = [peer for peer, contact in live if contact.shares(families)]
            found = [peer for peer in able if members.is_member(peer)]
            bare = [] if len(found) >= ATTESTERS else [peer for peer in able if members.admission.is_bare(peer)]
            self._found_by, self._found = basis, (*found, *bare)
        return self._found

    def keep(self) -> None:
        """Drop whom this node does not know any more; call it every minute."""
        own, members, today = self._core.own, self._core.members, day_of(self._clock().wall)
        days, found = days_in(own.attests, own.attested_days), dict[NodeId, tuple[bytes, int]]()
        new_gone = set(members.gone.items()) - self._gone
        self._gone |= new_gone
        gone = {peer for peer, _ in new_gone}
        for mark in marks_in(own.attests):  # those of an earlier run among them
            if (peer := members.admission.find(mark)) is not None and peer not in gone:
                found[peer] = mark, days.get(mark, today)
        self._named.restore(dict(sorted(found.items())))
        self._named.retain(lambda peer: peer not in gone and self._stays(peer, today))
        self._speak_for_sleepers()
        own.attest(self._named.marks, self._named.days)

    def _speak_for_sleepers(self) -> None:
        """Name members that are silent and lack names, where there is room: they cannot ask, and newcomers, who know
        them by names alone, would not take them. This ends when they are back, and can be reached."""
        members, admission, now = self._core.members, self._core.members.admission, self._clock()
        self._named.retain(lambda peer: peer not in self._spoken_for or not members.is_live(peer, now))
        self._spoken_for.intersection_update(self._named)
        if admission.is_joining or not members.is_member(members.own):
            return
        for peer in members.members(now):
            if members.is_live(peer, now) or peer in self._named or admission.lacks(peer) <= 0:
                continue
            if self._named.is_full or not self._is_ours(peer):
                continue
            self._named.name(peer, admission.mark(peer), self._known_since(peer))
            self._spoken_for.add(peer)

    async def answer(self, asker: NodeId, message: AttestMe) -> Done:
        """Reach the asker and name it; raises BadMessage, or BadSignature, with the reason why not."""
        core, now = self._core, self._clock()
        rules = core.rules
        opened = open_heartbeat(message.heartbeat, now, rules.network, rules.policy, rules.graces, rules.puzzle_bits)
        if opened.contact.node_id != asker or not opened.heartbeat.member:
            raise BadMessage(asker.hex(), "shows no heartbeat of its own in which it is a member")
        admission, mark = core.members.admission, mark_of(asker, opened.heartbeat.invited_by)
        check_invitation(opened, message.invitation, admission, rules.network, now.wall)
        if not self._named.has(asker, mark) or asker in self._spoken_for:
            self._permit(opened)
            await self._dial(opened)
            self._check_crowd(opened.contact)
            if not self._named.name(asker, mark, self._known_since(asker)):
                raise BadMessage(asker.hex(), FULL)
            self._spoken_for.discard(asker)
            core.own.attest(self._named.marks, self._named.days)
            core.members.claim_own(core.own.claim())
        core.members.add(opened, self._clock(), direct=True)
        self._view.refresh()
        self._kick()
        return Done()

    def _permit(self, opened: VerifiedHeartbeat) -> None:
        asker, now = opened.contact.node_id, self._clock().steady
        if not self._core.takes_part or not self._core.members.admission.is_attested:
            raise BadMessage(asker.hex(), "names nobody")
        claim = claim_of(opened, self._core.rules.policy)
        if not self._is_asked(asker, claim):
            raise BadMessage(asker.hex(), "knows others whose part it is")
        if not (self._counts(claim) or self._core.members.admission.is_counted(asker, claim)):
            raise BadMessage(asker.hex(), f"waits until {BLOCK_NAMES} of those name it who count its /24 or /48")
        self._check_crowd(opened.contact)
        if not self._named.has_room(asker):
            raise BadMessage(asker.hex(), FULL)
        if not self._one.take(asker, now) or not self._all.take("", now):
            raise BadMessage(asker.hex(), "too many ask; ask again later")

    def _check_crowd(self, contact: Contact) -> None:
        """Refuse who is one too many of its block; whom this node names counts before others hear of it."""
        if self._is_crowded(contact, self._mates(contact).values()):
            raise BadMessage(contact.node_id.hex(), "knows a member at its address, or two in its /24 or /48")

    def _stays(self, peer: NodeId, today: int) -> bool:
        """Whether a named peer is still known. Of many of one block, or by one
        invitation, that came at once the others are dropped."""
        members, day, admission = self._core.members, self._named.day(peer), self._core.members.admission
        known, first_day = members.find(peer), admission.first_day
        if not self._named.has(peer, admission.mark(peer)):
            return False  # it has another invitation now
        if admission.is_one_too_many(peer, admission.invited_by(peer), today):
            return False
        if known is not None and known.opened.heartbeat.for_good and known.opened.heartbeat.leaving:
            return False  # it left, and needs new names where it comes back
        if known is None or day is None or day + 1 < today:
            return known is not None or members.waiting.find(peer) is not None
        mates, mine = self._mates(known.opened.contact), (first_day(peer) or today, peer)
        earlier = [mate for mate in mates if members.is_member(mate) and (first_day(mate) or today, mate) < mine]
        return not self._is_crowded(known.opened.contact, [mates[mate] for mate in earlier])

    def _is_crowded(self, contact: Contact, mates: Iterable[frozenset[bytes]]) -> bool:
        return is_crowded(self._blocks(contact), mates, len(self._core.members.members(self._clock())))

    def _mates(self, contact: Contact) -> dict[NodeId, frozenset[bytes]]:
        """The others that share a block with a contact and are members, or named by this node, with their blocks."""
        mine, found, members = self._blocks(contact), dict[NodeId, frozenset[bytes]](), self._core.members
        if not mine:
            return found
        for peer in (*members.members(self._clock()), *self._named):
            waits = members.waiting.find(peer)
            there = waits.opened.contact if waits is not None else self._view.contact(peer)
            if there is not None and peer != contact.node_id and mine & (blocks := self._blocks(there)):
                found[peer] = blocks
        return found

    def _blocks(self, contact: Contact) -> frozenset[bytes]:
        return crowding_blocks((endpoint.host for endpoint in contact.endpoints), self._core.rules.policy)

    def _known_since(self, peer: NodeId) -> int:
        """The day since which this node knows a peer as a member, and members have named it; today at the latest."""
        members, now = self._core.members, self._clock()
        first = members.admission.first_day(peer)
        known = day_of(min(now.wall, members.seniority.since(peer)))
        return known if first is None else min(known, first)

    async def _dial(self, opened: VerifiedHeartbeat) -> None:
        """Reach a peer in one family; raises BadMessage where that fails in all that both have."""
        contact, failed = opened.contact, list[str]()
        ways = [e for e in contact.endpoints if e.family in self._core.families.towards_peers]
        for there in ways:
            found = await self._reach(Contact(contact.node_id, (there,), contact.introducers))
            if found.udp and found.tcp:
                return
            failed.append(_silence_at(there, found))
        raise BadMessage(contact.node_id.hex(), "; ".join(failed) or "has no family of address in common with it")

    def _is_ours(self, peer: NodeId) -> bool:
        known = self._core.members.find(peer)
        return known is None or self._is_asked(peer, claim_of(known.opened, self._core.rules.policy))

    def _is_asked(self, subject: NodeId, claim: MembershipClaim) -> bool:
        """Whether it is this node's part to attest a peer, by its id or by its block."""
        able = {self._view.node_id, *self.candidates(claim.families)}
        return self._view.node_id in nearest_attesters(subject, able, NEAREST) or self._counts(claim)

    def _counts(self, claim: MembershipClaim) -> bool:
        """Whether it is this node's part to count the members of a block."""
        able = {self._view.node_id, *self.candidates(claim.families)}
        return bool(claim.block) and self._view.node_id in nearest_attesters(claim.block, able, BLOCK_ATTESTERS)


def _silence_at(there: Endpoint, found: ProbeReply) -> str:
    host = f"[{there.host}]" if there.family == 6 else there.host
    silent = [f"UDP {there.udp_port}"] if not found.udp else []
    silent += [f"TCP {there.tcp_port}"] if not found.tcp else []
    return f"no answer at {host} from {' and '.join(silent)}"
