"""The versions of a page as owners name them, and which of these a reader wishes for, before any of them is read.

Pure: values in, values out.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice

from dht import DocumentId, Key
from node.captures.scope import Wish
from store import Kind, RangeEntry, is_erasure, name_of


@dataclass(slots=True)
class ListedPage:
    """One page: where it lies, and its versions."""

    key: Key
    id: DocumentId | None = None  # None where former versions alone are left
    shown_at: int | None = None  # instant of the newest version, in milliseconds; None where there is none
    formers: dict[int, DocumentId] = field(default_factory=dict)  # by instant

    def chosen(self, wish: Wish) -> list[int]:
        """Return the instants of the versions that are wished for, oldest first. By default that is the shown version;
        else all, or the one that was the newest at an instant (before the first version: the oldest)."""
        shown = [] if self.shown_at is None else [self.shown_at]
        if not (wish.all_versions or wish.at is not None):
            return shown
        instants = sorted({*self.formers, *shown})
        if wish.at is None:
            return instants
        before = [at for at in instants if at <= wish.at * 1000]
        return before[-1:] or instants[:1]


def listed_pages(entries: Iterable[RangeEntry], wish: Wish) -> list[ListedPage]:
    """Return the pages of which something is wished for, in the order of their keys; one may lie at two keys, while its
    site is spread."""
    found: dict[tuple[Key, bytes], ListedPage] = {}
    for entry in entries:
        if entry.kind not in (Kind.DOCUMENT, Kind.FORMER):
            continue
        page = found.setdefault((entry.key, name_of(entry.id)), ListedPage(entry.key))
        if entry.kind != Kind.FORMER:
            page.id, page.shown_at = entry.id, entry.at_ms
        elif not is_erasure(entry.id):
            page.formers[entry.at_ms] = entry.id
    return sorted((page for page in found.values() if page.chosen(wish)), key=lambda page: page.key)


def batches(pages: Sequence[ListedPage], wish: Wish, count: int) -> Iterator[list[ListedPage]]:
    """Divide pages, in the order of their keys, into parts of so many versions; those of one key stay together."""
    places = groupby(pages, key=lambda page: page.key)
    whole = (list(same) for _, same in places)
    part, versions = list[ListedPage](), 0
    for same in whole:
        more = sum(len(page.chosen(wish)) for page in same)
        if part and versions + more > count:
            yield part
            part, versions = [], 0
        part += same
        versions += more
    if part:
        yield part


def parts_of(ids: Iterable[tuple[DocumentId, Key]], count: int) -> Iterator[list[tuple[DocumentId, Key]]]:
    """Divide names into parts of so many."""
    rest = iter(ids)
    while part := list(islice(rest, count)):
        yield part
