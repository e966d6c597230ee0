"""The TLS channel of a node joins a server and a client that share identity, network and clock.

It is the `Transport` of real nodes; the simulator has its own. Each family of addresses has one TCP port, the same on
which peers send datagrams.
"""

import asyncio
import random

from dht.clock import Clock
from dht.identity.node_key import Identity
from dht.keys import NodeId
from dht.local_faults import LocalFaults
from dht.membership.working_families import WorkingFamilies
from dht.supervisor import STRICT, Supervisor
from dht.transport.tls_client import TlsClient
from dht.transport.tls_server import TlsServer
from dht.transport.transport import Answerer, FindRelayed, HearTime, IsMember, NoConnection, Reach, Route
from dht.wire.contact import Address, Endpoint


class TlsChannel:
    """Asks peers and answers them over TLS 1.3."""

    def __init__(
        self,
        identity: Identity,
        network: str,
        addresses: tuple[Address, ...],
        families: WorkingFamilies,
        clock: Clock,
        rng: random.Random,
        hear_time: HearTime,
        faults: LocalFaults | None = None,
    ) -> None:
        """`addresses`: what to listen on, at most one a family; `families`: over which to ask.
        `faults`: who is told when there are no handles left for new connections."""
        self._server = TlsServer(identity, network, clock, addresses, rng, faults or LocalFaults(clock))
        self._links, self._clock = self._server.links, clock
        self._client = TlsClient(identity, network, clock, rng, families, hear_time)

    def bind(self) -> None:
        """Take the ports before `run`; raises PortMissing."""
        self._server.bind()

    async def run(
        self,
        answerer: Answerer,
        find_relayed: FindRelayed,
        reach: Reach,
        is_member: IsMember,
        supervisor: Supervisor = STRICT,
    ) -> None:
        """Answer peers until cancelled, then close every connection. Raises LocalError where a port cannot be used.

        `answerer` answers each message. `find_relayed` finds the peer to which this node relays an asker's bytes.
        `reach` has a peer behind a NAT dial a port of this node. `is_member` distinguishes members from strangers.
        `supervisor` restarts what fails."""
        try:
            await self._server.run(answerer, find_relayed, reach, is_member, supervisor)
        finally:
            await self._client.close()

    async def ask(self, route: Route, name: str, body: bytes, *, timeout_s: float) -> bytes:
        """Send one message; raises PeerTimeout, NoConnection, PeerGone, BadMessage or PeerRefused."""
        link = self._links.find(route.peer.node_id)
        if link is None and (route.relay is not None or not route.peer.introducers):
            return await self._client.ask(route, name, body, timeout_s=timeout_s)
        began = self._clock().steady
        try:
            async with asyncio.timeout(min(route.connect_s, timeout_s)):
                link = link or await self._links.open(route.peer)
        except TimeoutError:
            raise NoConnection(route.peer.node_id.hex(), self._clock().steady - began) from None
        return await link.ask(name, body, timeout_s=timeout_s - (self._clock().steady - began))

    def dial(self, peer: NodeId, endpoint: Endpoint, any_port: bool) -> None:
        """Dial a peer that dials this node at this moment; from any port where it lets everybody in."""
        self._links.dial(peer, endpoint, any_port)

    async def renew(self) -> None:
        """Ask over new connections from now on."""
        await self._client.renew()
