"""Runs nodes as processes on loopback (`peer_process.py`), and measures what they move by their own transport.

Clients write and read, stores keep: clients are members, too, and so own slots, but move records of slots alone that
stores own. Each figure has its limits beside it, moved by the same processes in the same run. They are as many opaque
bytes as the records have before compression, by the nodes' own TLS transport and by bare sockets.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.cpu import tree_s
from benchmarks.ports import free_ports
from benchmarks.store.timing import Took
from bootstrap import new_network
from dht import Identity, Strategy
from node.extras.demo.processes import Child, Children
from store import Draft

FORMED_WITHIN_S = 90.0
LOOK_EVERY_S = 0.25
FOR_GOOD = 1 << 40
SLOT_BITS = 6  # few enough that each node's part of them is soon ready


@dataclass(frozen=True, slots=True)
class Moved:
    """Says how many bytes came across, and what that took: processor's time of all nodes, the slowest one's wall."""

    size: int
    took: Took

    @property
    def mb_per_cpu_s(self) -> float:
        """Megabytes a second of processor's time of all nodes."""
        return self.size / 1e6 / self.took.cpu_s if self.took.cpu_s else 0.0

    @property
    def mb_per_s(self) -> float:
        """Megabytes a second by the wall."""
        return self.size / 1e6 / self.took.wall_s


class Peers:
    """Some nodes that are running, the clients first."""

    def __init__(self, nodes: Sequence["PeerHandle"], clients: int) -> None:
        self.nodes, self.clients = nodes, nodes[:clients]
        self.stores = nodes[clients:] or nodes

    async def load(self, folder: Path, parts: Sequence[Sequence[Draft]]) -> None:
        """Give each client its drafts."""
        owners = [node.id for node in self.stores]
        for client, drafts in zip(self.clients, parts, strict=True):
            file = folder / f"{client.id}.drafts"
            file.write_bytes(msgspec.msgpack.encode(list(drafts)))
            await client.order(do="load", file=str(file), owners=owners)

    async def write(self) -> Moved:
        """Have all clients write what they were given."""
        return await self._all(do="write")

    async def read(self) -> Moved:
        """Have all clients read what they wrote."""
        return await self._all(do="read")

    async def opaque(self, size: int) -> Moved:
        """Have all clients send so many bytes in all to the stores by TLS, as messages."""
        return await self._all(do="opaque", bytes=size // len(self.clients), to=[n.id for n in self._targets])

    async def raw(self, size: int) -> Moved:
        """Have all clients send so many bytes in all to the stores by bare sockets."""
        ports = [node.raw_port for node in self._targets]
        return await self._all(do="raw", bytes=size // len(self.clients), ports=ports)

    @property
    def _targets(self) -> Sequence["PeerHandle"]:
        return [node for node in self.stores if node not in self.clients] or self.stores

    async def _all(self, **order: Any) -> Moved:
        before = self._cpu_s()
        async with asyncio.TaskGroup() as tasks:
            found = [tasks.create_task(client.order(**order)) for client in self.clients]
        answers = [task.result() for task in found]
        took = Took(self._cpu_s() - before, max(answer["wall_s"] for answer in answers))
        return Moved(sum(answer["bytes"] for answer in answers), took)

    def _cpu_s(self) -> float:
        return sum(tree_s(node.child.process.pid) for node in self.nodes)


class PeerHandle:
    """One running node, and the way to give it orders."""

    def __init__(self, identity: Identity, child: Child, folder: Path) -> None:
        self.id, self.child, self.raw_port = identity.node_id.hex(), child, 0
        self._folder = folder
        self._line: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def order(self, **order: Any) -> dict[str, Any]:
        """Send an order and return the answer; raises RuntimeError where the node ended."""
        if self._line is None:
            self._line = await asyncio.open_unix_connection(self._folder / "control")
        reader, writer = self._line
        writer.write(json.dumps(order).encode() + b"\n")
        if not (line := await reader.readline()):
            raise RuntimeError(f"{self.child.name} ended: {self.child.last_words()}")
        return dict(json.loads(line))

    async def is_ready(self) -> bool:
        """Tell whether the node sees all others, and every owner ready."""
        if not self.child.is_running:
            raise RuntimeError(f"{self.child.name} ended: {self.child.last_words()}")
        if not (self._folder / "control").exists():
            return False
        state = await self.order(do="state")
        self.raw_port = state["raw"]
        return bool(state["ready"])

    def close(self) -> None:
        """Give no more orders."""
        if self._line is not None:
            self._line[1].close()


@asynccontextmanager
async def running_peers(folder: Path, clients: int, stores: int, replicas: int) -> AsyncIterator[Peers]:
    """Run so many clients and stores as one network. `stores` 0: the clients are all there are, and the stores, too."""
    count = max(clients + stores, 2)
    identities, ports = [Identity(bytes([n + 1]) * 32) for n in range(count)], free_ports(count)
    strategy = Strategy(
        network="", version=1, effective_at=0, expires_at=FOR_GOOD, next_at=FOR_GOOD, replicas=replicas,
        slot_bits=SLOT_BITS, min_acks=replicas,
    )  # fmt: skip
    file, children = folder / "network.toml", Children(folder)
    file.write_text(new_network("store benchmark", identities[:1], strategy, bootstrap=[f"127.0.0.1:{ports[0]}"]))
    nodes = []
    try:
        for n, (identity, port) in enumerate(zip(identities, ports, strict=True)):
            own = folder / f"peer-{n}"
            own.mkdir()
            order = own / "order.json"
            order.write_text(json.dumps({"seed": (bytes([n + 1]) * 32).hex(), "network": str(file), "port": port,
                                         "folder": str(own), "members": count}))  # fmt: skip
            child = children.start(f"peer-{n}", "benchmarks.store.peer_process", str(order))
            nodes.append(PeerHandle(identity, child, own))
        await _formed(nodes)
        yield Peers(nodes, clients)
    finally:
        for node in nodes:
            node.close()
        await children.stop()


async def _formed(nodes: Sequence[PeerHandle]) -> None:
    end = time.monotonic() + FORMED_WITHIN_S
    while not all([await node.is_ready() for node in nodes]):
        if time.monotonic() > end:
            states = [await node.order(do="state") for node in nodes]
            raise RuntimeError(f"no network within {FORMED_WITHIN_S:.0f} s: {states}")
        await asyncio.sleep(LOOK_EVERY_S)
