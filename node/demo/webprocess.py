"""The sample web as a process of the demo, and what it said when it was ready."""

import asyncio
import re
import time
from pathlib import Path

from node.demo.processes import Child, Children
from node.demo.sampleweb import ServedWeb, unpack_sample

READY = re.compile(r"\d+ hosts on port (\d+); admin port (\d+)")
READY_WITHIN_S = 20.0


async def start_web(children: Children, root: Path | None, folder: Path, ipv6: bool) -> ServedWeb:
    """Serve a folder of sites, or the bundled web; returns when it answers. Its log is FOLDER/web.jsonl."""
    if root is None:
        root = folder / "web"
        unpack_sample(root)
    hosts = folder / "hosts"
    family = [] if ipv6 else ["--no-ipv6"]
    child = children.start(
        *("web", "node.demo.sampleweb", "--root", str(root), "--port", "0", "--admin-port", "0"),
        *("--log", str(folder / "web.jsonl"), "--hosts-file", str(hosts), *family),
    )
    port, admin_port = await ready_ports(child)
    return ServedWeb(root, port, admin_port, read_hosts(hosts))


async def ready_ports(child: Child) -> tuple[int, int]:
    """The ports that the web names in its ready line; OSError with its last words where it does not come up."""
    until = time.monotonic() + READY_WITHIN_S
    while time.monotonic() < until and child.is_running:
        if found := READY.search(child.log.read_text()):
            return int(found[1]), int(found[2])
        await asyncio.sleep(0.05)
    raise OSError(f"the sample web did not start: {child.last_words()}")


def read_hosts(path: Path) -> dict[str, tuple[str, ...]]:
    """'host address' lines, as a table of addresses by host."""
    hosts: dict[str, tuple[str, ...]] = {}
    for host, address in (line.split() for line in path.read_text().splitlines()):
        hosts[host] = (*hosts.get(host, ()), address)
    return hosts
