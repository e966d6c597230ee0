"""Measures packages between two nodes that own everything: one writes, both keep, each record is acknowledged twice.

Each node is a process with the real transport and the whole way of a write: signing, packing, TLS, proofs, two stores.
Beside it the same bytes move unpacked and unlooked at by the same transport between the same processes.
"""

import asyncio
import tempfile
from pathlib import Path

from benchmarks.figures import Row, row
from benchmarks.store.corpus import document_drafts, pages_of
from benchmarks.store.extent import Extent
from benchmarks.store.goals import TRANSFER_OF_TLS
from benchmarks.store.network import Moved, running_peers

REPLICAS = 2
WARM_UP_BYTES = 4 << 20


def rows(extent: Extent) -> list[Row]:
    """Return the rows of packages, beside opaque bytes."""
    with tempfile.TemporaryDirectory(prefix="dse-store-") as folder:
        packages, opaque = asyncio.run(_measured(extent, Path(folder)))
    shares = [ours.mb_per_cpu_s / limit.mb_per_cpu_s for ours, limit in zip(packages, opaque, strict=True)]
    walls = [each.mb_per_s for each in packages]
    what = f"packages between two nodes, r = {REPLICAS}, {packages[0].size / 1e6:.0f} MB unpacked"
    return [
        row(f"{what}, beside opaque bytes by TLS", [each.mb_per_cpu_s for each in packages], "MB/CPU s",
            peer=[each.mb_per_cpu_s for each in opaque]),
        row("packages between two nodes: share of TLS's limit", shares, "", goal=TRANSFER_OF_TLS, at_least=True),
        row("packages between two nodes, by the wall", walls, "MB/s", peer=[each.mb_per_s for each in opaque]),
    ]  # fmt: skip


async def _measured(extent: Extent, folder: Path) -> tuple[list[Moved], list[Moved]]:
    pages, packages, opaque = pages_of(extent.web), list[Moved](), list[Moved]()
    async with running_peers(folder, clients=1, stores=0, replicas=REPLICAS) as peers:
        peers.stores = peers.nodes
        await peers.opaque(WARM_UP_BYTES)
        for turn in range(extent.rounds):
            await peers.load(folder, [document_drafts(pages, extent.of(880, 3_520), turn)])
            packages.append(await peers.write())
            opaque.append(await peers.opaque(packages[-1].size))
    return packages, opaque
