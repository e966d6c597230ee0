"""Serves the sample web: a small, realistic internet on loopback, bundled or from a folder with a subfolder per host.

    python -m node.extras.demo.sample_web [--root DIR] --port 8800 --log requests.jsonl

Hosts are told apart by the Host header, so proxy requests work too; `hosts_file` maps them to loopback addresses of
both families.  A `_site.toml` in a host's folder sets its behaviour (sample_settings.py); none is needed.
Read sample_site.py next, then sample_server.py.
"""

import argparse
import asyncio
import contextlib
import io
import os
import signal
import socket
import sys
import tarfile
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import zstandard
from aiohttp import web

from dht import DseError, LocalError
from node.extras.demo.sample_server import SampleServer, host_folders
from node.extras.demo.sample_settings import BadSite
from node.extras.demo.sample_site import SampleSite, Times, seeded

SAMPLE = Path(__file__).with_name("sample.tar.zst")
SAMPLE_BYTES = 32 << 20  # more than the bundled archive unpacks to
IPV4, IPV6 = "127.0.0.1", "::1"
CLOSING_S = 0.5  # what open requests get at the end


@dataclass(frozen=True, slots=True)
class ServedWeb:
    """Describes a web that is being served: its folder, its ports, and each host's loopback addresses."""

    root: Path
    port: int
    admin_port: int
    hosts: dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """Says how to serve, where it matters to tests and benchmarks only."""

    seed: str = "1"  # of everything random
    time_scale: float = 1.0  # hurries the clock that pages change by
    cache_bytes: int = 128 << 20  # memory for finished responses
    spread: int = 16  # how many 127.0.1.x addresses hosts share
    is_calm: bool = False  # no latency, errors, limits, changes, traps or redirects: every visitor sees the same
    mix_families: bool = False  # hosts that declare none: 60 % both, 25 % IPv4, 15 % IPv6, instead of both


Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


class PortTaken(LocalError):
    """Says that a port which the sample web was told to use is taken."""


def unpack_sample(to: Path) -> None:
    """Unpack the bundled web into a folder; only plain files with plain relative names are ever written."""
    plain = zstandard.ZstdDecompressor().decompress(SAMPLE.read_bytes(), max_output_size=SAMPLE_BYTES)
    with tarfile.open(fileobj=io.BytesIO(plain)) as tar:
        for member in tar:
            name, content = PurePosixPath(member.name), tar.extractfile(member) if member.isfile() else None
            if content is None or name.is_absolute() or ".." in name.parts:
                continue
            file = to / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content.read())
            os.utime(file, (member.mtime, member.mtime))  # becomes Last-Modified


def hosts_file(served: ServedWeb) -> str:
    """Return 'host address' lines, one for each address, for the crawler's crawl.hosts_file."""
    return "".join(f"{host} {address}\n" for host, addresses in served.hosts.items() for address in addresses)


def start_urls(served: ServedWeb) -> list[str]:
    """Return the front page of every host."""
    return [f"http://{host}:{served.port}/" for host in served.hosts]


@asynccontextmanager
async def serve(
    root: Path,
    port: int = 0,
    admin_port: int = 0,
    log: Path | None = None,
    *,
    ipv6: bool = True,
    options: ServeOptions = ServeOptions(),
) -> AsyncIterator[ServedWeb]:
    """Serve a folder of hosts on loopback; port 0 takes a free one.  Raises PortTaken and BadSite.

    Without IPv6 (asked for, and there) every host has an IPv4 address; where 127.0.1.x cannot be bound, 127.0.0.1.
    """
    check_root(root)
    has_ipv6 = ipv6 and _can_bind(IPV6)
    usable = {address for address in _ipv4_addresses(options.spread) if _can_bind(address)}
    async with contextlib.AsyncExitStack() as stack:
        lines = stack.enter_context(log.open("a", encoding="utf-8", buffering=1)) if log else None
        times = Times(time.time(), options.time_scale)
        server = SampleServer(root, lines, times, options.seed, options.cache_bytes, is_calm=options.is_calm)
        hosts = {host: _addresses(site, options, usable, has_ipv6) for host, site in server.sites.items()}
        every = {IPV4, *([IPV6] if has_ipv6 else []), *(a for found in hosts.values() for a in found)}
        port = await _listen(stack, server.handle, sorted(every), port)
        admin_port = await _listen(stack, server.admin, [IPV4], admin_port)
        for site in server.sites.values():
            site.port = port
        yield ServedWeb(root, port, admin_port, hosts)


def check_root(root: Path) -> None:
    """Raise BadSite where a folder holds no sites."""
    if not host_folders(root):
        raise BadSite(f"{root}: no folder with one subfolder per host, such as {root}/example.test/index.html")


async def _listen(stack: contextlib.AsyncExitStack, handler: Handler, where: Iterable[str], port: int) -> int:
    """Answer on one port of each address until the stack closes; returns the port."""
    port = port or _free_port()
    runner = web.ServerRunner(web.Server(handler, access_log=None), shutdown_timeout=CLOSING_S)
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    for address in where:
        try:
            await web.TCPSite(runner, address, port, backlog=1024).start()
        except OSError as error:
            raise PortTaken(f"port {port} of {address}: {error.strerror}; choose another with --port") from error
    return port


def _ipv4_addresses(spread: int) -> list[str]:
    return [f"127.0.1.{n}" for n in range(1, spread + 1)]


def _addresses(site: SampleSite, options: ServeOptions, usable: set[str], has_ipv6: bool) -> tuple[str, ...]:
    """Return a host's addresses: the families it declares, as far as the machine has them."""
    families = site.settings.families or (4, 6)
    if options.mix_families and not site.settings.families:
        families = seeded("family", site.name).choices([(4, 6), (4,), (6,)], [60, 25, 15])[0]
    v4 = seeded("address", site.name).choice(_ipv4_addresses(options.spread))
    v4 = v4 if v4 in usable else IPV4
    if not has_ipv6:
        return (v4,)
    return tuple(address for family, address in ((4, v4), (6, IPV6)) if family in families)


def _can_bind(address: str) -> bool:
    """Tell whether this machine has a loopback address."""
    try:
        with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as probe:
            probe.bind((address, 0))
    except OSError:
        return False
    return True


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((IPV4, 0))
        return int(probe.getsockname()[1])


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m node.extras.demo.sample_web", description="serve a sample web on loopback"
    )
    parser.add_argument("--root", type=Path, help="folder with one subfolder per host; the bundled web if left out")
    parser.add_argument("--port", type=int, default=8800, help="port of all hosts; 0 takes a free one")
    parser.add_argument("--admin-port", type=int, default=8801, help="port of the counters; 0 takes a free one")
    parser.add_argument("--log", type=Path, help="request log, JSON lines")
    parser.add_argument("--hosts-file", type=Path, help="write 'host address' lines here")
    parser.add_argument("--no-ipv6", action="store_true", help="IPv4 only")
    parser.add_argument("--mix-families", action="store_true", help="some hosts IPv4-only, some IPv6-only")
    parser.add_argument("--calm", action="store_true", help="hosts keep their files and robots.txt, and no odd ways")
    parser.add_argument("--cache-mb", type=int, default=128, help="memory for finished responses")
    parser.add_argument("--seed", default="1", help="seed of everything random")
    parser.add_argument("--time-scale", type=float, default=1.0, help="hurry the clock that pages change by")
    return parser.parse_args(arguments)


async def run(args: argparse.Namespace, root: Path) -> None:
    """Serve until SIGTERM or SIGINT; one line says that it is ready."""
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    options = ServeOptions(
        seed=args.seed,
        time_scale=args.time_scale,
        cache_bytes=args.cache_mb << 20,
        is_calm=args.calm,
        mix_families=args.mix_families,
    )
    async with serve(root, args.port, args.admin_port, args.log, ipv6=not args.no_ipv6, options=options) as served:
        if args.hosts_file:
            args.hosts_file.write_text(hosts_file(served), "utf-8")
        print(f"{len(served.hosts)} hosts on port {served.port}; admin port {served.admin_port}", flush=True)
        await stop.wait()


def main() -> int:
    """Run as a program and return the exit code."""
    args = parse()
    try:
        if args.root:
            asyncio.run(run(args, args.root))
        else:
            with tempfile.TemporaryDirectory() as folder:
                unpack_sample(Path(folder))
                asyncio.run(run(args, Path(folder)))
    except DseError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
