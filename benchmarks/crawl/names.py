"""Measures look-ups of names: the crawler's resolver (getaddrinfo in threads) beside aiodns with a list of servers.

    python -m benchmarks.crawl.names [--quick] [--json]

It runs in namespaces of its own, with name servers on loopback that answer after LATENCY_S; the system's configuration
names these. So it needs root or user namespaces, and `aiodns` (extra `bench`). Each way looks up the same number of
names that nobody knows yet, in a process of its own, of which the processor time counts. The last rows show how long a
request waits for its name, at PACE new sites a second, without and with the look-up that runs ahead of turns.
"""

import asyncio
import json
import os
import resource
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.figures import Row, parser_for, row, show
from crawl import CrawlConfig, refuse_address
from crawl.fetch.resolver import Resolver, usable_addresses
from dht import WorkingFamilies, system_clock

LATENCY_S = 0.02  # of a name server in the same country
SERVERS = ("127.0.0.53", "127.0.0.54", "127.0.0.55")
AT_ONCE = 200  # look-ups that an own client has open
PACE, AHEAD_S = 100, 0.5  # new sites a second, and how long before its turn a site is known
Look = Callable[[str], Awaitable[object]]


class _Answerer(asyncio.DatagramProtocol):
    """Answers each question for A with one address, and for others with none."""

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        end = data.index(0, 12) + 5
        question, (kind,) = data[12:end], struct.unpack_from(">H", data, end - 4)
        answer = b"\xc0\x0c" + struct.pack(">HHIH4B", 1, 1, 300, 4, 10, 1, 2, 3) if kind == 1 else b""
        head = data[:2] + struct.pack(">HHHHH", 0x8180, 1, bool(answer), 0, 0)
        loop = asyncio.get_running_loop()
        loop.call_later(LATENCY_S, self._transport.sendto, head + question + answer, addr)


async def _serve() -> None:
    loop = asyncio.get_running_loop()
    for server in SERVERS:
        await loop.create_datagram_endpoint(_Answerer, local_addr=(server, 53))
    print("ready", flush=True)
    await asyncio.Event().wait()


def _system(threads: int) -> Look:
    config = CrawlConfig(allow_private=True, dns_threads=threads)
    return Resolver(config, {}, WorkingFamilies((4, 6)), system_clock).usable


def _aiodns(servers: Sequence[str] = SERVERS, port: int = 53) -> Look:
    import aiodns

    client = aiodns.DNSResolver(nameservers=list(servers), rotate=True, udp_port=port)
    families = WorkingFamilies((4, 6))

    async def look(name: str) -> list[str]:
        found = await client.getaddrinfo(f"{name}.", family=socket.AF_UNSPEC, type=socket.SOCK_STREAM)
        addresses = dict.fromkeys(node.addr[0].decode() for node in found.nodes)
        allowed = [(each, None) for each in addresses if not refuse_address(each, allow_private=True)]
        return usable_addresses(name, allowed, families)

    return look


WAYS: dict[str, tuple[Callable[[], Look], int]] = {
    "getaddrinfo in 8 threads": (lambda: _system(8), AT_ONCE),
    "getaddrinfo in 64 threads": (lambda: _system(64), AT_ONCE),
    "aiodns, three servers": (_aiodns, AT_ONCE),
}


async def _throughput(way: str, count: int) -> dict[str, float]:
    make, at_once = WAYS[way]
    look, left = make(), iter(range(count))

    async def worker() -> None:
        for n in left:
            await look(f"site{n}.bench.test")

    await look("warm.bench.test")
    began_at, cpu_s = time.monotonic(), _cpu_s()
    async with asyncio.TaskGroup() as tasks:
        for _ in range(at_once):
            tasks.create_task(worker())
    return {"per_s": count / (time.monotonic() - began_at), "cpu_us": (_cpu_s() - cpu_s) / count * 1e6}


async def _waits(*, ahead: bool, count: int) -> dict[str, float]:
    """Return how long a request waits for its name, in ms. Looking ahead, at most 4 names are open, as in a crawl."""
    look, free, waits_ms = _system(8), asyncio.Semaphore(4), list[float]()

    async def prefetch(name: str) -> None:
        async with free:
            await look(name)

    async def turn(name: str) -> None:
        await asyncio.sleep(AHEAD_S)
        began_at = time.monotonic()
        await look(name)
        waits_ms.append((time.monotonic() - began_at) * 1000)

    async with asyncio.TaskGroup() as tasks:
        for n in range(count):
            if ahead:
                tasks.create_task(prefetch(f"turn{n}.bench.test"))
            tasks.create_task(turn(f"turn{n}.bench.test"))
            await asyncio.sleep(1 / PACE)
    return {"mean_ms": fmean(waits_ms), "p95_ms": sorted(waits_ms)[int(0.95 * (count - 1))]}


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _task(*words: str) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-m", __spec__.name, *words], stdout=subprocess.PIPE, check=True, timeout=120
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _rows(quick: bool) -> list[Row]:
    """Measure every way by turns, beside name servers in another process."""
    count, rounds = ("500", 1) if quick else ("3000", 3)
    with subprocess.Popen([sys.executable, "-m", __spec__.name, "serve"], stdout=subprocess.PIPE) as server:
        assert server.stdout is not None and server.stdout.readline() == b"ready\n"
        try:
            found = [{way: _task("look", way, count) for way in WAYS} for _ in range(rounds)]
            waits = {kind: _task("wait", kind, "200" if quick else "1000") for kind in ("", "ahead")}
        finally:
            server.terminate()
    rows = []
    for way in WAYS:
        rows.append(row(f"names a second, {way}", [each[way]["per_s"] for each in found], "1/s"))
        rows.append(row(f"CPU of a name, {way}", [each[way]["cpu_us"] for each in found], "µs"))
    for kind, name in (("", "without looking ahead"), ("ahead", "looked up ahead")):
        rows.append(row(f"a request waits for its name, mean, {name}", [waits[kind]["mean_ms"]], "ms"))
        rows.append(row(f"a request waits for its name, 95 %, {name}", [waits[kind]["p95_ms"]], "ms"))
    return rows


def _shut_in() -> int:
    """Run this program again, in namespaces where the name servers are the system's."""
    with tempfile.TemporaryDirectory() as folder:
        servers = Path(folder) / "resolv.conf"
        servers.write_text("".join(f"nameserver {server}\n" for server in SERVERS) + "options rotate\n")
        script = 'ip link set lo up && mount --bind "$1" /etc/resolv.conf && shift && exec "$@"'
        command = ["sh", "-c", script, "sh", str(servers), sys.executable, "-m", __spec__.name, *sys.argv[1:], "inside"]
        return subprocess.run(["unshare", "-r", "-n", "-m", *command], env=dict(os.environ), check=False).returncode


def main() -> int:
    """Run the benchmark, or one of its tasks; return 0."""
    match sys.argv[1:]:
        case ["serve"]:
            asyncio.run(_serve())
        case ["look", way, count]:
            print(json.dumps(asyncio.run(_throughput(way, int(count)))))
        case ["wait", kind, count]:
            print(json.dumps(asyncio.run(_waits(ahead=bool(kind), count=int(count)))))
        case [*options, "inside"]:
            chosen = parser_for("look-ups of names").parse_args(options)
            show("crawl-names", _rows(chosen.quick), ("aiodns", "pycares"), as_json=chosen.json)
        case options:
            parser_for("look-ups of names").parse_args(options)
            return _shut_in()
    return 0


if __name__ == "__main__":
    sys.exit(main())
