"""The TLS channel of a node joins a server and a client that share identity, network and clock.

It is the `Transport` of real nodes; the simulator has its own. Each family of addresses has one TCP port, the same on
which peers send datagrams.
"""

import random

from dht.clock import Clock
from dht.identity.node_key import Identity
from dht.transport.tls_client import TlsClient
from dht.transport.tls_server import TlsServer
from dht.transport.transport import Answerer, MayRelay, Route
from dht.wire.contact import Address


class TlsChannel:
    """Asks peers and answers them over TLS 1.3."""

    def __init__(
        self, identity: Identity, network: str, addresses: tuple[Address, ...], clock: Clock, rng: random.Random
    ) -> None:
        """`addresses`: what to listen on, at most one a family; these families are also the ones used to ask."""
        self._server = TlsServer(identity, network, clock, addresses)
        self._client = TlsClient(identity, network, clock, rng, frozenset(a.family for a in addresses))

    async def run(self, answerer: Answerer, may_relay: MayRelay) -> None:
        """Answer until cancelled, then close every connection. Raises LocalError where a port cannot be used."""
        try:
            await self._server.run(answerer, may_relay)
        finally:
            await self._client.close()

    async def ask(self, route: Route, name: str, body: bytes, *, timeout_s: float) -> bytes:
        """Send one message; raises PeerTimeout, PeerGone, BadMessage or PeerRefused."""
        return await self._client.ask(route, name, body, timeout_s=timeout_s)

    def clock_offset_s(self) -> float:
        """Return how far ahead of this node's wall clock those of its peers are; 0 before three have answered."""
        return self._client.clock_offset_s()
