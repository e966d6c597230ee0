"""Measures the cost of 5,000 hostile datagrams a second for one real node: processor, log and waits of searches.

The node is one of the demo's, as `dse-node init` makes it and `run` runs it; it has crawled some pages and rests. It is
searched at an even pace while nobody floods, while somebody does, and afterwards again.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles

from benchmarks.cpu import process_s
from benchmarks.figures import Row, row
from benchmarks.ports import free_ports
from benchmarks.soak.web import vocabulary, write
from benchmarks.trust import goals
from bootstrap import load_network
from dht import Identity
from node.extras.demo.runner import Demo, DemoOptions, running_demo

RATE, SECONDS, QUICK_S = 5_000, 15.0, 5.0
SEARCHES_S = 10.0  # a second, one at a time
HOSTS, PAGES, SEED = 3, 20, 1
SETTLED_WITHIN_S = 120.0
NETWORK_BYTES = 4  # of the network's id, in each datagram
CALM_S = 3.0  # after the last packet


@dataclass
class Spell:
    """The figures of a span of time: seconds, those of the node's processor, bytes that it logged, and waits of
    searches."""

    seconds: float
    cpu_s: float
    log_bytes: int
    waits_ms: list[float] = field(default_factory=list)

    @property
    def cpu_share(self) -> float:
        """The part of a core that the node used, as a percentage."""
        return 100 * self.cpu_s / self.seconds

    @property
    def p95_ms(self) -> float:
        """The 95th percentile of the waits, in milliseconds."""
        return quantiles(self.waits_ms, n=20)[18]


def rows(*, is_quick: bool) -> Iterator[Row]:
    """Yield the rows of the flood."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), SEED, HOSTS, PAGES)
        rate, before, loaded, after = asyncio.run(_measured(Path(folder), QUICK_S if is_quick else SECONDS))
    quiet = Spell(1.0, 0.0, 0, before.waits_ms + after.waits_ms)
    calm_share = (before.cpu_share + after.cpu_share) / 2
    who = "datagrams of keys never seen that claim a newer strategy"
    yield row(f"{who}: sent", [rate], "a second")
    yield row(f"{who}: the node's processor, beyond what searches take", [loaded.cpu_share - calm_share], "% of a core",
              goal=goals.FLOOD_CPU)  # fmt: skip
    yield row(f"{who}: bytes of log", [(loaded.log_bytes) / loaded.seconds], "a second")
    yield row("search of that node, p95, quiet", [quiet.p95_ms], "ms")
    yield row("search of that node, p95, while it is flooded", [loaded.p95_ms], "ms")
    yield row("search of that node, p95, flooded beside quiet", [loaded.p95_ms / quiet.p95_ms], "times",
              goal=goals.FLOOD_WAIT)  # fmt: skip


async def _measured(web: Path, seconds: float) -> tuple[float, Spell, Spell, Spell]:
    async with running_demo(DemoOptions(nodes=1, web=web, port=free_ports(1)[0]), lambda _: None) as demo:
        await demo.wait_formed()
        await demo.start_crawl()
        if not await demo.wait_settled(SETTLED_WITHIN_S):
            raise TimeoutError(f"the node had not settled after {SETTLED_WITHIN_S:.0f} s")
        flooder = await _flooder(demo, seconds)
        try:
            await _watched(demo, CALM_S)  # words and caches are warm from here on
            before = await _watched(demo, seconds)
            assert flooder.stdin and flooder.stdout
            flooder.stdin.write(b"go\n")
            loaded = await _watched(demo, seconds)
            rate = float(await flooder.stdout.readline())
            await asyncio.sleep(CALM_S)
            return rate, before, loaded, await _watched(demo, seconds)
        finally:
            if flooder.returncode is None:
                flooder.kill()
            await flooder.wait()


async def _flooder(demo: Demo, seconds: float) -> asyncio.subprocess.Process:
    """Start the process that floods; it has its datagrams and waits for a word."""
    node = demo.nodes[0]
    key = Identity.load(node.data_dir / "identity.key").public_key
    network = load_network(demo.folder / "network.toml").id[: 2 * NETWORK_BYTES]
    words = (str(node.peer_port), key.hex(), network, str(RATE), str(seconds))
    flooder = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "benchmarks.trust.flooder", *words),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert flooder.stdout
    await flooder.stdout.readline()
    return flooder


async def _watched(demo: Demo, seconds: float) -> Spell:
    """Search at an even pace for some time, and see what the node uses."""
    node, child = demo.nodes[0], next(child for child in demo.children.running if child.name == demo.nodes[0].name)
    words, waits = vocabulary(SEED)[:200], list[float]()
    pid = child.process.pid
    used, logged, began = process_s(pid), child.log.stat().st_size, time.monotonic()
    for number in range(int(seconds * SEARCHES_S)):
        await asyncio.sleep(began + number / SEARCHES_S - time.monotonic())
        asked = time.monotonic()
        answer = await demo.client.search(node, f"{words[number % 200]} {words[(7 * number + 1) % 200]}")
        assert answer is not None
        waits.append((time.monotonic() - asked) * 1000)
    taken_s = time.monotonic() - began
    return Spell(taken_s, process_s(pid) - used, child.log.stat().st_size - logged, waits)
