"""Builds the overlay of a real node, by hand and in order: sockets, engine, TLS channel, files."""

import ipaddress
import random
import socket
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path

from dht.clock import Clock
from dht.config import DhtConfig
from dht.identity.node_key import Identity
from dht.keys import NodeId
from dht.local_faults import LocalFaults
from dht.membership.working_families import WorkingFamilies
from dht.overlay.service import OverlayService
from dht.overlay.settings import OverlayFiles, OverlaySettings
from dht.protocol.engine import ProtocolEngine
from dht.protocol.self_heartbeat import is_any
from dht.protocol.udp_driver import UdpDriver, bind_udp
from dht.reachability.dial_back import DialBack
from dht.strategy.history import StrategyHistory
from dht.strategy.network import Network
from dht.transport.tls_channel import TlsChannel
from dht.wire.address_policy import AddressPolicy
from dht.wire.contact import Address

PORT = 9  # of any host; connecting a datagram socket is a look at the routes


def open_overlay(
    identity: Identity,
    network: Network,
    config: DhtConfig,
    settings: OverlaySettings,
    clock: Clock,
    rng: random.Random,
    executor: Executor,
    faults: LocalFaults | None = None,
) -> OverlayService:
    """Build an overlay, its ports bound, its peers of earlier runs remembered; raises LocalError. Then `join` the
    first contacts and `run` it. `executor`: one named thread for small files. `faults`: who is told what
    this machine refuses."""
    faults = faults or LocalFaults(clock)
    strategies = _open_history(network, settings.folder, faults)
    declared = {4: config.announce_v4, 6: config.announce_v6}
    is_declared = all(declared[e.family] or not is_any(e.host) for e in settings.listening)
    policy = AddressPolicy(strategies.current(clock()).declared_prefixes, config.allow_private)
    core = _make_engine(identity, network, config, settings, policy, rng, is_declared=is_declared)
    sockets = [bind_udp(endpoint.udp) for endpoint in settings.listening]
    probe_s = 0.0 if config.allow_private else config.probe_s  # on one machine everybody is reached
    overlay = OverlayService(
        replace(settings, is_declared=is_declared, probe_s=probe_s),
        core,
        lambda on_event: UdpDriver(core, clock, sockets, on_event),
        _make_channel(identity, network, core, settings, clock, rng, faults),
        strategies,
        clock,
        OverlayFiles(settings.folder, executor, faults),
        DialBack(identity, bytes.fromhex(network.id), rng),
    )
    overlay.remember()
    return overlay


def _make_engine(
    identity: Identity,
    network: Network,
    config: DhtConfig,
    settings: OverlaySettings,
    policy: AddressPolicy,
    rng: random.Random,
    *,
    is_declared: bool,
) -> ProtocolEngine:
    listening = settings.listening
    fixed = (e.family for e in listening if not is_any(e.host))
    core = ProtocolEngine(
        identity,
        bytes.fromhex(network.id),
        config,
        rng,
        listening=listening,
        policy=policy,
        member=settings.member,
        families=WorkingFamilies((e.family for e in listening), source_towards, fixed),
    )
    if settings.mode == "client" or (settings.mode == "auto" and not is_declared):
        core.take_part(False)
    return core


def _make_channel(
    identity: Identity,
    network: Network,
    core: ProtocolEngine,
    settings: OverlaySettings,
    clock: Clock,
    rng: random.Random,
    faults: LocalFaults,
) -> TlsChannel:
    addresses = tuple(Address(endpoint.host, endpoint.tcp_port) for endpoint in settings.listening)

    def hear_time(peer: NodeId, at: float) -> None:
        core.clocks.told(peer, at, clock())

    channel = TlsChannel(identity, network.id, addresses, core.families, clock, rng, hear_time, faults)
    channel.bind()
    return channel


def _open_history(network: Network, folder: Path | None, faults: LocalFaults) -> StrategyHistory:
    if folder is None:
        return StrategyHistory(network)
    folder.mkdir(parents=True, exist_ok=True)
    return StrategyHistory(network, folder / "strategy", faults)


def source_towards(host: str) -> str:
    """Return the address from which the system sends to a host, "" where it has no route or no usable address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((host, PORT))
            source = str(probe.getsockname()[0]).partition("%")[0]
    except OSError:
        return ""
    return "" if ipaddress.ip_address(source).is_link_local and not ipaddress.ip_address(host).is_link_local else source
