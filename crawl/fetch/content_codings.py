"""Content codings of a response body, undone within bounds: a bomb costs what its cap allows, not what it holds.

Pure: bytes in, bytes out. gzip may have many members (RFC 9110, 8.4.1.3): output is capped over all of them, and their
number too, since empty members cost time without output (CVE-2025-69223). "deflate" is zlib, or raw as some send it.
brotli and zstd are not offered: their Python bindings have no output cap that we trust. Words that name no coding at
all ("utf-8", "none") change nothing, as in browsers.
"""

from typing import cast

from isal import isal_zlib

MAX_CODINGS = 2  # "gzip, gzip" has been seen; more is an attack
_MAX_MEMBERS = 64
_GZIPS = ("gzip", "x-gzip")
_UNDONE = frozenset((*_GZIPS, "deflate"))
# IANA's registry of 2025-10, but for those that are undone here.
_FOREIGN = frozenset(("aes128gcm", "br", "compress", "x-compress", "dcb", "dcz", "exi", "pack200-gzip", "zstd"))
_IsalError = cast("type[Exception]", isal_zlib.error)  # its stub says: an instance
_GZIP, _ZLIB, _RAW = 31, 15, -15
_WRONG_SUM = "checksum"  # in the words of isal
_ZLIB_HEAD_BYTES, _GZIP_END_BYTES = 2, 8


class BadCoding(ValueError):
    """A coding that we did not offer, or bytes that are not what the coding says."""


def check_codings(body: bytes, content_encoding: str) -> str:
    """Return the codings that a body has, as `decode_body` takes them; raises BadCoding where it plainly has others.

    A body that begins as gzip does is gzip, whether its server says so or not: no page or list begins so."""
    codings = _named(content_encoding) if body and content_encoding else []
    if not codings:
        return _GZIPS[0] if is_gzip(body) else ""
    if codings[-1] in _GZIPS and not is_gzip(body):
        raise BadCoding("not gzip")
    return ", ".join(codings)


def is_gzip(body: bytes) -> bool:
    """Tell whether bytes begin as gzip does."""
    return body.startswith(b"\x1f\x8b")


def decode_body(body: bytes, content_encoding: str, cap: int) -> tuple[bytes, bool]:
    """Return the body without its codings, at most `cap` bytes, and whether it was cut there; raises BadCoding."""
    cut = len(body) > cap
    for name in reversed(_named(content_encoding)):
        body, cut = _gunzip(body, cap) if name in _GZIPS else _inflate(body, cap)
    return body[:cap], cut


def _named(content_encoding: str) -> list[str]:
    codings = [name.strip().lower() for name in content_encoding.split(",")]
    codings = [name for name in codings if name in _UNDONE or name in _FOREIGN]
    if len(codings) > MAX_CODINGS:
        raise BadCoding(f"{len(codings)} content codings")
    for name in codings:
        if name in _FOREIGN:
            raise BadCoding(f"content coding {name!r}, which we did not offer")
    return codings


def _gunzip(body: bytes, cap: int) -> tuple[bytes, bool]:
    out: list[bytes] = []
    size = 0
    if body and not is_gzip(body):
        raise BadCoding("not gzip")
    for _ in range(_MAX_MEMBERS):
        piece, body = _member(body, _GZIP, cap - size + 1)
        out.append(piece)
        size += len(piece)
        if size > cap:
            return b"".join(out), True
        if not is_gzip(body):  # the end, or trailing zeros and rubbish, which everybody ignores
            return b"".join(out), False
    raise BadCoding(f"more than {_MAX_MEMBERS} gzip members")


def _inflate(body: bytes, cap: int) -> tuple[bytes, bool]:
    try:
        piece, _ = _member(body, _ZLIB, cap + 1)
    except BadCoding:
        piece, _ = _member(body, _RAW, cap + 1)
    return piece, len(piece) > cap


def _member(body: bytes, window_bits: int, limit: int) -> tuple[bytes, bytes]:
    """Return up to `limit` bytes of one compressed stream, and what follows it. A stream that just ends early gives
    what it has: a page cut by its server is still a page. A wrong checksum changes nothing, as in browsers."""
    try:
        return _decompressed(body, window_bits, limit)
    except _IsalError as error:
        if _WRONG_SUM not in str(error).lower():
            raise BadCoding(str(error)) from error
    is_gzipped = window_bits == _GZIP
    try:
        piece, rest = _decompressed(body[_gzip_head_bytes(body) if is_gzipped else _ZLIB_HEAD_BYTES :], _RAW, limit)
    except (_IsalError, ValueError) as error:
        raise BadCoding("a wrong head") from error
    return piece, rest[_GZIP_END_BYTES:] if is_gzipped else b""


def _gzip_head_bytes(body: bytes) -> int:
    """Return the length of the head of a gzip member that was read to its end (RFC 1952, 2.3)."""
    flags, size = body[3], 10
    if flags & 4:
        size += 2 + int.from_bytes(body[size : size + 2], "little")
    for text in (8, 16):  # a name, a comment
        size = body.index(0, size) + 1 if flags & text else size
    return size + (flags & 2)


def _decompressed(body: bytes, window_bits: int, limit: int) -> tuple[bytes, bytes]:
    stream = isal_zlib.decompressobj(wbits=window_bits)
    return stream.decompress(body, limit), stream.unused_data
