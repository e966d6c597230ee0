"""Runs one node's overlay, store and replicator as a process, without crawler and index, and does what it is told.

    python -m benchmarks.store.peer_process ORDER.json

Orders come as lines of JSON over a Unix socket in its folder (`network.py` sends them), each is answered by one line.
Bytes are those of bodies and contents before compression; seconds are the wall's.
"""

import asyncio
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Awaitable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random, SystemRandom
from typing import Annotated, Any

import msgspec
import uvloop
from msgspec import Meta

from bootstrap import load_network
from dht import (
    DhtConfig,
    Endpoint,
    Identity,
    Message,
    NodeId,
    OverlayService,
    OverlaySettings,
    SiteShards,
    Slot,
    open_overlay,
    slot_of,
    system_clock,
)
from dht.messages import Done
from node.crawling.store_change_feed import RecordRules
from node.sites.host_book import HostBook
from store import Draft, Kind, RecordCheck, RecordStore, Replicator, StoreConfig

PIECE_BYTES = 1 << 20  # of opaque bytes in a message: as large as packages are
AT_ONCE = StoreConfig().max_flushes  # messages, as many as there are packages under way
WRITTEN_AT_ONCE, READ_AT_ONCE = 16, 64  # drafts of one write, records of one read
TIMEOUT_S = 60.0
KIND = Kind(200)  # a page as a record of a newer version's kind, which needs no lease: nobody holds one here
ANNOUNCE_EVERY_S = 0.5


class Opaque(Message, frozen=True, array_like=True):
    """Carries bytes that mean nothing."""

    data: Annotated[bytes, Meta(max_length=4 << 20)]


class PeerProcess:
    """One node that is told what to do."""

    def __init__(self, overlay: OverlayService, store: RecordStore, replicator: Replicator, members: int) -> None:
        self._overlay, self._store, self._replicator, self._members = overlay, store, replicator, members
        self._drafts: list[Draft] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=_swallow, args=(self._listening,), daemon=True).start()
        overlay.serve(Opaque, self._take)

    async def do(self, order: dict[str, Any]) -> dict[str, Any]:
        """Carry out one order."""
        jobs = {"load": self._load, "write": self._write, "read": self._read, "opaque": self._send, "raw": self._raw}
        if order["do"] == "state":
            return self._state()
        began = time.perf_counter()
        size = await jobs[order["do"]](order)
        return {"bytes": size, "wall_s": time.perf_counter() - began}

    async def announce(self) -> None:
        """Tell the others for which slots this node is ready."""
        while True:
            self._overlay.announce(self._replicator.ready_slots(), 0)
            await asyncio.sleep(ANNOUNCE_EVERY_S)

    def _state(self) -> dict[str, Any]:
        view, slots = self._overlay.view, [Slot(n) for n in range(1 << self._overlay.view.strategy.slot_bits)]
        owners = [view.owners(slot) for slot in slots]
        is_ready = all(view.is_ready(peer, slot) for slot, peers in zip(slots, owners, strict=True) for peer in peers)
        mine = view.owned() <= self._replicator.ready_slots()
        return {"ready": len(view.live()) == self._members and is_ready and mine, "raw": self._port,
                "live": len(view.live()), "owned": len(view.owned()),
                "ready_slots": len(self._replicator.ready_slots())}  # fmt: skip

    @property
    def _port(self) -> int:
        return int(self._listening.getsockname()[1])

    async def _load(self, order: dict[str, Any]) -> int:
        """Take drafts of which `owners`, and nobody else, own the slots."""
        drafts = msgspec.msgpack.decode(await asyncio.to_thread(Path(order["file"]).read_bytes), type=list[Draft])
        wanted, view = set(map(bytes.fromhex, order["owners"])), self._overlay.view
        bits = view.strategy.slot_bits
        mine = [d for d in drafts if wanted.issuperset(view.owners(slot_of(d.key, bits)))]
        self._drafts = [msgspec.structs.replace(draft, kind=KIND) for draft in mine]
        return _size(self._drafts)

    async def _write(self, order: dict[str, Any]) -> int:
        parts = _parts(self._drafts, WRITTEN_AT_ONCE)
        await _all(self._replicator.write(part) for part in parts)
        return _size(self._drafts)

    async def _read(self, order: dict[str, Any]) -> int:
        found = 0

        async def read(part: Sequence[Draft]) -> None:
            nonlocal found
            records = await self._replicator.read_many([(d.kind, d.id, d.key) for d in part], content=True)
            assert len(records) == len(part), f"{len(part) - len(records)} records were not found"
            found += sum(len(r.body) + len(r.content or b"") for r in records.values())

        await _all(read(part) for part in _parts(self._drafts, READ_AT_ONCE))
        return found

    async def _send(self, order: dict[str, Any]) -> int:
        """Send opaque bytes to peers in turn."""
        data, peers, count = os.urandom(PIECE_BYTES), order["to"], max(1, order["bytes"] // PIECE_BYTES)
        targets = [NodeId(bytes.fromhex(peers[n % len(peers)])) for n in range(count)]
        await _all(self._overlay.ask(peer, Opaque(data), Done, timeout_s=TIMEOUT_S) for peer in targets)
        return count * PIECE_BYTES

    async def _take(self, peer: NodeId, message: Opaque) -> Done:
        return Done()

    async def _raw(self, order: dict[str, Any]) -> int:
        """Send bytes over bare sockets, one to each peer."""
        each = order["bytes"] // len(order["ports"])
        async with asyncio.TaskGroup() as tasks:
            for port in order["ports"]:
                tasks.create_task(asyncio.to_thread(_pour, port, each))
        return each * len(order["ports"])


async def _all(jobs: Any) -> None:
    """Do all jobs, AT_ONCE at once."""
    line = iter(jobs)

    async def work() -> None:
        job: Awaitable[object]
        for job in line:
            await job

    async with asyncio.TaskGroup() as tasks:
        for _ in range(AT_ONCE):
            tasks.create_task(work())


def _parts(drafts: Sequence[Draft], size: int) -> Iterator[Sequence[Draft]]:
    return (drafts[n : n + size] for n in range(0, len(drafts), size))


def _size(drafts: Sequence[Draft]) -> int:
    return sum(len(draft.body) + len(draft.content) for draft in drafts)


def _pour(port: int, size: int) -> None:
    data = memoryview(bytes(PIECE_BYTES))
    with socket.create_connection(("127.0.0.1", port)) as connection:
        while size > 0:
            connection.sendall(data[:size])
            size -= len(data)
        connection.shutdown(socket.SHUT_WR)
        connection.recv(1)


def _swallow(listening: socket.socket) -> None:
    while True:
        connection, _ = listening.accept()
        threading.Thread(target=_swallow_one, args=(connection,), daemon=True).start()


def _swallow_one(connection: socket.socket) -> None:
    room = bytearray(PIECE_BYTES)
    with connection:
        while connection.recv_into(room):
            pass
        connection.sendall(b"k")


async def main(order: dict[str, Any]) -> None:
    """Run until cancelled."""
    identity, folder = Identity(bytes.fromhex(order["seed"])), Path(order["folder"])
    network, port, rng = load_network(Path(order["network"])), order["port"], SystemRandom()
    where = (Endpoint("127.0.0.1", port, port),)
    config = StoreConfig(reserve_bytes=0)
    with ThreadPoolExecutor(1, thread_name_prefix="dht-files") as files:
        dht = DhtConfig(allow_private=True)
        overlay = open_overlay(identity, network, dht, OverlaySettings(where), system_clock, rng, files)
        joins = overlay.join([each.udp for each in network.bootstrap], by_network=True)
        store = RecordStore.open(folder / "store", config, system_clock)
        places = SiteShards(overlay.view, HostBook(system_clock))
        own = Random(rng.random())  # as a node gives to each part
        check = RecordCheck(RecordRules(), places, store.denial)
        replicator = Replicator(store, overlay, identity, check, own, expects_others=joins)
        peer = PeerProcess(overlay, store, replicator, order["members"])

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while line := await reader.readline():
                writer.write(json.dumps(await peer.do(json.loads(line))).encode() + b"\n")
                await writer.drain()

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(overlay.run(), name="overlay")
            tasks.create_task(replicator.run(), name="replicator")
            tasks.create_task(peer.announce(), name="announce")
            server = await asyncio.start_unix_server(serve, folder / "control", limit=1 << 20)
            tasks.create_task(server.serve_forever(), name="orders")


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(json.loads(Path(sys.argv[1]).read_text())))
