"""Times durable writes in batches of 256: the store alone, records and their proofs made beforehand.

Sides have their turns one after the other, each on an empty folder; a store's time ends when it is closed. The limit is
what no store can do without on the same bytes: zstd as ours has it, a CRC-32, one append and one fdatasync a batch.
Rates are by the processor's time of all threads, since the disk and the machine are shared; those by the wall stand
beside them.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from zlib import crc32

from benchmarks.figures import Row, row
from benchmarks.store.corpus import Item, batched, document_drafts, items, pages_of, visit_drafts
from benchmarks.store.engines import LEVEL, Engine, Ours, missing, others
from benchmarks.store.extent import Extent
from benchmarks.store.goals import PUTS_OF_LIMIT, PUTS_PER_S
from benchmarks.store.timing import Took, new_folder, timed
from dht import document_id, placement_key
from store.record.package import url_of
from store.record.zstd import squeeze
from store.segments.record_group import MOST, encode_group

LIMIT, APPEND = "zstd + CRC-32 + fdatasync alone", "append + fdatasync, nothing squeezed"
Side = Callable[[Path, Sequence[Item]], Took]


def rows(extent: Extent) -> list[Row]:
    """Return the rows of documents, then those of visits."""
    pages = pages_of(extent.web)
    documents = items(document_drafts(pages, extent.of(1_280, 7_680)))
    visits = items(visit_drafts(pages, extent.of(7_680, 30_720)))
    return [*_rows("documents", documents, extent.rounds), *_rows("visits", visits, extent.rounds)]


def _rows(what: str, found: Sequence[Item], rounds: int) -> list[Row]:
    sides = sides_of()
    took: dict[str, list[Took]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, side in sides.items():
            with new_folder() as folder:
                took[name].append(side(folder, found))
    rates = {name: [len(found) / each.cpu_s for each in times] for name, times in took.items()}
    ours = rates["ours"]
    of_limit = [mine / limit for mine, limit in zip(ours, rates[LIMIT], strict=True)]
    about = f"{what} of {sum(item.size for item in found) / len(found) / 1000:.1f} kB"
    out = [row(f"durable puts, {about}, beside {LIMIT}", ours, "/CPU s", goal=PUTS_PER_S, at_least=True,
               peer=rates[LIMIT])]  # fmt: skip
    out += [row(f"the same beside {name}", ours, "/CPU s", peer=rates[name]) for name in sides if name in rates
            if name not in ("ours", LIMIT)]  # fmt: skip
    out += [row(f"the same beside {name}", ours, "/CPU s", peer="not installed") for name in missing()]
    out.append(row(f"durable puts, {what}: share of the limit", of_limit, "", goal=PUTS_OF_LIMIT, at_least=True))
    walls = {name: [len(found) / each.wall_s for each in times] for name, times in took.items()}
    beside = ", ".join(f"{name} {median(walls[name]):,.0f}" for name in sides if name != "ours")
    out.append(row(f"durable puts, {what}, by the wall", walls["ours"], "/s", peer=beside))
    return out


def sides_of() -> dict[str, Side]:
    """Return who writes, by name; each takes an empty folder and what to write."""
    stores: dict[str, Callable[[Path], Engine]] = {"ours": Ours, **others()}
    return {name: _storing(make) for name, make in stores.items()} | {
        LIMIT: lambda folder, found: _appending(folder, found, squeezed),
        APPEND: lambda folder, found: _appending(folder, found, list),
    }


def _storing(make: Callable[[Path], Engine]) -> Side:
    def side(folder: Path, found: Sequence[Item]) -> Took:
        store, took = make(folder), list[Took]()
        for batch in batched(found):
            for item in batch:  # on every way to the store these were just computed, and are remembered
                document_id(url := url_of(item.record)), placement_key(url)
            took.append(timed(lambda b=batch: store.put(b)))
        took.append(timed(store.close))
        return Took(sum(each.cpu_s for each in took), sum(each.wall_s for each in took))

    return side


def _appending(folder: Path, found: Sequence[Item], treat: Callable[[Sequence[bytes]], list[bytes]]) -> Took:
    folder.mkdir()
    prepared = [parts_of(batch) for batch in batched(found)]
    file = os.open(folder / "frames", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def work() -> None:
        for parts in prepared:
            view = memoryview(b"".join(treat(parts)))
            while view:
                view = view[os.write(file, view) :]
            getattr(os, "fdatasync", os.fsync)(file)

    try:
        return timed(work)
    finally:
        os.close(file)


def parts_of(batch: Sequence[Item]) -> list[bytes]:
    """Return the bytes that lie in frames of ours, before they are squeezed: small records are encoded together."""
    if batch[0].content:
        return [part for item in batch for part in (item.head, item.content)]
    return [encode_group([item.record for item in batch[n : n + MOST]]) for n in range(0, len(batch), MOST)]


def squeezed(parts: Sequence[bytes]) -> list[bytes]:
    """Squeeze parts as ours does, each with its CRC-32."""
    small = [squeeze(part, LEVEL) for part in parts]
    return [piece for part in small for piece in (crc32(part).to_bytes(4, "big"), part)]
