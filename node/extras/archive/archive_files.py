"""Tells by its first bytes what format an archive has, and reads it: a file's name may be anything.

Thin: it looks into the file and puts it back to its beginning.
"""

from collections.abc import Callable, Iterator
from typing import BinaryIO
from zipfile import BadZipFile, ZipFile

from node.captures.capture import Capture
from node.extras.archive.json_lines import read_json_lines
from node.extras.archive.read_limits import DEFAULT_LIMITS, ArchiveFlaw, ReadLimits
from node.extras.archive.spf import read_object, read_package, read_spf
from node.extras.archive.unpacked_input import RECORD, UnpackedInput, Unreadable
from node.extras.archive.wacz import read_wacz
from node.extras.archive.warc_reader import read_warc
from node.extras.archive.web_object import OBJECT_MAGIC, PACKAGE_HEAD

Read = Callable[[BinaryIO, ReadLimits], Iterator[Capture | ArchiveFlaw]]

_ZIP = b"PK\x03\x04"
_LOOKED_AT = 1 << 16  # of the first line: WARCs begin with a short one, JSON with a brace
_FIRST = ((RECORD, read_warc), (PACKAGE_HEAD, read_package), (OBJECT_MAGIC, read_object), (b"{", read_json_lines))


def reader_of(file: BinaryIO) -> Read | None:
    """Return what reads an archive, None where it is none that is known."""
    try:
        start = file.read(len(_ZIP))
        file.seek(0)
        return _of_zip(file) if start == _ZIP else _of_bytes(file)
    finally:
        file.seek(0)


def _of_bytes(file: BinaryIO) -> Read | None:
    try:
        start = UnpackedInput(file, DEFAULT_LIMITS).start(_LOOKED_AT).lstrip()
    except Unreadable:
        return None
    return next((read for begins, read in _FIRST if start.startswith(begins)), None)


def _of_zip(file: BinaryIO) -> Read | None:
    try:
        with ZipFile(file) as package:
            names = package.namelist()
    except (BadZipFile, ValueError, NotImplementedError, EOFError, OSError):
        return read_wacz  # which says what is wrong with it
    return read_spf if any(name.endswith(".webop") for name in names) else read_wacz
