"""Decides what becomes of former versions of pages, commit by commit: which are kept beside the newest, and which go.

A version that a newer one replaces is kept in the same commit, and so is one that comes late. Each name is thinned out
whenever something is added to it, and all of them once a day, as the policy keeps fewer the older they are. Belongs to
the store's writer thread.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from store.catalog.catalog import Catalog
from store.catalog.row_table import CatalogRow
from store.record.former_page import VersionPolicy, filed, is_erasure, name_of, newest_of_authors, page_in
from store.record.record import Kind, Record

THINNED_AT_ONCE = 1024  # rows looked at in one job: more than any page has versions
FIRST = bytes(20)

Replacing = Sequence[tuple[Record, CatalogRow | None]]  # records, and the rows in whose place they come
MOST_REPLACED_BYTES = 16 << 20  # of pages that one transaction replaces, as they lie in segments
Read = Callable[[CatalogRow], Record | None]


class Filing(NamedTuple):
    """The changes of former versions in a commit: records that come, with the rows in their place, and rows that go."""

    come: Replacing = ()
    went: Sequence[CatalogRow] = ()


class VersionFiling:
    """Goes by a policy, on a day (since 1970), both of which the store says."""

    def __init__(self, catalog: Catalog, read: Read) -> None:
        """`read`: the record of a row with its content, None where it cannot be read."""
        self._catalog, self._read = catalog, read
        self.policy, self.today = VersionPolicy(), 0

    def plan(self, fresh: Replacing, late: Iterable[Record]) -> Filing:
        """Return what changes as some records replace others, and `late` ones come: older pages, and former versions
        that others kept."""
        if not self.policy.keeps_any:
            return Filing()
        found: dict[bytes, dict[bytes, Record]] = {}
        for record in (*self._replaced(fresh), *late):
            former = record if record.kind == Kind.FORMER else _filed(record)
            if record.kind == Kind.FORMER and not is_erasure(record.id) and self._is_newest(page_in(record)):
                continue  # it came to be shown again here, since what was newer was taken back
            if former is not None and former.expires_day >= self.today:
                same = found.setdefault(name_of(former.id), {})
                if former.id not in same or former.version > same[former.id].version:
                    same[former.id] = former
        come, went = list[tuple[Record, CatalogRow | None]](), list[CatalogRow]()
        for name, formers in found.items():
            rows = {row.id: row for row in self._catalog.formers(name, name.ljust(20, b"\xff"))}
            kept = self._kept(rows.values(), formers.values())
            come += [(record, rows.get(record.id)) for id, record in formers.items() if id in kept]
            went += [row for id, row in rows.items() if id not in kept]
        return Filing(come, went)

    def thinned(self, after: bytes) -> tuple[list[CatalogRow], bytes]:
        """Return the rows that the policy no longer keeps, and the id after which to continue, b"" at the end. It looks
        at the next THINNED_AT_ONCE rows after the id `after`."""
        rows = self._catalog.formers(after, b"\xff" * 20, THINNED_AT_ONCE)
        parts = [list(part) for _, part in groupby(rows, lambda row: name_of(row.id))]
        is_last = len(rows) < THINNED_AT_ONCE
        whole = parts if is_last or len(parts) == 1 else parts[:-1]  # the last page may have more
        kept = {id for part in whole for id in self._kept(part)}
        went = [row for part in whole for row in part if row.id not in kept]
        return went, b"" if is_last else whole[-1][-1].id

    def _replaced(self, fresh: Replacing) -> Iterable[Record]:
        """The pages that are replaced by others, not just moved."""
        for record, row in fresh:
            if record.kind == Kind.DOCUMENT and row is not None and row.version != record.version.short:
                page = self._read(row)
                yield from () if page is None else (page,)

    def _is_newest(self, page: Record) -> bool:
        (row,) = self._catalog.named([(Kind.DOCUMENT, page.id)])
        return row is not None and row.version == page.version.short

    def _kept(self, rows: Iterable[CatalogRow], news: Iterable[Record] = ()) -> set[bytes]:
        """The ids of those that are kept, of all versions of a page: those that lie here, and new ones."""
        held: dict[bytes, CatalogRow] = {row.id: row for row in rows}
        come: dict[bytes, Record] = {record.id: record for record in news}
        instants = {id: row.version.at_ms for id, row in held.items()}
        instants |= {id: record.version.at_ms for id, record in come.items()}
        erased_upto = max((at for id, at in instants.items() if is_erasure(id)), default=-1)

        def author_of(id: bytes) -> bytes:
            record = come.get(id) or self._read(held[id])
            return record.proof.author if record is not None else id  # one that cannot be read counts by itself

        versions = {id: at for id, at in instants.items() if not is_erasure(id)}
        counting = newest_of_authors(versions, author_of)
        kept = self.policy.kept(map(versions.__getitem__, counting), self.today, erased_upto)
        erasures = {id for id, at in instants.items() if is_erasure(id) and self.policy.is_young(at, self.today)}
        return erasures | {id for id in counting if versions[id] in kept}


def _filed(page: Record) -> Record | None:
    """Return the FORMER record that keeps a page's version, None where none does. An erasure is left out: the caller
    that has proved that the page may erase others brings it."""
    former = filed(page)
    return None if former is None or is_erasure(former.id) else former


def portions(fresh: Replacing) -> Iterator[Replacing]:
    """Divide what is committed so that what it replaces, which may be kept, is never too much in memory; one part at
    least."""
    part, size = list[tuple[Record, CatalogRow | None]](), 0
    for record, row in fresh:
        share = row.place.share_bytes if row is not None and record.kind == Kind.DOCUMENT else 0
        if part and size + share > MOST_REPLACED_BYTES:
            yield part
            part, size = [], 0
        part.append((record, row))
        size += share
    yield part
