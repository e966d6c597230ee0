"""Opens a disk after whatever ended the process: it finds an index that fits the segments, and brings it level.

Every change of the index is written to the segments first. So an index that is behind replays the segments from the
place up to which it covers them. An index that is lost, damaged or does not fit is made anew from all segments. A torn
tail is cut off. Belongs to the store's writer thread.
"""

import logging
from collections.abc import Sequence

import msgspec

from dht import decode_grant
from store.catalog import grant_table
from store.catalog.author_table import Authors
from store.catalog.catalog import Catalog
from store.catalog.row_table import CatalogRow
from store.errors import StoreCorrupt
from store.record.package import decode_head
from store.record.record import Record, ShortVersion
from store.segments.file_system import Disk
from store.segments.frame import Frame, FrameType, SegmentPlace
from store.segments.record_group import open_shared
from store.segments.segments import Segments

log = logging.getLogger(__name__)
STEP = 512  # rows or frames in one transaction
_dropped = msgspec.msgpack.Decoder(tuple[bytes, bytes, int])
_grants = msgspec.msgpack.Decoder(list[bytes])


def open_catalog(disk: Disk, segments: Segments) -> Catalog:
    """Open the index of a disk, an empty one where it cannot be trusted. Raises StoreCorrupt where a newer program made
    it, or MachineRefuses."""
    try:
        catalog = Catalog(disk)
        problem = _misfit(catalog, segments)
        if not problem:
            return catalog
        catalog.close()
    except StoreCorrupt as error:
        problem = str(error)
        if "newer program" in error.remedy:
            raise
    log.warning("store index is rebuilt from segments path=%s reason=%s", disk.path, problem)
    disk.drop_database()
    return Catalog(disk)


def replay(catalog: Catalog, segments: Segments) -> None:
    """Index what the segments hold beyond what is covered, and cut a torn tail off."""
    covered, size = _covered(catalog)
    for segment in [n for n in segments.numbers if n >= covered]:
        frames: list[Frame] = []
        end = size if segment == covered else 0
        for frame in segments.frames(segment, end):
            frames.append(frame)
            end = frame.place.end
            if len(frames) == STEP:
                _index(catalog, frames)
                frames = []
        _index(catalog, frames)
        if segment == segments.newest:
            segments.cut(segment, end)
    with catalog.transaction():
        cover(catalog, segments)


def cover(catalog: Catalog, segments: Segments) -> None:
    """Note, within a transaction, that the index has all that the segments hold."""
    catalog.write_note("covered_segment", segments.newest)
    catalog.write_note("covered_bytes", segments.end)


def row_of(record: Record, place: SegmentPlace, author: int = 0) -> CatalogRow:
    """Return the row that leads to a record at a place; `author`: its author's number."""
    day = record.expires_day
    return CatalogRow(record.kind, record.id, record.key, record.version.short, day, place, author=author)


def rows_of(frame: Frame, authors: Authors | None = None) -> list[CatalogRow]:
    """Return the rows that lead to what a frame holds, without the numbers of their authors where nobody numbers these;
    raises ValueError where it cannot be decoded."""
    if frame.type not in (FrameType.RECORD, FrameType.GROUP, FrameType.PACKAGE):
        return []
    if frame.type == FrameType.RECORD:
        placed = [(r := decode_head(frame.head), frame.place, r.proof.author)]
    else:
        group = open_shared(frame)
        records = enumerate(group.records(proven=False))
        placed = [(r, frame.place.of(n, len(group)), group.author(n)) for n, r in records]
    if authors is None:
        return [row_of(r, place) for r, place, _ in placed]
    return [row_of(r, place, authors.number_of(author, r.kind, r.version.epoch)) for r, place, author in placed]


def _misfit(catalog: Catalog, segments: Segments) -> str:
    """Why an index cannot belong to these segments, "" where it can."""
    covered, size = _covered(catalog)
    if covered and (covered not in segments.numbers or segments.size(covered) < size):
        return f"segment {covered} is shorter than the index knows"
    missing = sorted(set(catalog.live_bytes()) - set(segments.numbers))
    return f"segments {missing} are missing" if missing else ""


def _index(catalog: Catalog, frames: Sequence[Frame]) -> None:
    """Take in what frames hold: records, grants, or that a key range was dropped, and on which day."""
    rows: dict[tuple[int, bytes], CatalogRow] = {}
    for frame in frames:
        try:
            if frame.type == FrameType.DROP:
                first, last, day = _dropped.decode(frame.head)
                _put(catalog, list(rows.values()))
                rows = {}
                with catalog.transaction():
                    catalog.remove(catalog.rows(first, last), day)
            elif frame.type == FrameType.GRANTS:
                grants = [decode_grant(body) for body in _grants.decode(frame.head)]
                with catalog.transaction():
                    grant_table.add(catalog.database, grants, frame.place.segment)
            for row in rows_of(frame, catalog.authors):
                other = rows.get((row.kind, row.id))
                if other is None or _follows(row.version, row.key, other):
                    rows[row.kind, row.id] = row
        except (ValueError, LookupError) as error:  # a program wrote it wrong under a right checksum
            where = (frame.type.name, frame.place.segment, frame.place.offset)
            log.warning("frame passed over type=%s segment=%d offset=%d reason=%s", *where, error)
    _put(catalog, list(rows.values()))


def _put(catalog: Catalog, rows: Sequence[CatalogRow]) -> None:
    old = catalog.named((r.kind, r.id) for r in rows)
    pairs = [(r, o) for r, o in zip(rows, old, strict=True) if o is None or _follows(r.version, r.key, o)]
    if pairs:
        with catalog.transaction():
            catalog.put([r for r, _ in pairs], [o for _, o in pairs])


def _follows(version: ShortVersion, key: bytes, before: CatalogRow) -> bool:
    """Whether a frame's version replaces one that was written before it: a version at another key was let in then."""
    return version > before.version or (version == before.version and key != before.key)


def _covered(catalog: Catalog) -> tuple[int, int]:
    """The segment, and the bytes of it, up to which an index has everything."""
    segment, size = catalog.note("covered_segment"), catalog.note("covered_bytes")
    return (segment if isinstance(segment, int) else 0, size if isinstance(size, int) else 0)
