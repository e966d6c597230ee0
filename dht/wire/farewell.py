"""A farewell is a member's signed statement that it stops and gives up its vote until it returns.

Pure: values only. It is short, so that heartbeats and grants can carry it. A grant that few members signed is valid
because the farewells in it prove that the other members had stopped.
"""

from typing import Annotated

import msgspec
from msgspec import Meta

from dht.identity.node_key import Identity, node_id_of, verify
from dht.keys import NodeId

DOMAIN = b"dse-node farewell 1"
DECLARED = bytes(64)  # in place of a signature: the owner of a node has it go on without the author
FEW_MEMBERS = 3  # of a network in which farewells count: a larger one has members that stand in

Id = Annotated[bytes, Meta(min_length=20, max_length=20)]
PublicKey = Annotated[bytes, Meta(min_length=32, max_length=32)]
Signature = Annotated[bytes, Meta(min_length=64, max_length=64)]
Instant = Annotated[int, Meta(ge=0, lt=1 << 40)]


class Farewell(msgspec.Struct, frozen=True, array_like=True):
    """States that the owner of a key stopped at an instant (Unix seconds). `sequence`: that of its last heartbeat."""

    network: Id
    public_key: PublicKey
    sequence: Annotated[int, Meta(ge=0, lt=1 << 32)]
    at_s: Instant
    signature: Signature

    @property
    def author(self) -> NodeId:
        """The id of the node that stopped."""
        return node_id_of(self.public_key)

    @property
    def is_declared(self) -> bool:
        """Whether another node's owner declared it. It proves nothing and stays on that node."""
        return self.signature == DECLARED


_encoder = msgspec.msgpack.Encoder()


def sign_farewell(identity: Identity, network: bytes, sequence: int, at_s: int) -> Farewell:
    """Make this node's farewell."""
    said = network, identity.public_key, sequence, at_s
    return Farewell(*said, identity.sign(DOMAIN, _encoder.encode(said)))


def is_signed_farewell(said: Farewell, network: bytes) -> bool:
    """Tell whether a farewell is for this network (20 bytes) and its author signed it."""
    words = said.network, said.public_key, said.sequence, said.at_s
    return said.network == network and verify(DOMAIN, said.public_key, _encoder.encode(words), said.signature)
