"""Compression of what the index keeps: one zstd frame each; the one file of the index that knows the library.

Records have a dictionary, which says what many of their kind have in common; without it frames cannot be read. Contexts
are kept per thread because the library's are not to be shared.
"""

import threading
from pathlib import Path

import zstandard

from index.errors import IndexCorrupt

LEVEL = 3  # of tables of terms, level 6 takes 45 µs more, and saves 9 %


class Frames(threading.local):
    """Compresses by a dictionary."""

    def __init__(self, dictionary: zstandard.ZstdCompressionDict) -> None:
        self._compressor = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True, dict_data=dictionary)
        self._decompressor = zstandard.ZstdDecompressor(dict_data=dictionary)

    def compress(self, data: bytes) -> bytes:
        """Compress to one frame that states its size."""
        return self._compressor.compress(data)

    def decompress(self, data: bytes) -> bytes:
        """Return what `compress` was given; raises IndexCorrupt for anything else."""
        try:
            return self._decompressor.decompress(data)
        except zstandard.ZstdError as error:
            raise IndexCorrupt("a record", str(error), "the index is built anew from the store") from error


def frames_by(name: str) -> Frames:
    """Return a compressor by the dictionary of this name; its file is beside this one."""
    dictionary = zstandard.ZstdCompressionDict(Path(__file__).with_name(f"{name}.dict").read_bytes())
    dictionary.precompute_compress(level=LEVEL)  # once for all threads
    return Frames(dictionary)
