"""Finds out whether strangers reach this node, and helps others to find it out about themselves.

The node asks a peer over a connection of the family in question (`ProbeMe`). That peer has a third node, to which the
first never sent anything, knock at the address from which the request came (`Probe`). It knocks by datagram and by
connection. A node can have only its own address probed by its peer. A peer's requests to a third node are rare, small,
and only for addresses that the network allows. Where there is no third, the peer itself knocks, from new ports.

Where nobody gets through, the node has members introduce it, and asks once more: whoever probes it then is introduced.

Chooses who introduces this node, which is behind a NAT, to those who want to reach it.

Introducers are members that anybody reaches. Chosen ones stay while they can, so that others' knowledge of them stays
true. New ones are those nearest to the node's own id, which spreads the work.
"""

import asyncio
import logging
from collections.abc import Collection, Sequence
from random import Random
from typing import Annotated, Literal, Protocol

from msgspec import Meta

from dht.clock import Clock
from dht.errors import BadMessage, RemoteError
from dht.keys import NodeId, distance
from dht.messages import Answer, Done, Message, PeerClient
from dht.ownership.view import OverlayView
from dht.protocol.engine import ProtocolEngine
from dht.rate_limit import RateLimiter
from dht.reachability.dial_back import DialBack
from dht.reachability.evidence import ProbeReport, ReachabilityEvidence, ReachabilityVerdict
from dht.wire.contact import Address, Contact, Endpoint, Family
from dht.wire.heartbeat import MOST_INTRODUCERS

log = logging.getLogger(__name__)

REACHABLE, UNREACHABLE = ReachabilityVerdict.REACHABLE, ReachabilityVerdict.UNREACHABLE

CHECK_S = 1.0
CONNECT_S = 4.0
PROBE_WITHIN_S = 6.0  # one probe and the way there
ASK_WITHIN_S = 14.0  # a third node, and the peer itself where that one is dead
AVOID = 64  # met peers named in a question
ONE_EVERY_S, ONE_BURST = 10.0, 8.0  # probes for one peer: two families of three words, and some more
ALL_S, ALL_BURST = 1.0, 16.0  # probes a second, for all peers together

Port = Annotated[int, Meta(ge=1, le=65535)]
Id = Annotated[bytes, Meta(min_length=20, max_length=20)]
Introducers = Annotated[tuple[Id, ...], Meta(max_length=MOST_INTRODUCERS)]


class ProbeMe(Message, frozen=True, array_like=True):
    """Have a third node dial back these ports of the address from which this comes.

    `avoid`: the first 4 bytes of the ids of nodes that the asker sent something to. `introducers`: ids of members that
    tell the asker, behind its NAT, of who dials."""

    family: Literal[4, 6]
    udp_port: Port
    tcp_port: Port
    avoid: Annotated[tuple[Annotated[bytes, Meta(min_length=4, max_length=4)], ...], Meta(max_length=AVOID)] = ()
    introducers: Introducers = ()


class Probe(Message, frozen=True, array_like=True):
    """Dial back this node at this address, by introduction where introducers are named."""

    node_id: Id
    host: Annotated[str, Meta(max_length=45)]
    udp_port: Port
    tcp_port: Port
    introducers: Introducers = ()


class ProbeReply(Message, frozen=True, array_like=True):
    """Whether the node answered the datagram, and the connection. Its owner alone is told `host`, the address probed,
    and `by`, the node that probed it, which is empty for the one that answers."""

    udp: bool
    tcp: bool
    host: Annotated[str, Meta(max_length=45)] = ""
    by: Annotated[bytes, Meta(max_length=20)] = b""


class AreYouThere(Message, frozen=True, array_like=True):
    """Ask a node to answer `Done`, over a connection that is itself the question."""


class ContactClient(PeerClient, Protocol):
    """Can ask a peer that it knows, and whoever is at a contact."""

    async def ask_at(self, contact: Contact, message: Message, answer: type[Answer], *, timeout_s: float) -> Answer: ...


class AutoNat:
    """Finds out whether strangers reach one node. `every_s`: between two rounds about an address that is well; 0 asks
    nothing."""

    def __init__(
        self,
        core: ProtocolEngine,
        view: OverlayView,
        dialer: ContactClient,
        dial_back: DialBack,
        clock: Clock,
        rng: Random,
        every_s: float,
    ) -> None:
        self._core, self._view, self._dialer, self._dial_back = core, view, dialer, dial_back
        self._clock, self._rng = clock, rng
        self.found = {family: ReachabilityEvidence(every_s) for family in sorted(core.families.bound)}
        self._introduced = {family: ReachabilityEvidence(every_s) for family in self.found}
        self._one, self._all = RateLimiter(1 / ONE_EVERY_S, ONE_BURST), RateLimiter(ALL_S, ALL_BURST, keys=1)

    async def run(self) -> None:
        """Find out, for each family of address at once, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for family in self.found:
                tasks.create_task(self._find_out(family), name=f"prober-{family}")

    def verdicts(self) -> dict[Family, ReachabilityVerdict]:
        """Return the verdict on each family in which this node has an address, with introducers where it needs them."""
        found = {family: found for family, found in self.found.items() if found.endpoint is not None}
        return {
            family: REACHABLE if self._is_introduced(family) else evidence.verdict for family, evidence in found.items()
        }

    def introducers(self) -> tuple[NodeId, ...]:
        """Return who introduces this node to whoever wants to reach it; nobody where it needs none, or it is of no
        use."""
        names = self._core.introductions.names
        return names if names and any(map(self._is_introduced, self.found)) else ()

    def _is_introduced(self, family: Family) -> bool:
        return self.found[family].verdict is UNREACHABLE and self._introduced[family].verdict is REACHABLE

    async def _find_out(self, family: Family) -> None:
        while True:
            works = family in self._core.families.working
            endpoint = next((e for e in self._core.own.addresses if works and e.family == family), None)
            if await self._ask_round(self.found[family], family, endpoint, ()):
                continue
            names = self._choose_introducers(family)
            if not await self._ask_round(self._introduced[family], family, endpoint if names else None, names):
                await asyncio.sleep(CHECK_S)

    async def _ask_round(
        self, found: ReachabilityEvidence, family: Family, endpoint: Endpoint | None, names: tuple[NodeId, ...]
    ) -> bool:
        """Ask one peer where that is due; False where it is not."""
        now = self._clock().steady
        is_due = found.update_address(now, endpoint)
        live = self._open_ones(family) or self._live(family) if is_due else []
        if not is_due or not (live or found.tried):
            return False
        peer = found.choose(now, live, self._rng.choice)
        if peer is None or endpoint is None:
            return False
        await self._ask(found, peer, family, endpoint, names)
        return True

    def _choose_introducers(self, family: Family) -> tuple[NodeId, ...]:
        """Have members introduce this node where it is not reached otherwise; return them once one of them knows."""
        stuck = [other for other, found in self.found.items() if found.verdict is UNREACHABLE]
        is_reached = any(found.verdict is REACHABLE for found in self.found.values())
        introductions = self._core.introductions
        if is_reached or stuck[:1] != [family]:
            if introductions.names and (is_reached or not stuck):
                introductions.register_with(())
            return ()
        names = choose_introducers(self._view.node_id, introductions.names, self._open_ones(family))
        stay = set(names) & set(introductions.names)
        if names != introductions.names:
            introductions.register_with(names)
        return names if stay else ()

    async def _ask(
        self,
        found: ReachabilityEvidence,
        peer: NodeId,
        family: Family,
        endpoint: Endpoint,
        names: tuple[NodeId, ...],
    ) -> None:
        contact, steady = self._view.contact(peer), self._clock().steady
        there = contact.endpoint(family) if contact is not None else None
        if there is None:
            return
        core = self._core
        knows = core.verified_addresses.knows
        met = (p for p in self._live(family) if knows(p, family, steady) or self._is_broken(p))
        avoid = tuple(peer[:4] for peer in met)[:AVOID]
        question = ProbeMe(family, endpoint.udp_port, endpoint.tcp_port, avoid, names)
        try:
            reply = await self._dialer.ask_at(Contact(peer, (there,)), question, ProbeReply, timeout_s=ASK_WITHIN_S)
        except RemoteError as error:
            log.debug("no word about this node's address from=%s reason=%s", peer.hex(), error)
            return
        if reply.host == endpoint.host:
            report = ProbeReport(reply.udp, reply.tcp, reply.by)
            if report.is_good or not self._is_broken(NodeId(reply.by)):
                found.hear(peer, report)
        elif self._core.own.learns(family):  # a NAT with several addresses, which opens none of them to strangers
            found.hear(peer, ProbeReport(False, False))

    # For others

    async def answer_me(self, asker: NodeId, message: ProbeMe, host: str) -> ProbeReply:
        """Have the asker's own address probed; `host` is where its connection came from. Raises BadMessage."""
        if not host or Address(host, 0).family != message.family:
            raise BadMessage(asker.hex(), "asks about another family than the one in which it came")
        self._permit(asker, host)
        probe = Probe(asker, host, message.udp_port, message.tcp_port, message.introducers)
        others = [peer for peer in self._live(message.family) if peer != asker]
        strange = [peer for peer in others if peer[:4] not in message.avoid]
        if others:
            third = self._rng.choice(strange or others)
            try:
                found = await self._dialer.ask(third, probe, ProbeReply, timeout_s=PROBE_WITHIN_S)
                return ProbeReply(found.udp, found.tcp, host, third)
            except RemoteError as error:
                log.debug("probe not made by=%s reason=%s", third.hex(), error)
        found = await self.reach(_contact_of(probe))
        return ProbeReply(found.udp, found.tcp, host)

    async def answer(self, asker: NodeId, probe: Probe) -> ProbeReply:
        """Probe an address for a member; raises BadMessage where that is too often, or the address is not allowed."""
        if self._core.members.find(asker) is None:
            raise BadMessage(asker.hex(), "probes are made for members")
        self._permit(asker, probe.host)
        return await self.reach(_contact_of(probe))

    async def answer_there(self, asker: NodeId, message: AreYouThere) -> Done:
        """Acknowledge: the connection alone is what the asker wanted to know about."""
        return Done()

    def _permit(self, asker: NodeId, host: str) -> None:
        now = self._clock().steady
        if not self._core.rules.policy.allows(host):
            raise BadMessage(asker.hex(), f"asks for a probe of {host}, which this network does not allow")
        if not self._one.take(asker, now) or not self._all.take("", now):
            raise BadMessage(asker.hex(), "too many probes; ask again later")

    async def reach(self, contact: Contact) -> ProbeReply:
        """Tell whether a node answers at its first endpoint: a datagram from a new port, and a connection."""
        there = contact.endpoints[0]
        pinging = self._meets(contact) if contact.introducers else self._dial_back.reaches(there.udp, contact.node_id)
        async with asyncio.TaskGroup() as tasks:
            udp = tasks.create_task(pinging, name="probe-udp")
            tcp = tasks.create_task(self._connects(contact), name="probe-tcp")
        return ProbeReply(udp.result(), tcp.result())

    async def _meets(self, contact: Contact) -> bool:
        """Tell whether a node behind a NAT answers a packet once it was introduced to this node."""
        answered: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

        def tell(there: bool) -> None:
            if not answered.done():
                answered.set_result(there)

        self._core.meet(self._clock(), contact, tell)
        try:
            async with asyncio.timeout(CONNECT_S):
                return await answered
        except TimeoutError:
            return False

    async def _connects(self, contact: Contact) -> bool:
        try:
            await self._dialer.ask_at(contact, AreYouThere(), Done, timeout_s=CONNECT_S)
        except RemoteError:
            return False
        return True

    def _is_broken(self, peer: NodeId) -> bool:
        """Tell whether this node misses a peer that others reach: what that one sends may not arrive here, either. A
        peer behind a NAT is missed by those who are behind one themselves, and reaches all the same who is open."""
        contact = self._view.contact(peer)
        return self._core.fails(peer) and not (contact is not None and contact.introducers)

    def _open_ones(self, family: Family) -> list[NodeId]:
        """Live members with an address of the family that need no introduction."""
        return [p for p in self._live(family) if (c := self._view.contact(p)) is not None and not c.introducers]

    def _live(self, family: Family) -> list[NodeId]:
        """Live members with an address of the family."""
        view = self._view
        live = sorted(view.live().intersection(view.members()) - {view.node_id})
        return [peer for peer in live if (c := view.contact(peer)) is not None and family in c.families]


def _contact_of(probe: Probe) -> Contact:
    there = Endpoint(probe.host, probe.udp_port, probe.tcp_port)
    return Contact(NodeId(probe.node_id), (there,), tuple(map(NodeId, probe.introducers)))


def choose_introducers(me: NodeId, kept: Sequence[NodeId], able: Collection[NodeId]) -> tuple[NodeId, ...]:
    """Return up to MOST_INTRODUCERS of the members that are able to introduce this node, those of `kept` first."""
    stay = [peer for peer in kept if peer in able]
    others = sorted(set(able) - set(stay), key=lambda peer: distance(peer, me))
    return tuple([*stay, *others][:MOST_INTRODUCERS])
