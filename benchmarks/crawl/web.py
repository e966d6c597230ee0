"""Serves the web that both crawl: which pages, and a server for them in a process of its own.

The web is the medium tier (about 10,000 pages of 235 hosts) if `--web` names its folder or build_web.py put it in
BUILT. Else it is the demo's bundled sample. Each of its hosts has several names then, so that there are enough hosts
for politeness.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_cache_dir

from node.extras.demo.processes import Children, read_hosts, ready_ports
from node.extras.demo.sample_server import host_folders
from node.extras.demo.sample_site import SETTINGS_FILE
from node.extras.demo.sample_web import ServedWeb, unpack_sample

NAMES = 4  # each host of the sample has so many
LOG = "web.jsonl"  # of all answers, in the folder of a run
QUIET_S = 2.0  # after its last answer a web counts as quiet
BUILT = Path(user_cache_dir("dse-node")) / "web-medium"  # --out of build_web.py, if it is to be found again


@dataclass(frozen=True, slots=True)
class Tier:
    """Names a folder with one subfolder per host, and says what a row calls it."""

    root: Path
    name: str


def find_tier(given: Path | None, folder: Path, names: int = NAMES) -> Tier:
    """Return the folder given, or the sample, unpacked into `folder`, each host under so many names."""
    if given is not None:
        manifest = given / "manifest.json"
        told = json.loads(manifest.read_text("utf-8")).get("tier", "") if manifest.is_file() else ""
        return Tier(given, f"{told} tier" if told else given.name)
    root = folder / "sample"
    unpack_sample(root)
    for host in host_folders(root):
        for number in range(2, names + 1):
            _name_again(root, host, f"{host.removesuffix('.test')}{number}.test")
    return Tier(root, f"sample, each host under {names} names")


def _name_again(root: Path, host: str, name: str) -> None:
    settings = root / host / SETTINGS_FILE
    text = settings.read_text("utf-8") if settings.is_file() else ""
    again = "" if "mirror_of" in text else f'mirror_of = "{host}"\n'
    (root / name).mkdir()
    (root / name / SETTINGS_FILE).write_text(again + text, "utf-8")


@asynccontextmanager
async def served(tier: Tier, folder: Path) -> AsyncIterator[ServedWeb]:
    """Serve a tier without its odd ways, over IPv4; the log is LOG in the folder."""
    children = Children(folder)
    hosts = folder / "hosts"
    try:
        child = children.start(
            *(
                "web",
                "node.extras.demo.sample_web",
                "--root",
                str(tier.root),
                "--port",
                "0",
                "--admin-port",
                "0",
                "--calm",
            ),
            *("--log", str(folder / LOG), "--hosts-file", str(hosts), "--no-ipv6", "--cache-mb", "1024"),
        )
        port, admin_port = await ready_ports(child)
        yield ServedWeb(tier.root, port, admin_port, read_hosts(hosts))
    finally:
        await children.stop()


async def flushed(log: Path) -> None:
    """Wait until the server has written the lines of what it has answered."""
    await quiet(log, 0.2)


async def quiet(log: Path, for_s: float = QUIET_S) -> None:
    """Wait until a server's log has not grown for so long."""
    size = -1
    while (now := _size(log)) != size:
        size = now
        await asyncio.sleep(for_s)


def _size(log: Path) -> int:
    return log.stat().st_size
