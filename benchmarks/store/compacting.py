"""Times compaction of segments of which half is dead, and counts what it writes.

Amplification is what a store hands to the system while it compacts (index and logs included) over what was alive: 1
would be a bare copy. Of any hundred documents in a row DEAD are deleted, just more than the half at which a segment is
rewritten. Segments have 4 MiB here, so that there are many; the newest, which is written to, stays.
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from benchmarks.figures import Row, row
from benchmarks.store.corpus import Item, batched, document_drafts, items, pages_of
from benchmarks.store.engines import Engine, Ours, others, size_of
from benchmarks.store.extent import Extent
from benchmarks.store.timing import new_folder, timed, written_bytes
from store import StoreConfig

DEAD = 52  # of a hundred
CONFIG = StoreConfig(reserve_bytes=0, segment_bytes=4 << 20)


def rows(extent: Extent) -> list[Row]:
    """Return the rows of seconds and of bytes written."""
    found = items(document_drafts(pages_of(extent.web), extent.of(2_560, 10_240)))
    makers = {"ours": partial(Ours, config=CONFIG), **{name: make for name, make in others().items() if name != "LMDB"}}
    took = {name: [_measured(make, found) for _ in range(extent.rounds)] for name, make in makers.items()}
    size_mb = sum(item.size for item in found) / 1e6
    what = f"compaction, {DEAD} % dead of {len(found):,} documents ({size_mb:.0f} MB unpacked)"
    peers = [name for name in took if name != "ours"] or [""]
    out = []
    for kind, unit, at in (("processor's time", "s", 0), ("wall", "s", 1), ("written ÷ alive", "", 2),
                           ("bytes after ÷ bytes before", "", 3)):  # fmt: skip
        for name in peers:
            peer = [each[at] for each in took[name]] if name else "none is installed"
            out.append(row(f"{what}: {kind}, beside {name}" if name else f"{what}: {kind}",
                           [each[at] for each in took["ours"]], unit, peer=peer))  # fmt: skip
    return out


def _measured(make: Callable[[Path], Engine], found: Sequence[Item]) -> tuple[float, float, float, float]:
    """CPU seconds, wall seconds, bytes written over what was alive, and what is left on the disk of what was there."""
    with new_folder() as folder:
        store = make(folder)
        for batch in batched(found):
            store.put(batch)
        store.close()
        before = size_of(folder)
        store = make(folder)
        for batch in batched([item for n, item in enumerate(found) if n % 100 < DEAD]):
            store.forget(batch)
        written = written_bytes()

        def work() -> None:
            store.compact()
            store.close()

        took = timed(work)
        return (
            took.cpu_s,
            took.wall_s,
            (written_bytes() - written) / (before * (100 - DEAD) / 100),
            size_of(folder) / before,
        )
