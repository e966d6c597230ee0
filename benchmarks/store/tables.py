"""Measures on today's store what the thesis of 2006 measured (tables 13 to 17): upload and download.

Bytes move one to one, one to many and many to many, between clients and stores that are processes on loopback. Each
record has one copy, with whichever of the stores owns its slot. An upload is acknowledged when it is durable there, a
download is proved by who reads. The limits are moved by the same clients to the same stores: opaque bytes by the same
TLS transport, and by bare sockets. A quick run has one to one alone.
"""

import asyncio
import tempfile
from pathlib import Path

from benchmarks.figures import Row, row
from benchmarks.store.corpus import document_drafts, pages_of
from benchmarks.store.extent import Extent
from benchmarks.store.network import Moved, running_peers
from benchmarks.store.transfer import WARM_UP_BYTES

SIDES = {"one to one": (1, 1), "one to many": (1, 3), "many to many": (3, 3)}  # clients, stores
TURNS = ("upload", "download", "TLS", "sockets")


def rows(extent: Extent) -> list[Row]:
    """Return the rows of uploads, then those of downloads."""
    sides = {name: counts for name, counts in SIDES.items() if name == "one to one" or not extent.quick}
    found: dict[str, dict[str, list[Moved]]] = {}
    for name, (clients, stores) in sides.items():
        with tempfile.TemporaryDirectory(prefix="dse-store-") as folder:
            found[name] = asyncio.run(_measured(extent, Path(folder), clients, stores))
    out = []
    for what in TURNS[:2]:
        for name, (clients, stores) in sides.items():
            about = f"{what}, {name} ({clients} to {stores})"
            cpu = {turn: [each.mb_per_cpu_s for each in moved] for turn, moved in found[name].items()}
            wall = {turn: [each.mb_per_s for each in moved] for turn, moved in found[name].items()}
            size_mb = found[name][what][0].size / 1e6
            out += [
                row(f"{about}, {size_mb:.0f} MB, beside TLS", wall[what], "MB/s", peer=wall["TLS"]),
                row(f"{about}, beside bare sockets", wall[what], "MB/s", peer=wall["sockets"]),
                row(f"{about}, by the processors' time, beside TLS", cpu[what], "MB/CPU s", peer=cpu["TLS"]),
            ]
    return out


async def _measured(extent: Extent, folder: Path, clients: int, stores: int) -> dict[str, list[Moved]]:
    pages = pages_of(extent.web)
    found: dict[str, list[Moved]] = {turn: [] for turn in TURNS}
    async with running_peers(folder, clients, stores, replicas=1) as peers:
        await peers.opaque(WARM_UP_BYTES)
        count = extent.of(880, 2_640) * (clients + stores) // stores // clients  # clients own slots, which are left out
        for turn in range(extent.rounds):
            parts = [document_drafts(pages, count, turn * clients + n) for n in range(clients)]
            await peers.load(folder, parts)
            found["upload"].append(await peers.write())
            found["download"].append(await peers.read())
            size = found["upload"][-1].size
            found["TLS"].append(await peers.opaque(size))
            found["sockets"].append(await peers.raw(size))
    return found
