"""Dialling back by datagram: does a PING from a port that never sent anything to a peer reach it?

A NAT or firewall lets answers through to whom its host sent something; a new port of ours was never sent to. The PING
is an ordinary one without MAC, so whoever is there answers it; the answer's MAC proves who it is.
"""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from typing import Protocol, cast

from dht.errors import RemoteError
from dht.identity.node_key import Identity, node_id_of
from dht.keys import NodeId
from dht.wire.contact import Address
from dht.wire.packets import PacketHeader, PacketKind, Ping, decode_packet, encode_packet, is_from

TRIES, WAIT_S = 2, 1.5  # two packets lost in a row are rare; further than 1.5 s there is no place on Earth
SIZE = 256  # room for an answer without news, which is never longer than its question

Receive = Callable[[bytes], None]


class NewPort(Protocol):
    """A UDP port that was opened for one dial-back."""

    def send(self, data: bytes) -> None:
        """Send a datagram to the address that the port was opened for."""

    def close(self) -> None:
        """Give the port back."""


OpenPort = Callable[[Address, Receive], Awaitable[NewPort]]
"""Opens a new port for one address, whose datagrams go to `Receive`; raises OSError where its family is missing."""


async def open_udp_port(address: Address, receive: Receive) -> NewPort:
    """Open a real UDP socket, connected to an address; raises OSError where there is no way there."""
    _, port = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: _UdpPort(receive), remote_addr=(address.host, address.port)
    )
    return port


class DialBack:
    """Sends PINGs from new ports, and tells whether the right peer answered."""

    def __init__(self, identity: Identity, network: bytes, rng: Random, open_port: OpenPort = open_udp_port) -> None:
        self._identity, self._network, self._rng, self._open_port = identity, network, rng, open_port

    async def reaches(self, address: Address, peer: NodeId) -> bool:
        """Tell whether a peer answers at a UDP address, within TRIES · WAIT_S seconds."""
        transaction, answered = self._rng.randbytes(8), asyncio.Event()
        header = PacketHeader(self._network[:4], self._identity.public_key, 0, bytes(8))
        ping = encode_packet(header, transaction, Ping(0, 0, b"", ()), None, size=SIZE)

        def receive(data: bytes) -> None:
            if self._is_answer(data, transaction, peer):
                answered.set()

        try:
            port = await self._open_port(address, receive)
        except OSError:
            return False
        try:
            for _ in range(TRIES):
                port.send(ping)
                try:
                    async with asyncio.timeout(WAIT_S):
                        await answered.wait()
                        return True
                except TimeoutError:
                    continue
        finally:
            port.close()
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

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: object) -> None:
        self._receive(data)

    def error_received(self, exc: Exception) -> None:
        """ICMP says that nobody listens; the wait tells the same."""

    def send(self, data: bytes) -> None:
        self._transport.sendto(data)

    def close(self) -> None:
        self._transport.close()
