"""What a running overlay is built of, as values that its assembly, or the simulator, gives."""

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from dht.clock import Clock, system_clock
from dht.local_faults import LocalFaults
from dht.protocol.engine import ProtocolEngine
from dht.protocol.events import Event
from dht.reachability.dial_back import DialBack
from dht.reachability.node_role import Mode
from dht.strategy.history import StrategyHistory
from dht.transport.transport import Driver, Transport
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


@dataclass(frozen=True, slots=True)
class OverlayDependencies:
    """What an `OverlayService` is built of. `drive` makes the engine's driver, given what to do with its events."""

    settings: OverlaySettings
    core: ProtocolEngine
    drive: Callable[[OnEvent], Driver]
    transport: Transport
    strategies: StrategyHistory
    clock: Clock
    executor: Executor  # named; for small files
    allow_private: bool = False  # as in DhtConfig
    is_declared: bool = True  # whether the operator says where this node is reached, in every family
    dial_back: DialBack | None = None  # None: never find out whether strangers reach this node, and never for others
    probe_s: float = 0.0  # as in DhtConfig
    packets: bool = True  # carry small messages in packets; False: all by the transport
    rng: Random = field(default_factory=Random)
    faults: LocalFaults = field(default_factory=lambda: LocalFaults(system_clock))  # of this machine
