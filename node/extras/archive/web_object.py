"""The formats of Li Wei's thesis (USTC 2006): a web object, a package of them, and its description; byte by byte.

Pure. Numbers are big-endian, times are milliseconds since 1970, text is UTF-8.

    .webo         FF "WEBO" 01, length of the MIME type (2), of the URL (2), of the data (4);
                  cost of fetching in ms (4), fetched at (8), expires at (8), MIME type, URL, data
    .webop        FF FF "WOP" 01 CR LF, web objects one after another
    .webop.desc   FF "WOPD" 01, base (2, in days), exponent (2), created at (8), expires at (8), CR LF;
                  a line for each object: URL, where in the package it begins, its size; CR LF

How the parts of a description's line are parted the sources leave open: here it is one space. A package holds objects
that are valid for about base^exponent days, and is named after these and its instant: `4_2_20060312122030564`.
"""

import struct

import msgspec

from node.captures.capture import LATEST_S, instant
from node.extras.archive.unpacked_input import Unreadable

OBJECT_MAGIC = b"\xffWEBO\x01"
PACKAGE_HEAD = b"\xff\xffWOP\x01\r\n"
DESCRIPTION_MAGIC = b"\xffWOPD\x01"
LINE_END = b"\r\n"
MOST_BYTES = 0xFFFFFFFF  # of an object's data
_OBJECT = struct.Struct(">6sHHI")
_OBJECT_TIMES = struct.Struct(">Iqq")
_DESCRIPTION = struct.Struct(">6shhqq2s")
OBJECT_HEAD_BYTES = _OBJECT.size  # 14
DAY_MS = 86_400_000


class WebObject(msgspec.Struct, frozen=True):
    """One page, as the thesis keeps it."""

    url: str
    media_type: str
    data: bytes
    fetched_at_ms: int
    expires_at_ms: int
    cost_ms: int = 0  # what fetching it took; 0 unknown


class PackageDescription(msgspec.Struct, frozen=True):
    """The head of a package's description."""

    base: int
    exponent: int
    created_at_ms: int
    expires_at_ms: int

    @property
    def name(self) -> str:
        """The name of the package's files, before their endings."""
        at = instant(self.created_at_ms / 1000)
        millisecond = self.created_at_ms % 1000
        return f"{self.base}_{self.exponent}_{at.strftime('%Y%m%d%H%M%S')}{millisecond:03}"


class ObjectHead(msgspec.Struct, frozen=True):
    """The lengths in the first bytes of a web object."""

    type_bytes: int
    url_bytes: int
    data_bytes: int

    @property
    def rest_bytes(self) -> int:
        """How many bytes follow before the data."""
        return _OBJECT_TIMES.size + self.type_bytes + self.url_bytes


def encode_object(page: WebObject) -> bytes:
    """Encode a .webo; raises ValueError where a part is too long for its length field."""
    media_type, url = page.media_type.encode(), page.url.encode()
    try:
        head = _OBJECT.pack(OBJECT_MAGIC, len(media_type), len(url), len(page.data))
        times = _OBJECT_TIMES.pack(page.cost_ms, page.fetched_at_ms, page.expires_at_ms)
    except struct.error as error:
        raise ValueError(f"a page does not fit into a web object: {error}") from None
    return b"".join((head, times, media_type, url, page.data))


def decode_object_head(head: bytes) -> ObjectHead:
    """Decode the first 14 bytes of a .webo; raises Unreadable."""
    if len(head) != _OBJECT.size or not head.startswith(OBJECT_MAGIC):
        raise Unreadable("a web object does not begin as one")
    return ObjectHead(*_OBJECT.unpack(head)[1:])


def decode_object(head: ObjectHead, rest: bytes, data: bytes) -> WebObject:
    """Decode what follows the first bytes of a .webo; raises Unreadable."""
    cost_ms, fetched_at_ms, expires_at_ms = _OBJECT_TIMES.unpack_from(rest)
    try:
        names = rest[_OBJECT_TIMES.size :]
        media_type, url = names[: head.type_bytes].decode(), names[head.type_bytes :].decode()
    except UnicodeDecodeError:
        raise Unreadable("a web object's type or URL is no UTF-8") from None
    return WebObject(url, media_type, data, fetched_at_ms, expires_at_ms, cost_ms)


def encode_description(head: PackageDescription) -> bytes:
    """Encode the first 28 bytes of a .webop.desc."""
    times = (head.created_at_ms, head.expires_at_ms)
    return _DESCRIPTION.pack(DESCRIPTION_MAGIC, head.base, head.exponent, *times, LINE_END)


def description_line(url: str, begins_at: int, size: int) -> bytes:
    """Return an object's line in a description."""
    return f"{url} {begins_at} {size}".encode() + LINE_END


def milliseconds(at: float) -> int:
    """Return an instant in whole milliseconds since 1970, as versions are dated, within what dates can say: what is
    read back is no newer than what was written."""
    return int(min(max(at, 0.0), LATEST_S) * 1000)


def exponent_of(base: int, days: float, most: int = 7) -> int:
    """Return the least exponent, at most `most`, whose base^exponent days are no fewer than those."""
    return next((exponent for exponent in range(most) if base**exponent >= days), most)
