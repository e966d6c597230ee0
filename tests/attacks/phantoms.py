"""Made-up identities, as an outsider makes them: keys, addresses and packets of its own, and nobody at home.

All lie behind one machine of a simulated network. Each says every few seconds that it is a member and ready for all
slots; some answer datagrams, none takes a connection.
"""

import asyncio
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_address
from random import Random

from dht.identity.node_key import Identity
from dht.keys import NodeId, Slot
from dht.slot_set import encode_slots
from dht.wire.contact import Address, Endpoint
from dht.wire.heartbeat import Heartbeat, pack_endpoint, sign_heartbeat
from dht.wire.packets import PacketHeader, PacketKind, Ping, Pong, decode_packet, encode_packet
from node.extras.simulation.world import World

PORT = 9000
EVERY_S = 6.0
GRACE_S = 40_000.0
WHOLE = (1 << 32) - 1


@dataclass
class Phantom:
    """One identity, and the address that it claims."""

    identity: Identity
    address: Address

    @property
    def node_id(self) -> NodeId:
        return self.identity.node_id


class Phantoms:
    """Runs made-up identities in a world. `are_heard`: they answer datagrams; `attests`: whom they say they reached."""

    def __init__(self, world: World, count: int, *, are_heard: bool = False, member: bool = True) -> None:
        self._world, self._are_heard, self._member, self.attests = world, are_heard, member, b""
        rng = Random("phantoms")
        hosts = (f"54.{n // 250}.{n % 250}.1" for n in range(count))
        self.all = [Phantom(Identity(rng.randbytes(32)), Address(host, PORT)) for host in hosts]
        for phantom in self.all:
            world.wire.attach("phantoms", phantom.address, partial(self._hear, phantom))

    @property
    def ids(self) -> frozenset[NodeId]:
        return frozenset(phantom.node_id for phantom in self.all)

    async def haunt(self, seconds: float) -> None:
        """Say to every running node, every few seconds, who all of them are."""
        ends = self._world.loop.time() + seconds
        while self._world.loop.time() < ends:
            for phantom in self.all:
                for node in self._world.running():
                    for place in (address for address in node.addresses if address.family == 4):
                        ping = Ping(0, WHOLE, b"", (self._heartbeat(phantom, node.core.rules.network),))
                        data = self._packet(phantom, node.identity.public_key, node.core.rules.network, ping)
                        self._world.wire.send("phantoms", data, phantom.address, place)
            await asyncio.sleep(EVERY_S)

    def _heartbeat(self, phantom: Phantom, network: bytes) -> bytes:
        wall, bits = self._world.loop.clock()().wall, self._world.plan.slot_bits
        ready = encode_slots(map(Slot, range(1 << bits)))
        place = pack_endpoint(Endpoint(phantom.address.host, PORT, PORT))
        beat = Heartbeat(phantom.identity.public_key, int(wall), wall, wall + GRACE_S, (place,), member=self._member,
                         strategy_version=1, slot_bits=bits, ready=ready, attests=self.attests)  # fmt: skip
        return sign_heartbeat(phantom.identity, beat, network)

    def _packet(
        self, phantom: Phantom, to: bytes, network: bytes, body: Ping | Pong, transaction: bytes = b"phantoms"
    ) -> bytes:
        header = PacketHeader(network[:4], phantom.identity.public_key, 1, bytes(8))
        return encode_packet(header, transaction, body, phantom.identity.shared_key(to), size=1232)

    def _hear(self, phantom: Phantom, data: bytes, source: Address) -> None:
        network = self._world.running()[0].core.rules.network
        packet = decode_packet(data)
        if self._are_heard and packet.kind is PacketKind.PING:
            seen = (ip_address(source.host).packed, source.port)
            pong = Pong(seen, (self._heartbeat(phantom, network),))
            answer = self._packet(phantom, packet.public_key, network, pong, packet.transaction)
            self._world.wire.send("phantoms", answer, phantom.address, source)
