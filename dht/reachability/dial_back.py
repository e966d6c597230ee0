"""Dialling back by datagram: does a PING from a port that never sent anything to a peer reach it?

A NAT or firewall lets answers through to whom its host sent something; a new port of ours was never sent to. The PING
is an ordinary one without MAC, so whoever is there answers it; the answer's MAC proves who it is.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from random import Random

from dht.errors import RemoteError
from dht.identity.node_key import Identity, node_id_of
from dht.keys import NodeId
from dht.wire.contact import Address
from dht.wire.packets import PacketHeader, PacketKind, Ping, decode_packet, encode_packet, is_from

TRIES, WAIT_S = 2, 1.5  # two packets lost in a row are rare; further than 1.5 s there is no place on Earth
SIZE = 256  # room for an answer without news, which is never longer than its question

Receive = Callable[[bytes], None]


Send = Callable[[bytes], None]
OpenPort = Callable[[Address, Receive], AbstractAsyncContextManager[Send]]
"""Opens a port that never sent anything, for one address; raises OSError where its family is missing."""


@asynccontextmanager
async def open_udp_port(address: Address, receive: Receive) -> AsyncIterator[Send]:
    """Open a real UDP socket, connected to an address; raises OSError where there is no way there."""
    loop = asyncio.get_running_loop()
    remote = (address.host, address.port)
    transport, _ = await loop.create_datagram_endpoint(lambda: _UdpPort(receive), remote_addr=remote)
    try:
        yield transport.sendto
    finally:
        transport.close()


class DialBack:
    """Sends PINGs from new ports, and tells whether the right peer answered."""

    def __init__(self, identity: Identity, network: bytes, rng: Random, open_port: OpenPort = open_udp_port) -> None:
        self._identity, self._network, self.rng, self._open_port = identity, network, rng, open_port

    async def reaches(self, address: Address, peer: NodeId) -> bool:
        """Tell whether a peer answers at a UDP address, within TRIES · WAIT_S seconds."""
        transaction, answered = self.rng.randbytes(8), asyncio.Event()
        header = PacketHeader(self._network[:4], self._identity.public_key, 0, bytes(8))
        ping = encode_packet(header, transaction, Ping(0, 0, b"", ()), None, size=SIZE)

        def receive(data: bytes) -> None:
            if self._is_answer(data, transaction, peer):
                answered.set()

        try:
            async with self._open_port(address, receive) as send:
                for _ in range(TRIES):
                    send(ping)
                    with suppress(TimeoutError):
                        async with asyncio.timeout(WAIT_S):
                            return await answered.wait()
        except OSError:
            return False
        return False

    def _is_answer(self, data: bytes, transaction: bytes, peer: NodeId) -> bool:
        """Tell whether a datagram is the peer's PONG to our PING."""
        try:
            packet = decode_packet(data)
            is_pong = packet.kind is PacketKind.PONG and packet.transaction == transaction
            if not is_pong or node_id_of(packet.public_key) != peer:
                return False
            return is_from(packet, self._identity.shared_key(packet.public_key))
        except RemoteError:
            return False


class _UdpPort(asyncio.DatagramProtocol):
    def __init__(self, receive: Receive) -> None:
        self._receive = receive

    def datagram_received(self, data: bytes, addr: object) -> None:
        self._receive(data)

    def error_received(self, exc: Exception) -> None:
        """ICMP says that nobody listens; the wait tells the same."""
