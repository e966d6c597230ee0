"""Stores of several makers behind one set of calls: ours, RocksDB and LMDB.

Ours gets records; the others get their encoded bytes under their names and keep no change log, no sums over the key
space, no order by site, no expiry. RocksDB compresses each value itself (zstd, BlobDB); LMDB, which does not, gets
values squeezed as ours are. Every `put` is durable when it returns.
"""

import asyncio
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import uvloop

from benchmarks.store.corpus import Item
from dht import DocumentId, system_clock
from store import Kind, Record, RecordStore, StoreConfig
from store.record.package_part import PackagePart, make_parts
from store.record.zstd import expand, squeeze
from store.segments.file_system import FolderDisk
from store.segments.segments import Segments

CONFIG = StoreConfig(reserve_bytes=0)
LEVEL = CONFIG.compression_level
MAP_BYTES = 64 << 30  # address space of LMDB, not disk
MOST_BYTES = 8 << 20
OTHERS = {"RocksDB": "rocksdict", "LMDB": "lmdb"}


class Engine(Protocol):
    """One store in a folder."""

    def put(self, batch: Sequence[Item]) -> None:
        """Write a batch; it is durable when this returns."""

    def get(self, item: Item) -> int:
        """Read one item by its name and return its bytes."""

    def scan(self) -> int:
        """Read everything and return the bytes."""

    def forget(self, found: Sequence[Item]) -> None:
        """Delete items."""

    def compact(self) -> None:
        """Give back the room of what was deleted."""

    def close(self) -> None:
        """Close all files."""


class Ours:
    """The store of a node, on a node's event loop."""

    def __init__(self, folder: Path, config: StoreConfig = CONFIG) -> None:
        self._loop = asyncio.Runner(loop_factory=uvloop.new_event_loop)
        self._folder, self._store = folder, RecordStore.open(folder, config, system_clock)

    def put(self, batch: Sequence[Item]) -> None:
        self._put([item.record for item in batch], ())

    def put_package(self, package: Sequence[Item]) -> None:
        """Keep records as they come to all owners of a slot: neighbours in parts."""
        records = [item.record for item in package]
        self._put(records, make_parts(records))

    def _put(self, records: Sequence[Record], parts: Sequence[PackagePart]) -> None:
        assert self._loop.run(self._store.put(records, parts)) == len(records), "all are new"

    def get(self, item: Item) -> int:
        found = self._store.find(Kind(item.name[0]), DocumentId(item.name[1:]))
        assert found is not None
        return len(found.body) + len(found.content or b"")

    def scan(self) -> int:
        segments = Segments(FolderDisk(self._folder), CONFIG.segment_bytes, LEVEL)
        return sum(len(f.head) + len(f.content) for n in segments.numbers for f in segments.frames(n))

    def forget(self, found: Sequence[Item]) -> None:
        self._loop.run(self._store.forget([item.record for item in found]))

    def compact(self) -> None:
        self._loop.run(self._store.upkeep.compact())

    def close(self) -> None:
        self._store.close()
        self._loop.close()


class RocksDb:
    """RocksDB with values in blob files, its log synced with each batch."""

    def __init__(self, folder: Path) -> None:
        import rocksdict

        self._rocks, options = rocksdict, rocksdict.Options(raw_mode=True)
        options.set_enable_blob_files(True)
        options.set_enable_blob_gc(True)
        options.set_blob_gc_age_cutoff(1.0)  # what `compact` may rewrite: everything
        options.set_blob_gc_force_threshold(0.1)
        options.set_min_blob_size(512)
        options.set_blob_compression_type(rocksdict.DBCompressionType.zstd())
        options.set_compression_type(rocksdict.DBCompressionType.zstd())
        self._db = rocksdict.Rdict(str(folder), options)
        durable = rocksdict.WriteOptions()
        durable.sync = True
        self._durable = durable

    def put(self, batch: Sequence[Item]) -> None:
        made = self._rocks.WriteBatch(raw_mode=True)
        for item in batch:
            made.put(item.name, item.head + item.content)
        self._db.write(made, self._durable)

    def get(self, item: Item) -> int:
        return len(self._db.get(item.name))

    def scan(self) -> int:
        return sum(map(len, self._db.values()))

    def forget(self, found: Sequence[Item]) -> None:
        made = self._rocks.WriteBatch(raw_mode=True)
        for item in found:
            made.delete(item.name)
        self._db.write(made, self._durable)

    def compact(self) -> None:
        self._db.flush()
        self._db.compact_range(None, None)

    def close(self) -> None:
        self._db.flush()
        self._db.close()


class Lmdb:
    """LMDB, one synced transaction a batch."""

    def __init__(self, folder: Path) -> None:
        import lmdb

        folder.mkdir(exist_ok=True)
        self._environment = lmdb.open(str(folder), map_size=MAP_BYTES)

    def put(self, batch: Sequence[Item]) -> None:
        with self._environment.begin(write=True) as change:
            for item in batch:
                change.put(item.name, squeeze(item.head + item.content, LEVEL))

    def get(self, item: Item) -> int:
        with self._environment.begin() as look:
            return len(expand(look.get(item.name), MOST_BYTES))

    def scan(self) -> int:
        with self._environment.begin() as look:
            return sum(len(expand(value, MOST_BYTES)) for _, value in look.cursor())

    def forget(self, found: Sequence[Item]) -> None:
        with self._environment.begin(write=True) as change:
            for item in found:
                change.delete(item.name)

    def compact(self) -> None:
        """Do nothing: it uses freed pages again, and never gives them back."""

    def close(self) -> None:
        self._environment.close()


def others() -> dict[str, Callable[[Path], Engine]]:
    """Return the other stores that are installed, by name."""
    makers: dict[str, Callable[[Path], Any]] = {"RocksDB": RocksDb, "LMDB": Lmdb}
    return {name: make for name, make in makers.items() if find_spec(OTHERS[name])}


def missing() -> list[str]:
    """Return the names of other stores that are not installed here."""
    return [name for name, module in OTHERS.items() if not find_spec(module)]


def files_of(folder: Path) -> Iterator[Path]:
    """Yield the files of a store."""
    return (path for path in folder.rglob("*") if path.is_file())


def size_of(folder: Path) -> int:
    """Return the bytes that the files of a store take on the disk: LMDB's has holes."""
    return sum(path.stat().st_blocks * 512 for path in files_of(folder))


def drop_from_memory(folder: Path) -> None:
    """Have the system forget what it keeps of the files of a closed store (POSIX_FADV_DONTNEED)."""
    for path in files_of(folder):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
            with suppress(OSError):
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)
