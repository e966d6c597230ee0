"""The web of the lab: the sample web of node/extras/demo, each site at addresses of its own, of one family or both.

python -m tests.lab.sites ROOT LOG     serves it on every address of the host that it runs on
"""

import asyncio
import random
import signal
import sys
import time
from pathlib import Path

from aiohttp import web

from node.extras.demo.sample_server import SampleServer, host_folders
from node.extras.demo.sample_settings import parse_settings
from node.extras.demo.sample_site import Times

PORT = 8800
PREFIX4, PREFIX6 = "203.0.113", "2001:db8:ffff:"
READY = "the web is served"
CACHE_BYTES = 64 << 20


def site_addresses(root: Path, seed: int) -> dict[str, tuple[str, ...]]:
    """Return each site's addresses. Families that a site does not declare are dealt out in turn: both, v4, v6."""
    names = host_folders(root)
    dealt = random.Random(seed).sample(names, len(names))
    found = {}
    for number, name in enumerate(names, 1):
        file = root / name / "_site.toml"
        declared = parse_settings(file.read_text(), str(file)).families if file.exists() else ()
        families = declared or ((4, 6), (4,), (6,))[dealt.index(name) % 3]
        addresses = {4: f"{PREFIX4}.{number}", 6: f"{PREFIX6}:{number:x}"}
        found[name] = tuple(addresses[family] for family in families)
    return found


async def _serve(root: Path, log: Path) -> None:
    with log.open("a", encoding="utf-8", buffering=1) as lines:
        server = SampleServer(root, lines, Times(time.time(), 1.0), "1", CACHE_BYTES)
        for site in server.sites.values():
            site.port = PORT
        runner = web.ServerRunner(web.Server(server.handle, access_log=None), shutdown_timeout=0.5)
        await runner.setup()
        for address in ("0.0.0.0", "::"):
            await web.TCPSite(runner, address, PORT, backlog=1024).start()
        stopped = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
        print(READY, flush=True)
        await stopped.wait()


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1]), Path(sys.argv[2])))
