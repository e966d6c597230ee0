"""zstd with a limit on what comes out; the one file that knows the library.

Pure: bytes in, bytes out. Contexts are kept per thread because the library's are not to be shared.
"""

import threading
from collections import OrderedDict
from collections.abc import Sequence

import zstandard

_EXPANDERS = 8  # contexts that a thread keeps, one a dictionary, some 200 kB each; another one takes 50 µs to make
_PIECE_BYTES, _PIECE_MATCH = 1024, 8  # of what a dictionary is made: pages share whole passages of markup


class _ThreadCodecs(threading.local):
    """The codecs of one thread, made when it first needs them."""

    def __init__(self) -> None:
        self.compressors: dict[int, zstandard.ZstdCompressor] = {}
        self.decompressor = zstandard.ZstdDecompressor(max_window_size=1 << 27)
        self.by_dictionary = OrderedDict[int, zstandard.ZstdDecompressor]()  # the one used last is last


_local = _ThreadCodecs()


def squeeze(data: bytes, level: int = 3) -> bytes:
    """Compress to one zstd frame that states its content size."""
    if level not in _local.compressors:
        _local.compressors[level] = zstandard.ZstdCompressor(level=level)
    return _local.compressors[level].compress(data)


def expand(data: bytes | memoryview, limit: int) -> bytes:
    """Decompress what `squeeze` made; raises ValueError for anything else, and beyond `limit` bytes.

    The library ignores its own output limit when a frame states its size. So the stated size is checked first, and a
    frame that states none is refused.
    """
    return _expand(_local.decompressor, data, limit)


class Dictionary:
    """A dictionary of the bytes that many parts have in common: a part squeezed by it is smaller, and expands by it
    alone."""

    def __init__(self, data: bytes, level: int = 3) -> None:
        """Take what `train` made; raises ValueError for anything else."""
        self.data, self._level = data, level
        try:
            self._known = zstandard.ZstdCompressionDict(data, dict_type=zstandard.DICT_TYPE_FULLDICT)
        except zstandard.ZstdError as error:
            raise ValueError(str(error)) from error
        self._compressor: zstandard.ZstdCompressor | None = None

    def squeeze(self, data: bytes) -> bytes:
        """Compress to one zstd frame that states its content size; it belongs to one thread."""
        if self._compressor is None:
            self._known.precompute_compress(level=self._level)
            self._compressor = zstandard.ZstdCompressor(level=self._level, dict_data=self._known)
        return self._compressor.compress(data)

    def expand(self, data: bytes | memoryview, limit: int) -> bytes:
        """Undo `squeeze`; raises ValueError for anything else, and beyond `limit` bytes. Any thread may."""
        kept = _local.by_dictionary
        name = id(self._known)  # the context below keeps it alive
        if name not in kept:
            kept[name] = zstandard.ZstdDecompressor(dict_data=self._known, max_window_size=1 << 27)
            if len(kept) > _EXPANDERS:
                kept.popitem(last=False)
        kept.move_to_end(name)
        return _expand(kept[name], data, limit)


def train(samples: Sequence[bytes], size: int, level: int = 3) -> bytes:
    """Make a dictionary of up to `size` bytes of samples, some 20 ms a megabyte; b"" where they have too little in
    common."""
    try:
        made = zstandard.train_dictionary(size, list(samples), level=level, k=_PIECE_BYTES, d=_PIECE_MATCH)
    except zstandard.ZstdError:
        return b""
    return made.as_bytes()


def _expand(decompressor: zstandard.ZstdDecompressor, data: bytes | memoryview, limit: int) -> bytes:
    try:
        stated = zstandard.frame_content_size(data)
        if stated < 0 or stated > limit:
            raise ValueError(f"states {stated} bytes, {limit} allowed")
        out: bytes = decompressor.decompress(data, max_output_size=limit, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from error
    if len(out) != stated:
        raise ValueError(f"states {stated} bytes and holds {len(out)}")
    return out
