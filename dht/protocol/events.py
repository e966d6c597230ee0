"""Events are what the protocol engine tells the node, as values.

Pure: values only.
"""

from dataclasses import dataclass

from dht.keys import NodeId
from dht.membership.refused_heartbeats import RefusedHeartbeat
from dht.wire.contact import Contact, Endpoint


@dataclass(frozen=True, slots=True)
class StrategyAhead:
    """A peer has a newer strategy than this node, or another one of the same version: ask it for its chain. `contact`:
    where it answered this node, given if it is no live member here."""

    peer: NodeId
    version: int
    contact: Contact | None = None


@dataclass(frozen=True, slots=True)
class MembersChanged:
    """The set of members changed; owners computed for an older epoch are void."""

    epoch: int


@dataclass(frozen=True, slots=True)
class DialWanted:
    """An introducer says that a peer dials this node from an endpoint now, and wants to be dialled there; `token` is
    what to say there first. `any_port`: the peer lets everybody in, so that it may be dialled from any port."""

    peer: NodeId
    endpoint: Endpoint
    token: bytes
    any_port: bool


Event = StrategyAhead | MembersChanged | DialWanted | RefusedHeartbeat
