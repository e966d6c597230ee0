"""Runs a bare overlay node, to which others make first contact: `python -m bootstrap --network FILE`.

It keeps peers and strategies, passes datagrams and, where it has both families, relays; it never owns a slot, crawls,
stores or answers a query. Everybody can run one, and a network loses nothing when all of them are gone.
Exit codes: 0 stopped, 1 this machine failed, 2 wrong use, 78 a bad network file.
"""

import argparse
import asyncio
import fcntl
import ipaddress
import logging
import random
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TextIO

from bootstrap.networks import first_contacts, load_network
from dht import (
    Address,
    BadIdentity,
    BadStrategy,
    DhtConfig,
    DseError,
    Endpoint,
    Identity,
    LocalFaults,
    Network,
    OverlaySettings,
    Supervisor,
    leaves_of,
    library_log,
    open_overlay,
    system_clock,
    when_told_to_stop,
)

log = logging.getLogger(__name__)

DEFAULT_PORT = 8091


def _utc_lines() -> logging.Formatter:
    """Write log lines as `dse-node run` does: ISO 8601 in UTC, to the millisecond."""
    formatter = logging.Formatter("%(asctime)s %(levelname)-7s %(name)s %(message)s")
    formatter.converter = time.gmtime
    formatter.default_time_format, formatter.default_msec_format = "%Y-%m-%dT%H:%M:%S", "%s.%03dZ"
    return formatter


def main(arguments: list[str] | None = None) -> int:
    """Run a bare overlay node until SIGINT or SIGTERM; return its exit code."""
    options = _parser().parse_args(arguments)
    lines = logging.StreamHandler(sys.stderr)
    lines.setFormatter(_utc_lines())
    logging.basicConfig(level=logging.INFO, handlers=[lines])
    library_log("asyncio")
    try:
        network = load_network(options.network)
        options.data_dir.mkdir(parents=True, exist_ok=True)
        with (options.data_dir / "lock").open("a") as lock:
            _hold(lock, options.data_dir)
            asyncio.run(_serve(network, options))
    except (DseError, OSError, ExceptionGroup) as error:
        causes = list(leaves_of(error))
        if not all(isinstance(cause, DseError | OSError) for cause in causes):
            raise  # a fault of ours: the whole trace
        for cause in causes:
            print(f"bootstrap: {cause}", file=sys.stderr)
        return 78 if any(isinstance(cause, BadStrategy) for cause in causes) else 1
    return 0


async def _serve(network: Network, options: argparse.Namespace) -> None:
    """Run one overlay until a signal stops it."""
    folder: Path = options.data_dir
    identity = _identity(folder / "identity", folder / "dht")
    config = DhtConfig(allow_private=options.allow_private)
    hosts = [host for host in (options.listen_v4, options.listen_v6) if host]
    listening = tuple(Endpoint(host, options.port, options.port) for host in hosts)
    place = OverlaySettings(listening, folder / "dht", member=False, puzzle=folder / "identity.puzzle")
    with ThreadPoolExecutor(1, thread_name_prefix="dht-files") as executor:
        faults = LocalFaults(system_clock)
        overlay = open_overlay(identity, network, config, place, system_clock, random.SystemRandom(), executor, faults)
        own = {endpoint.udp for endpoint in place.listening}
        overlay.join(first_contacts(network, overlay.view.strategy), by_network=True)
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(overlay.run(supervisor=Supervisor(faults)), name="overlay")
            when_told_to_stop(running.cancel)
            for address in own:
                log.info("bootstrap runs id=%s network=%s at=%s", identity.node_id.hex(), network.name, _shown(address))


def _hold(lock: TextIO, folder: Path) -> None:
    """Hold a folder for this process, however it ends; raises BadIdentity where another one has it."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        remedy = "stop that node first, or give this one its own --data-dir"
        raise BadIdentity(str(folder), "is in use by another process", remedy) from None


def _identity(path: Path, peers: Path) -> Identity:
    """Return the node's identity, made at its first start; raises BadIdentity where it was lost since."""
    if path.exists():
        return Identity.load(path)
    if peers.is_dir() and any(peers.iterdir()):
        remedy = f"put it back from a backup; to start as a new node, move {path.parent} away"
        raise BadIdentity(str(path), "is missing, though a node has run here", remedy)
    identity = Identity.generate()
    identity.save(path)
    return identity


def _shown(address: Address) -> str:
    return f"[{address.host}]:{address.port}" if address.family == 6 else f"{address.host}:{address.port}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bootstrap", description="A bare overlay node.")
    parser.add_argument("--network", type=Path, required=True, metavar="FILE", help="the network file")
    parser.add_argument("--port", type=_port, default=DEFAULT_PORT, help="UDP and TCP port (8091)")
    parser.add_argument("--data-dir", type=Path, default=Path("bootstrap-data"), metavar="DIR", help="identity, peers")
    for version, every in ((4, "0.0.0.0"), (6, "::")):
        about = f'IPv{version} address, "" for none ({every})'
        parser.add_argument(
            f"--listen-v{version}", type=partial(_address, version=version), default=every, metavar="IP", help=about
        )
    parser.add_argument("--allow-private", action="store_true", help="let private addresses take part (test networks)")
    return parser


def _address(text: str, version: int) -> str:
    """Return a literal address of an IP version, or "" for none."""
    try:
        is_fit = not text or ipaddress.ip_address(text).version == version
    except ValueError:
        is_fit = False
    if not is_fit:
        raise argparse.ArgumentTypeError(f"{text!r} is not an IPv{version} address")
    return text


def _port(text: str) -> int:
    if not text.isdigit() or not 0 < int(text) < 65536:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: choose 1 … 65535")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
