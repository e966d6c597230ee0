"""The attester reaches the nodes that ask for it, and names them in this node's heartbeats.

A node that wants to be a member asks its six attesters (attester_order.py). Each of them reaches the asker at the
addresses in its heartbeat, by datagram from a new port and by connection, never through a relay. It reaches an asker
behind a NAT by introduction. An asker can cause few such attempts, and only at its own endpoints. A silent member that
lost names cannot ask: others name it until it is back.

Checks what somebody who wants to be named shows of its invitation; every attester does, and nobody else need.

Pure: values and `now` in, the opened invitation or BadMessage out, with the reason and the remedy that the asker tells
its operator.

The attested peers are those that this node has reached itself and names in its heartbeats, sixteen at most.

Pure: ids and days in, marks out. Each is named with the day since which this node names it. A full list drops a peer
that has more names than it needs, or whose attesters are other nodes, in favour of one that lacks a name. While many
peers wait at once, the one with the highest id is dropped. So attesters with room for some of a crowd name the same
ones, and those are admitted.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Annotated

from msgspec import Meta

from dht.admission.attester_order import nearest_attesters
from dht.admission.member_admission import ATTESTERS, MemberAdmission
from dht.admission.membership_claim import days_in, mark_of, marks_in
from dht.clock import Clock, day_of
from dht.errors import BadInvitation, BadMessage
from dht.keys import NodeId
from dht.messages import Done, Message
from dht.ownership.view import OverlayView
from dht.protocol.engine import ProtocolEngine
from dht.rate_limit import RateLimiter
from dht.reachability.autonat import ProbeReply
from dht.wire.contact import Contact, Endpoint, Family
from dht.wire.heartbeat import DAY_BYTES, HEARTBEAT_LIMIT_BYTES, MOST_ATTESTED, VerifiedHeartbeat, open_heartbeat
from dht.wire.invitation import SHOWN_LIMIT_BYTES, OpenedInvitation, open_shown


class AttestedPeers:
    """Keeps the peers that one node names. `is_ours`: whether it is one of the attesters of a peer."""

    def __init__(self, admission: MemberAdmission, is_ours: Callable[[NodeId], bool]) -> None:
        self._admission, self._is_ours = admission, is_ours
        self._peers: dict[NodeId, tuple[bytes, int]] = {}  # marks, and days (since 1970) since which each is known

    @property
    def marks(self) -> bytes:
        """The names for the next heartbeat."""
        return b"".join(mark for mark, _ in self._peers.values())

    @property
    def days(self) -> bytes:
        """The day that goes with each mark."""
        return b"".join(day.to_bytes(DAY_BYTES, "big") for _, day in self._peers.values())

    @property
    def is_full(self) -> bool:
        """Whether one must give way for another."""
        return len(self._peers) >= MOST_ATTESTED

    def __iter__(self) -> Iterator[NodeId]:
        return iter(self._peers)

    def day(self, peer: NodeId) -> int | None:
        """Return the day with which a peer is named, None where it is not."""
        return self._peers[peer][1] if peer in self._peers else None

    def has(self, peer: NodeId, mark: bytes) -> bool:
        """Tell whether a peer is named, by this mark."""
        return peer in self._peers and self._peers[peer][0] == mark

    def has_room(self, peer: NodeId) -> bool:
        """Tell whether a peer could be named."""
        return peer in self._peers or not self.is_full or self._least_needy(peer) is not None

    def name(self, peer: NodeId, mark: bytes, day: int) -> bool:
        """Name a peer by this mark from now on; False where there is no room."""
        if peer not in self._peers and self.is_full:
            if (gives_way := self._least_needy(peer)) is None:
                return False
            del self._peers[gives_way]
        self._peers[peer] = mark, day
        return True

    def retain(self, stays: Callable[[NodeId], bool]) -> None:
        """Name those alone who stay."""
        self._peers = {peer: said for peer, said in self._peers.items() if stays(peer)}

    def restore(self, peers: Mapping[NodeId, tuple[bytes, int]]) -> None:
        """Name these again, by these marks and days, as before a restart."""
        new = [peer for peer in peers if peer not in self._peers][: MOST_ATTESTED - len(self._peers)]
        self._peers |= {peer: peers[peer] for peer in new}

    def _least_needy(self, instead: NodeId) -> NodeId | None:
        admission, is_needy = self._admission, self._admission.lacks(instead) > 0
        spare = [peer for peer in self._peers if admission.is_member(peer) and admission.lacks(peer) < 0]
        fit = [peer for peer in spare if not self._is_ours(peer)] or (spare if is_needy else [])
        if fit:
            return min(fit, key=admission.lacks)
        waiting = [peer for peer in self._peers if not admission.is_member(peer)]
        return max(waiting) if waiting and max(waiting) > instead else None


ASKED = 6  # members: half of them may be away
NEAREST = 2 * ASKED  # two nodes seldom know quite the same members
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
        self._named = AttestedPeers(core.members.admission, self._is_ours)
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
            found = [peer for peer in able if members.admission.is_member(peer)]
            bare = [] if len(found) >= ATTESTERS else [peer for peer in able if members.admission.is_bare(peer)]
            self._found_by, self._found = basis, (*found, *bare)
        return self._found

    def keep(self) -> None:
        """Drop whom this node does not know any more; call it every minute."""
        own, members, today = self._core.own, self._core.members, day_of(self._clock().wall)
        days, found = days_in(own.says.attests, own.says.attested_days), dict[NodeId, tuple[bytes, int]]()
        new_gone = set(members.gone.items()) - self._gone
        self._gone |= new_gone
        gone = {peer for peer, _ in new_gone}
        for mark in marks_in(own.says.attests):  # those of an earlier run among them
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
        if admission.is_joining or not members.admission.is_member(members.own):
            return
        for peer in members.members(now):
            if members.is_live(peer, now) or peer in self._named or admission.lacks(peer) <= 0:
                continue
            if self._named.is_full or not self._is_ours(peer):
                continue
            self._named.name(peer, admission.mark(peer), self._member_since(peer))
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
            if not self._named.name(asker, mark, self._member_since(asker)):
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
        if not self._core.takes_part:
            raise BadMessage(asker.hex(), "names nobody")
        if not self._is_asked(asker, opened.families):
            raise BadMessage(asker.hex(), "is not one of its attesters")
        if not self._named.has_room(asker):
            raise BadMessage(asker.hex(), FULL)
        if not self._one.take(asker, now) or not self._all.take("", now):
            raise BadMessage(asker.hex(), "too many ask; ask again later")

    def _stays(self, peer: NodeId, today: int) -> bool:
        """Whether a named peer is still known by its name, and one of the guests for whom its invitation is."""
        members, admission = self._core.members, self._core.members.admission
        known = members.find(peer)
        if not self._named.has(peer, admission.mark(peer)):
            return False  # it has another invitation now
        if admission.is_one_too_many(peer, admission.invited_by(peer), today):
            return False
        if known is None:
            return members.waiting.find(peer) is not None
        said = known.opened.heartbeat
        return not (said.for_good and said.leaving)  # it left, and needs new names where it comes back

    def _member_since(self, peer: NodeId) -> int:
        """Return the day since which members have named a peer, today where too few do."""
        first = self._core.members.admission.first_day(peer)
        return day_of(self._clock().wall) if first is None else first

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
        return known is None or self._is_asked(peer, known.opened.families)

    def _is_asked(self, peer: NodeId, families: frozenset[Family]) -> bool:
        """Whether this node is one of a peer's attesters."""
        able = {self._view.node_id, *self.candidates(families)}
        return self._view.node_id in nearest_attesters(peer, able, NEAREST)


def _silence_at(there: Endpoint, found: ProbeReply) -> str:
    host = f"[{there.host}]" if there.family == 6 else there.host
    silent = [f"UDP {there.udp_port}"] if not found.udp else []
    silent += [f"TCP {there.tcp_port}"] if not found.tcp else []
    return f"no answer at {host} from {' and '.join(silent)}"


NONE = "asks without an invitation, and this network is by invitation; ask a member for one, then run `dse-node accept`"


def check_invitation(
    opened: VerifiedHeartbeat, shown: bytes, admission: MemberAdmission, network: bytes, wall: float
) -> OpenedInvitation | None:
    """Return the invitation of an asker, None where it has none and needs none. A member that came by the same
    invitation may stay though its inviter lost the right to invite. While this node joins, it cannot know the members,
    so this exception does not hold. Raises BadMessage where the invitation is missing, unsound, refused or used up."""
    beat, peer, inviters = opened.heartbeat, opened.contact.node_id, admission.inviters
    says_as_before = admission.invited_by(peer) == beat.invited_by
    was_in = says_as_before and admission.is_member(peer) and not admission.is_joining
    if not shown and not beat.invited_by:
        if inviters.are_needed and not was_in:
            raise BadMessage(peer.hex(), NONE)
        return None
    try:
        invitation = open_shown(shown, beat.public_key, network)
    except BadInvitation as error:
        raise BadMessage(peer.hex(), str(error)) from None
    if invitation.invited_by != beat.invited_by:
        raise BadMessage(peer.hex(), "shows another invitation than its heartbeat names; ask again")
    is_asked = inviters.has_revoked(beat.invited_by) or (inviters.are_needed and not was_in)
    if is_asked and (reason := inviters.refusal(invitation, wall)):
        raise BadMessage(peer.hex(), reason)
    if admission.is_one_too_many(peer, beat.invited_by, day_of(wall)):
        name, uses = invitation.voucher_id.hex(), invitation.voucher.uses
        reason = f"its invitation {name} is used up: it is for {uses}, and as many are here by it; ask for another one"
        raise BadMessage(peer.hex(), reason)
    return invitation
