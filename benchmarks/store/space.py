"""Measures what records take on the disk, against zstd of each part alone; each page stands there once.

Alone means level 3, a record's body and its content each by itself, nothing else kept: no proof, no index. Ours come in
packages as a writer makes them, neighbours in parts.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.figures import Row, row
from benchmarks.store.corpus import Item, batched, document_drafts, items, packaged, pages_of, visit_drafts
from benchmarks.store.engines import LEVEL, Engine, Ours, others, size_of
from benchmarks.store.extent import Extent
from benchmarks.store.goals import DISK_OF_ALONE
from benchmarks.store.timing import new_folder
from store.record.zstd import squeeze
from store.segments.file_system import CATALOG

VISITS = 25  # a document: mean out-degree of the web's pages (docs/crawl.md)


def rows(extent: Extent) -> list[Row]:
    """Return the rows of documents, then those of the visits that come with them."""
    pages = pages_of(extent.web)
    documents, visits = items(document_drafts(pages)), items(visit_drafts(pages, len(pages) * VISITS))
    out = []
    for what, found, goal in (("documents", documents, DISK_OF_ALONE), ("visits", visits, None)):
        alone = sum(len(squeeze(part, LEVEL)) for item in found for part in (item.record.body, item.content) if part)
        segments, index = kept_bytes(found)
        beside = ", ".join(f"{name} {_all(make, found) / alone:.2f} with its index" for name, make in others().items())
        each = alone / len(found)
        out.append(row(f"segments ÷ zstd of each body alone ({len(found):,} {what} of {each:,.0f} bytes)",
                       [segments / alone], "", goal=goal, peer=beside or "none is installed"))  # fmt: skip
        out.append(row(f"index, {what}", [index / len(found)], "bytes a record"))
    return out


def kept_bytes(found: Sequence[Item]) -> tuple[int, int]:
    """Return the bytes of the segments, and of the index, of a store that holds these."""
    with new_folder() as folder:
        store = Ours(folder)
        for package in packaged(found):
            store.put_package(package)
        store.close()
        segments = sum(path.stat().st_size for path in folder.glob("segment-*"))
        return segments, sum(path.stat().st_size for path in folder.glob(f"{CATALOG}*"))


def _all(make: Callable[[Path], Engine], found: Sequence[Item]) -> int:
    with new_folder() as folder:
        store = make(folder)
        for batch in batched(found):
            store.put(batch)
        store.compact()
        store.close()
        return size_of(folder)
