"""Parts of a package: neighbours squeezed together once, that travel so to all who keep them and lie so on their disks.

Pure: values and bytes. A part is a small package of its own (`store/record/package.py`). Pages of one site share whole
passages, so together they take some 60 % of what each takes alone. To read one record all of its part is expanded,
some 0.15 ms.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from store.errors import BadReplica
from store.record.package import MAX_RECORDS, open_package, pack, size_of
from store.record.record import Record

PART_BYTES = 176 << 10  # before compression; in parts of 128 kB pages take 4 % more, and are read a fifth faster
LEAST_PART_BYTES = 1 << 16  # fewer take less room one by one, packed by a segment's dictionary
MOST_PART_BYTES = 1 << 18  # that are taken from others
MOST_IN_PART = 128  # records, as in a frame
MAX_PARTS = 32  # in one message: 8 MiB of them


class PackagePart(NamedTuple):
    """Some records with their contents, and the bytes that they are packed as."""

    data: bytes
    records: Sequence[Record]


def make_parts(records: Iterable[Record]) -> list[PackagePart]:
    """Pack records that have contents with their neighbours by key, MAX_PARTS at most; those that are large, or would
    be few in their part, are left out."""
    small = sorted((r for r in records if r.content and size_of(r) < PART_BYTES), key=lambda record: record.key)
    whole = sum(map(size_of, small))
    runs = _runs(small, whole // (whole // PART_BYTES + 1))
    return [PackagePart(pack(run), run) for run in runs if sum(map(size_of, run)) >= LEAST_PART_BYTES][:MAX_PARTS]


def open_parts(parts: Sequence[bytes], beside: int) -> list[PackagePart]:
    """Open the parts of a package that has some records `beside` them. Raises BadReplica, also where these are too many
    or too large. Proofs are not checked here."""
    opened = [PackagePart(data, open_package(data, MOST_PART_BYTES)) for data in parts]
    count = beside + sum(len(part.records) for part in opened)
    if count > MAX_RECORDS:
        raise BadReplica("package", f"{count} records, {MAX_RECORDS} allowed")
    return opened


def is_plain(part: PackagePart) -> bool:
    """Tell whether a part is one that `make_parts` might have made, so that it may lie on disk as it came."""
    is_large = len(part.data) > sum(map(size_of, part.records))  # whoever made it put something else into it
    return 0 < len(part.records) <= MOST_IN_PART and not is_large


def whole_parts(parts: Iterable[PackagePart], records: Iterable[Record]) -> list[PackagePart]:
    """Return those parts of which each record is among some: the very same objects."""
    here = set(map(id, records))
    return [part for part in parts if here.issuperset(map(id, part.records))]


def _runs(records: Iterable[Record], wanted_bytes: int) -> Iterator[list[Record]]:
    """Divide records into runs of about so many bytes, so that no small rest is left."""
    run, size = list[Record](), 0
    for record in records:
        own = size_of(record)
        if run and (size >= wanted_bytes or size + own > PART_BYTES or len(run) == MOST_IN_PART):
            yield run
            run, size = [], 0
        run.append(record)
        size += own
    if run:
        yield run
