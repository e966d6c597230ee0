"""zstd with a limit on what comes out; the one file that knows the library.

Pure: bytes in, bytes out. Contexts are kept per thread because the library's are not to be shared.
"""

import threading

import zstandard

_local = threading.local()


def squeeze(data: bytes, level: int = 3) -> bytes:
    """Compress to one zstd frame that states its content size."""
    compressors: dict[int, zstandard.ZstdCompressor] = _local.__dict__.setdefault("compressors", {})
    if level not in compressors:
        compressors[level] = zstandard.ZstdCompressor(level=level)
    return compressors[level].compress(data)


def expand(data: bytes, limit: int) -> bytes:
    """Decompress what `squeeze` made; raises ValueError for anything else, and beyond `limit` bytes.

    The library ignores its own output limit when a frame states its size, so the stated size is checked first, and a
    frame that states none is refused.
    """
    try:
        stated = zstandard.frame_content_size(data)
        if stated < 0 or stated > limit:
            raise ValueError(f"states {stated} bytes, {limit} allowed")
        if not hasattr(_local, "decompressor"):
            _local.decompressor = zstandard.ZstdDecompressor(max_window_size=1 << 27)
        out: bytes = _local.decompressor.decompress(data, max_output_size=limit, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from error
    if len(out) != stated:
        raise ValueError(f"states {stated} bytes and holds {len(out)}")
    return out
