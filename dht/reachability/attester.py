"""The attester reaches those who ask for it, and names them in this node's heartbeats.

Who wants to be a member asks the six members whose part it is by hash (admission.py). Each of them reaches the asker
where its heartbeat says that it is, by datagram from a new port and by connection, and not through a relay; behind a
NAT by introduction. What an asker can have others do is small, rare, and only for its own endpoints.
"""

from collections.abc import Awaitable, Callable
from typing import Annotated

from msgspec import Meta

from dht.clock import Clock
from dht.errors import BadMessage
from dht.keys import NodeId
from dht.membership.admission import ATTESTERS, marks_in, nearest_attesters
from dht.membership.attested_peers import AttestedPeers
from dht.messages import Done, Message
from dht.ownership.view import OverlayView
from dht.protocol.engine import ProtocolEngine
from dht.rate_limit import RateLimiter
from dht.reachability.autonat import ProbeReply
from dht.wire.contact import Contact, Endpoint, Family
from dht.wire.heartbeat import HEARTBEAT_LIMIT_BYTES, VerifiedHeartbeat, open_heartbeat

ASKED = 6  # members: half of them may be away
NEAREST = 2 * ASKED  # two nodes seldom know quite the same members
ONE_EVERY_S, ONE_BURST = 10.0, 4.0  # times that one asker is reached
ALL_S, ALL_BURST = 2.0, 32.0  # times a second that all together are

Reach = Callable[[Contact], Awaitable[ProbeReply]]


class AttestMe(Message, frozen=True, array_like=True):
    """Reach the sender where its newest heartbeat says that it is, and name it."""

    heartbeat: Annotated[bytes, Meta(max_length=HEARTBEAT_LIMIT_BYTES)]


class Attester:
    """Attests peers for one node. `reach` dials a contact's first endpoint; `kick` has the engine send what it has."""

    def __init__(
        self, core: ProtocolEngine, view: OverlayView, reach: Reach, clock: Clock, kick: Callable[[], None]
    ) -> None:
        self._core, self._view, self._reach, self._clock, self._kick = core, view, reach, clock, kick
        self._one, self._all = RateLimiter(1 / ONE_EVERY_S, ONE_BURST), RateLimiter(ALL_S, ALL_BURST, keys=1)
        self._named = AttestedPeers(core.members.admission, self._is_ours)

    def candidates(self, families: frozenset[Family]) -> list[NodeId]:
        """Return who may attest a peer with addresses of these families, be it this node: live members, and bare
        bootstrap nodes while there are hardly any."""
        view, members = self._view, self._core.members
        live = [(peer, contact) for peer in view.live() if (contact := view.contact(peer)) is not None]
        able = [peer for peer, contact in live if contact.shares(families)]
        found = [peer for peer in able if members.is_member(peer)]
        return found if len(found) >= ATTESTERS else [*found, *(p for p in able if members.admission.is_bare(p))]

    def keep(self) -> None:
        """Drop whom this node does not know any more; call it every minute."""
        members, found = self._core.members, list[NodeId]()
        for mark in marks_in(self._core.own.attests):  # those of an earlier run among them
            found += [peer] if (peer := members.admission.find(mark)) is not None else []
        self._named.restore(sorted(found))
        self._named.retain(lambda peer: members.find(peer) is not None or members.waiting.find(peer) is not None)
        self._core.own.attest(self._named.marks)

    async def answer(self, asker: NodeId, message: AttestMe) -> Done:
        """Reach the asker and name it; raises BadMessage, or BadSignature, with the reason why not."""
        core, now = self._core, self._clock()
        rules = core.rules
        opened = open_heartbeat(message.heartbeat, now, rules.network, rules.policy, rules.graces, rules.puzzle_bits)
        if opened.contact.node_id != asker or not opened.heartbeat.member:
            raise BadMessage(asker.hex(), "shows no heartbeat of its own in which it is a member")
        if not self._named.has(asker):
            self._permit(opened)
            await self._dial(opened)
            if not self._named.name(asker):
                raise BadMessage(asker.hex(), "names twelve others already")
            core.own.attest(self._named.marks)
            core.members.claim_own(core.own.claim())
        core.members.add(opened, self._clock(), direct=True)
        self._view.refresh()
        self._kick()
        return Done()

    def _permit(self, opened: VerifiedHeartbeat) -> None:
        asker, now = opened.contact.node_id, self._clock().steady
        if not self._core.takes_part or not self._core.members.admission.is_attested:
            raise BadMessage(asker.hex(), "names nobody")
        if not self._is_asked(asker, opened.families):
            raise BadMessage(asker.hex(), "knows others whose part it is")
        if not self._named.has_room(asker):
            raise BadMessage(asker.hex(), "names twelve others already")
        if not self._one.take(asker, now) or not self._all.take("", now):
            raise BadMessage(asker.hex(), "too many ask; ask again later")

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

    def _is_asked(self, subject: NodeId, families: frozenset[Family]) -> bool:
        me = self._view.node_id
        return me in nearest_attesters(subject, {me, *self.candidates(families)}, NEAREST)


def _silence_at(there: Endpoint, found: ProbeReply) -> str:
    host = f"[{there.host}]" if there.family == 6 else there.host
    silent = [f"UDP {there.udp_port}"] if not found.udp else []
    silent += [f"TCP {there.tcp_port}"] if not found.tcp else []
    return f"no answer at {host} from {' and '.join(silent)}"
