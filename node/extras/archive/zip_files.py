"""Zip files that hold archives: entries that are the same each time, and strangers' entries within bounds.

Pure, but for the streams.
"""

import zlib
from collections.abc import Callable, Iterator
from typing import IO
from zipfile import BadZipFile, ZipFile, ZipInfo

from node.captures.capture import Capture, instant
from node.extras.archive.read_limits import ArchiveFlaw, ReadLimits

FIRST_YEAR = 1980  # of a zip's dates
_UNIX, _READABLE = 3, 0o100644 << 16
_DAMAGE = (BadZipFile, zlib.error, NotImplementedError, EOFError, OSError, RuntimeError, ValueError)


def zip_entry(path: str, packing: int, made_at: float) -> ZipInfo:
    """Return the head of an entry that is written at an instant."""
    at = instant(made_at)
    date = at.timetuple()[:6] if at.year >= FIRST_YEAR else (FIRST_YEAR, 1, 1, 0, 0, 0)
    entry = ZipInfo(path, date)
    entry.compress_type, entry.create_system, entry.external_attr = packing, _UNIX, _READABLE
    return entry


def read_entries(
    file: IO[bytes], limits: ReadLimits, read: Callable[[str, IO[bytes]], Iterator[Capture | ArchiveFlaw]]
) -> Iterator[Capture | ArchiveFlaw]:
    """Yield what `read` finds in each file of a zip, given its name and content; ends where the zip is damaged."""
    try:
        size = file.seek(0, 2)
        with ZipFile(file) as package:
            entries = package.infolist()
            if sum(entry.compress_size for entry in entries) > size:
                raise BadZipFile("its files overlap")
            for entry in entries:
                if entry.file_size > limits.record_bytes + limits.ratio * entry.compress_size:
                    yield ArchiveFlaw(entry.header_offset, f"a file unpacks to more than {limits.ratio} times its size")
                    continue
                with package.open(entry) as content:
                    yield from read(entry.filename, content)
    except _DAMAGE as error:
        yield ArchiveFlaw(0, f"it is not a whole zip ({error})")
