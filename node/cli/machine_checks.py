"""Looks at the machine and the directory of a node, running or not, for `dse-node doctor`."""

import errno
import resource
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

from bootstrap import load_network
from dht import DseError, Identity, Network, absolute_name, parse_document
from node.config.data_dir import DataDir
from node.config.settings import Config, NodeConfig
from node.crawling.fetch_pause import last_room_bytes
from node.errors import BadDataDir, DataDirLocked, NotRunning
from node.views.checkup import Finding, Health, fault_finding, files_finding, strategy_finding
from node.views.status import size

ANY_NAME = "example.com"  # of IANA, for such looks; asked for where the network names nobody (RFC 2606)
NAME_S = 5.0  # a resolver that takes longer makes every fetch wait
FILES_BYTES = 1_000_000_000  # free space from which on nobody need look, however small the quota

LookUp = Callable[[str], None]
"""(name) → nothing where it has an address; raises OSError."""


def resolve(name: str) -> None:
    """Resolve a name as this system does; raises OSError (socket.gaierror), TimeoutError after NAME_S."""
    outcome: list[OSError | None] = []

    def ask() -> None:
        try:
            socket.getaddrinfo(absolute_name(name), None, type=socket.SOCK_STREAM)
            outcome.append(None)
        except OSError as error:
            outcome.append(error)

    thread = threading.Thread(target=ask, daemon=True)  # the system's own patience is longer than ours
    thread.start()
    thread.join(NAME_S)
    if not outcome:
        raise TimeoutError(f"no answer within {NAME_S:.0f} s")
    if outcome[0] is not None:
        raise outcome[0]


def name_finding(names: list[str], look_up: LookUp) -> Finding:
    """Judge whether names resolve, by those that the network uses or, where it uses none, by any."""
    for name in names or [ANY_NAME]:
        try:
            look_up(name)
            return Finding("DNS", "good", f"{name} resolves")
        except OSError as error:
            reason = error.strerror or str(error)
            is_no_name = isinstance(error, socket.gaierror) and error.errno == socket.EAI_NONAME
            health: Health = "look" if is_no_name else "bad"
    remedy = "look at the name servers of this machine (/etc/resolv.conf); a network without the Internet needs none"
    return Finding("DNS", health, f"{name} does not resolve: {reason}", remedy)


def names_of(network: Network, config: NodeConfig) -> list[str]:
    """Return the names that a node looks up to find its network."""
    hosts = [seed.rpartition(":")[0] for seed in network.seeds]
    return [host for host in (*hosts, urlsplit(config.seed_url).hostname or "") if host]


def disk_finding(data: DataDir, config: Config) -> Finding:
    """Judge the free space below a node's directory by what its settings promise and spare."""
    try:
        free = shutil.disk_usage(data.root).free
    except OSError as error:
        return Finding("disk", "bad", f"{data.root}: {error.strerror}", "mount it, or name another --data-dir")
    reserve = config.store.reserve_bytes
    found = f"{size(free)} free; the node leaves {size(reserve)} free (store.reserve_bytes)"
    if free <= reserve:
        return Finding("disk", "bad", found, "make room: below that the node keeps nothing new")
    if free < (least := reserve + last_room_bytes(config.crawl, config.store)):
        found += f"; it crawls only where {size(least)} are free, by its quota of {size(config.store.quota_bytes)}"
        return Finding("disk", "bad", found, "lower store.quota_bytes, or make room")
    if free < min(2 * reserve, FILES_BYTES):
        return Finding("disk", "look", found, "make room soon, or lower store.quota_bytes")
    return Finding("disk", "good", found)


def directory_findings(data: DataDir, network: Path) -> Iterator[Finding]:
    """Judge what lies in a node's directory: its key, its token, its network file; or say that no node lives there."""
    checks: tuple[tuple[str, Callable[[], object]], ...] = (
        ("directory", data.check),
        ("identity", lambda: _check_key(data)),
        ("token", data.read_token),
        ("network", lambda: load_network(network)),
    )
    for name, check in checks:
        try:
            check()
            yield Finding(name, "good", "ok")
        except (DseError, OSError) as error:
            yield fault_finding(name, error, "see docs/volunteer.md")
            if name == "directory":
                return


def _check_key(data: DataDir) -> None:
    data.check_identity()
    Identity.load(data.identity)


def silence_findings(
    data: DataDir, why: DseError | None, config: Config, network: Network | None, now: float
) -> Iterator[Finding]:
    """Say why no node answers: it does not run, and what it would meet, or it holds its directory and is stuck."""
    try:
        if (data.root / "lock").exists():
            with data.lock():
                pass
    except DataDirLocked as held:
        remedy = "wait, if it just started; else check its log, stop it, and start it again"
        state = "does not answer" if isinstance(why, NotRunning) else "cannot be asked"
        yield Finding("node", "bad", f"process {held.pid or 'unknown'} runs it and {state}", remedy)
    except BadDataDir as error:
        yield Finding("node", "bad", str(error), "run `dse-node doctor` as the account that runs the node")
    else:
        yield fault_finding("node", why)
        if network:
            yield from _resting_findings(config, network, now)


def _resting_findings(config: Config, network: Network, now: float) -> Iterator[Finding]:
    """Judge what a node that does not run would meet: taken ports, few open files, an old first strategy."""
    node = config.node
    for family, host in ((4, node.listen_v4), (6, node.listen_v6)):
        if family in node.families:
            yield _port_finding(f"port IPv{family}", family, host, node.peer_port)
    yield _port_finding("web port", 6 if ":" in node.web_address else 4, node.web_address, node.web_port, udp=False)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]  # which a node takes all of, up to what it can use
    yield files_finding(None if hard == resource.RLIM_INFINITY else hard)
    first = parse_document(network.first.document)
    finding = strategy_finding(first.version, first.expires_at, now)
    if finding.health == "good":
        yield finding
    else:
        text = f"of the network file: {finding.found}; peers may have a newer one"
        yield Finding("strategy", "look", text, "start the node: dse-node run")


def _port_finding(name: str, family: int, host: str, port: int, *, udp: bool = True) -> Finding:
    """Tell whether a port can be had; whether strangers reach it only peers can tell."""
    domain = socket.AF_INET6 if family == 6 else socket.AF_INET
    for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM) if udp else (socket.SOCK_STREAM,):
        try:
            with socket.socket(domain, kind) as probe:
                if kind == socket.SOCK_STREAM:
                    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family == 6:
                    probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                probe.bind((host, port))
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            what = f"{host} port {port} is not available: {reason}"
            if error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                return Finding(name, "look", what, "nothing, if this machine has no such address")
            return Finding(name, "bad", what, "stop the program that listens there, or set another port in config.toml")
    return Finding(name, "good", f"port {port} is free (reachability is tested once the node runs)")
