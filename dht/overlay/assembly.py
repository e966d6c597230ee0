"""Builds the overlay of a real node: sockets, core, TLS channel, files, by hand and in order."""

import random
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

from dht.clock import Clock
from dht.config import DhtConfig
from dht.identity.node_key import Identity
from dht.overlay.service import OnEvent, OverlayDependencies, OverlayService
from dht.protocol.engine import ProtocolEngine
from dht.protocol.self_heartbeat import is_any
from dht.protocol.udp_driver import UdpDriver, bind_udp
from dht.reachability.dial_back import DialBack
from dht.reachability.node_role import Mode
from dht.strategy.history import StrategyHistory
from dht.strategy.network import Network
from dht.transport.tls_channel import TlsChannel
from dht.wire.address_policy import AddressPolicy
from dht.wire.contact import Address, Endpoint


@dataclass(frozen=True, slots=True)
class OverlaySettings:
    """Where a node runs. `listening`: at most one endpoint a family, v4 first; 0.0.0.0 or :: for all addresses."""

    listening: tuple[Endpoint, ...]
    folder: Path | None = None  # in the data directory; made if missing
    member: bool = True
    puzzle: Path | None = None  # file of the identity's solved puzzle, beside its key
    mode: Mode = "member"  # a client takes no part but by asking; auto: whether strangers reach it decides


def open_overlay(
    identity: Identity,
    network: Network,
    config: DhtConfig,
    place: OverlaySettings,
    clock: Clock,
    rng: random.Random,
    executor: Executor,
) -> OverlayService:
    """A node's overlay, its UDP ports bound, its peers of earlier runs remembered. Raises LocalError.

    Then `join` the first contacts and `run` it. `executor`: one named thread for small files.
    """
    if place.folder is not None:
        place.folder.mkdir(parents=True, exist_ok=True)
    strategies = StrategyHistory(network, place.folder / "strategy" if place.folder is not None else None)
    declared = {4: config.announce_v4, 6: config.announce_v6}
    is_declared = all(declared[e.family] or not is_any(e.host) for e in place.listening)
    policy = AddressPolicy(strategies.current(clock()).declared_prefixes, config.allow_private)
    core = ProtocolEngine(
        identity,
        bytes.fromhex(network.id),
        config,
        rng,
        listening=place.listening,
        policy=policy,
        member=place.member,
        quiet=place.mode == "client" or (place.mode == "auto" and not is_declared),
    )
    addresses = tuple(Address(endpoint.host, endpoint.tcp_port) for endpoint in place.listening)
    channel = TlsChannel(identity, network.id, addresses, clock, rng)
    sockets = [bind_udp(endpoint.udp) for endpoint in place.listening]

    def drive(on_event: OnEvent) -> UdpDriver:
        return UdpDriver(core, clock, sockets, on_event)

    parts = OverlayDependencies(
        core=core,
        drive=drive,
        transport=channel,
        strategies=strategies,
        families=frozenset(endpoint.family for endpoint in place.listening),
        clock=clock,
        executor=executor,
        allow_private=config.allow_private,
        folder=place.folder,
        member=place.member,
        puzzle=place.puzzle,
        mode=place.mode,
        is_declared=is_declared,
        dial_back=DialBack(identity, bytes.fromhex(network.id), rng),
        probe_s=0.0 if config.allow_private else config.probe_s,  # on one machine everybody is reached
        rng=rng,
    )
    overlay = OverlayService(parts)
    overlay.remember()
    return overlay
