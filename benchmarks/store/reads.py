"""Times random reads, of a store that the system keeps nothing of (cold) and again (hot), and scans of all of it.

Cold means that all files were synced and their pages dropped (POSIX_FADV_DONTNEED) while the store was closed. Then it
was opened anew. Caches of the disk itself or of the machine below are not under our control. Those rates are by the
wall, since they are about the disk; all others are by the processor's time. A document is read whole, with its proof.
"""

import random
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.figures import Row, row
from benchmarks.store.corpus import Item, batched, document_drafts, items, pages_of
from benchmarks.store.engines import Engine, Ours, drop_from_memory, others
from benchmarks.store.extent import Extent
from benchmarks.store.goals import COLD_READS_PER_S, SCAN_MB_PER_S
from benchmarks.store.timing import Took, new_folder, timed

COLD, HOT, SCAN = "cold", "hot", "scan"


def rows(extent: Extent) -> list[Row]:
    """Return the rows of reads, then those of scans."""
    found = items(document_drafts(pages_of(extent.web), extent.of(2_560, 12_800)))
    wanted = random.Random(1).sample(found, extent.of(500, 2_000))
    took = {name: _measured(make, found, wanted, extent.rounds) for name, make in {"ours": Ours, **others()}.items()}
    size_mb = sum(item.size for item in found) / 1e6
    cold = {name: [len(wanted) / each.wall_s for each in times[COLD]] for name, times in took.items()}
    hot = {name: [len(wanted) / each.cpu_s for each in times[HOT]] for name, times in took.items()}
    scan = {name: [size_mb / each.cpu_s for each in times[SCAN]] for name, times in took.items()}
    out = []
    for what, unit, rates, goal in (
        ("random reads of documents, cold, by the wall", "/s", cold, COLD_READS_PER_S),
        ("random reads of documents, hot", "/CPU s", hot, None),
        (f"scan of all records, {size_mb:.0f} MB unpacked, checked", "MB/CPU s", scan, SCAN_MB_PER_S),
    ):
        names = [name for name in rates if name != "ours"]
        out.append(row(f"{what}, beside {names[0]}" if names else what, rates["ours"], unit, goal=goal, at_least=True,
                       peer=rates[names[0]] if names else "none is installed"))  # fmt: skip
        out += [row(f"the same beside {name}", rates["ours"], unit, peer=rates[name]) for name in names[1:]]
    return out


def _measured(
    make: Callable[[Path], Engine], found: Sequence[Item], wanted: Sequence[Item], rounds: int
) -> dict[str, list[Took]]:
    took: dict[str, list[Took]] = {COLD: [], HOT: [], SCAN: []}
    with new_folder() as folder:
        store = make(folder)
        for batch in batched(found):
            store.put(batch)
        store.close()
        for turn in range(rounds):
            drop_from_memory(folder)
            store = make(folder)
            part = wanted[turn::rounds]  # each is read cold once: a neighbour may come along with another's page
            took[COLD].append(_scaled(timed(lambda s=store, p=part: _read(s, p)), len(wanted) / len(part)))
            _read(store, wanted)
            took[HOT].append(timed(lambda s=store: _read(s, wanted)))
            took[SCAN].append(timed(store.scan))
            store.close()
    return took


def _read(store: Engine, wanted: Sequence[Item]) -> None:
    for item in wanted:
        store.get(item)


def _scaled(took: Took, factor: float) -> Took:
    return Took(took.cpu_s * factor, took.wall_s * factor)
