"""The settings of a running overlay: where it listens, what it keeps, and as what it takes part."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dht.protocol.events import Event
from dht.reachability.node_role import Mode
from dht.wire.contact import Endpoint

OnEvent = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class OverlaySettings:
    """Where and as what a node runs. `listening`: at most one endpoint a family, v4 first; 0.0.0.0 or :: for all."""

    listening: tuple[Endpoint, ...]
    folder: Path | None = None  # for strategies, the peer cache and the note of votes; None keeps nothing
    member: bool = True  # False: a bare bootstrap node, which holds nothing
    puzzle: Path | None = None  # file of the identity's solved puzzle; None: it is solved at each start
    invitation: Path | None = None  # file of this node's invitation; there need be none
    vouchers: Path | None = None  # folder of those that were handed out in words, to be found by them
    mode: Mode = "member"  # a client takes no part but by asking; auto: whether strangers reach it decides
    is_declared: bool = True  # whether the operator says where this node is reached, in every family
    probe_s: float = 0.0  # as in DhtConfig
    packets: bool = True  # carry small messages in packets; False: all by the transport
