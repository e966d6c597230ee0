"""The checksum at the end of each of tantivy's files, which tantivy writes and never reads again.

A file ends with a JSON object that has the CRC-32 of all before it, the object's length and a magic number, both of
four bytes, little-endian. Files are written once; `meta.json`, which names them, is rewritten and has no such end.
"""

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

from index.errors import IndexCorrupt

PART_BYTES = 16 << 20  # read at once, so that nobody waits long for the thread that reads
_FOOTER = struct.Struct("<II")
_MAGIC = 1337
_NAME_CHARS = 32  # of a segment's files: a UUID and what kind of file it is


def check_files(folder: Path) -> Iterator[None]:
    """Compare all files with their checksums, a part with every step; raises IndexCorrupt at the first that differs."""
    for path in sorted(folder.iterdir()):
        if len(path.name.partition(".")[0]) == _NAME_CHARS:
            yield from _check(path)


def _check(path: Path) -> Iterator[None]:
    try:
        with path.open("rb") as file:
            body = file.seek(0, 2) - _FOOTER.size
            file.seek(max(0, body))
            length, magic = _FOOTER.unpack(file.read())
            body -= length
            if magic != _MAGIC or body < 0:
                raise ValueError("its end is missing")
            file.seek(body)
            told, crc = json.loads(file.read(length))["crc"], 0
            file.seek(0)
            for start in range(0, body, PART_BYTES):
                crc = crc32(file.read(min(PART_BYTES, body - start)), crc)
                yield
            if crc != told:
                raise ValueError("its checksum differs")
    except FileNotFoundError:
        return  # merged into another one meanwhile
    except (OSError, ValueError, KeyError, TypeError, struct.error) as error:
        raise IndexCorrupt(str(path), str(error), "it is built anew from the store") from None
