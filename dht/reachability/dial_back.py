"""A first-contact PING from a socket of its own: does a datagram of a stranger arrive?

A NAT or firewall lets answers through to whom its host sent something; a new port of ours was never sent to. The PING
is an ordinary one without MAC, so whoever is there answers it; the answer's MAC proves who it is.
"""

import asyncio
from collections.abc import Callable, Coroutine
from random import Random
from typing import Any

from dht.errors import RemoteError
from dht.identity.node_key import Identity, node_id_of
from dht.keys import NodeId
from dht.wire.contact import Address
from dht.wire.packets import PacketHeader, PacketKind, Ping, decode_packet, encode_packet, is_from

TRIES, WAIT_S = 2, 1.5  # two packets lost in a row are rare; further than 1.5 s there is no place on Earth
SIZE = 256  # room for an answer without news, which is never longer than its question

DialBack = Callable[[Address, NodeId], Coroutine[Any, Any, bool]]
"""(UDP address, who should be there) → whether it answered."""


class DialBackPing:
    """The PING and what answers it."""

    def __init__(self, identity: Identity, network: bytes, peer: NodeId, rng: Random) -> None:
        self._identity, self._peer = identity, peer
        self._transaction = rng.randbytes(8)
        stamp = PacketHeader(network[:4], identity.public_key, 0, bytes(8))
        self.data = encode_packet(stamp, self._transaction, Ping(0, 0, b"", ()), None, size=SIZE)

    def is_answered(self, data: bytes) -> bool:
        """Whether this datagram is the peer's PONG to it."""
        try:
            packet = decode_packet(data)
            is_its = packet.kind is PacketKind.PONG and packet.transaction == self._transaction
            if not is_its or node_id_of(packet.public_key) != self._peer:
                return False
            return is_from(packet, self._identity.shared_key(packet.public_key))
        except RemoteError:
            return False


def udp_dial_back(identity: Identity, network: bytes, rng: Random) -> DialBack:
    """Knocks over real sockets."""

    async def knock(address: Address, peer: NodeId) -> bool:
        loop, question = asyncio.get_running_loop(), DialBackPing(identity, network, peer, rng)
        heard = asyncio.Event()
        try:
            transport, _ = await loop.create_datagram_endpoint(
                lambda: _Ear(question, heard), remote_addr=(address.host, address.port)
            )
        except OSError:
            return False  # no such family here, or no way there
        try:
            for _ in range(TRIES):
                transport.sendto(question.data)
                try:
                    async with asyncio.timeout(WAIT_S):
                        await heard.wait()
                        return True
                except TimeoutError:
                    continue
        finally:
            transport.close()
        return False

    return knock


class _Ear(asyncio.DatagramProtocol):
    """Listens for the answer."""

    def __init__(self, question: DialBackPing, heard: asyncio.Event) -> None:
        self._question, self._heard = question, heard

    def datagram_received(self, data: bytes, addr: object) -> None:
        if self._question.is_answered(data):
            self._heard.set()

    def error_received(self, exc: Exception) -> None:
        """ICMP says that nobody listens; the wait tells the same."""
