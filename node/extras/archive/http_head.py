"""The head of an HTTP response in an archive: written so that it fits the decoded body, and read back as it was.

Pure. A body lies in the network without its codings, so three of its header fields may no longer be true. They are kept
under `X-Archive-Orig-` and their own name, as archives do, and get their own name back when they are read.
"""

import re
from http import HTTPStatus
from typing import NamedTuple

from node.captures.capture import Capture, Headers, one_line
from node.extras.archive.read_limits import ReadLimits
from node.extras.archive.unpacked_input import Unreadable

ORIGINAL = "X-Archive-Orig-"
ORIGIN = "DSE-Origin"  # a field of WARC records, which may have any: what an import was taken from
_CODINGS = frozenset(("content-encoding", "transfer-encoding"))
_MOVED = _CODINGS | {"content-length"}
_STATUS = re.compile(rb"HTTP/\d(?:\.\d)? (\d{3})(?: |\r|$)")
_CHARSET = re.compile(r"""charset\s*=\s*["']?([A-Za-z0-9_.:+-]{1,64})""", re.I)
_REASONS = {status.value: status.phrase for status in HTTPStatus}


class HttpHead(NamedTuple):
    """The head of a response as it stands in an archive."""

    status: int
    headers: Headers
    body_at: int  # where the body begins

    def field(self, name: str) -> str:
        """Return all values of a field, whose name is given in small letters."""
        return ", ".join(value for own, value in self.headers if own.lower() == name)


def archived_headers(capture: Capture) -> Headers:
    """Return a capture's header fields, those set aside that do not fit its body."""
    named = [(name.lower(), name, value) for name, value in capture.headers]
    codings = any(low in _CODINGS for low, _, _ in named)
    length = str(len(capture.content))
    return tuple(
        (ORIGINAL + name if low in _MOVED and (codings or value.strip() != length) else name, value)
        for low, name, value in named
    )


def received_headers(headers: Headers) -> Headers:
    """Return the header fields of an archive as they were received."""
    return tuple((_own_name(name), value) for name, value in headers)


def response_head(capture: Capture) -> bytes:
    """Return status line and header fields of a capture, with the empty line that ends them."""
    reason = _REASONS.get(capture.status, "")
    return head_bytes(f"HTTP/1.1 {capture.status:03d} {reason}", archived_headers(capture))


def head_bytes(first: str, headers: Headers) -> bytes:
    """Return a first line and fields as bytes; no value can end its line."""
    fields = "".join(f"{one_line(name)}: {one_line(value)}\r\n" for name, value in headers)
    return f"{first}\r\n{fields}\r\n".encode("utf-8", "replace")


def read_response_head(block: bytes, limits: ReadLimits) -> HttpHead:
    """Read the head of a response; raises Unreadable."""
    found = _STATUS.match(block)
    if not found:
        raise Unreadable("a response has no status line")
    headers, body_at = read_headers(block, limits)
    return HttpHead(int(found[1]), headers, body_at)


def read_headers(block: bytes, limits: ReadLimits) -> tuple[Headers, int]:
    """Read the fields after a first line, and say where the body begins; raises Unreadable."""
    most = limits.head_bytes
    end, width = block.find(b"\r\n\r\n", 0, most), 4
    if end < 0:
        end, width = block.find(b"\n\n", 0, most), 2
    if end < 0 and len(block) >= most:
        raise Unreadable(f"an HTTP head is longer than {most} bytes")
    head = block if end < 0 else block[:end]
    lines = _text(head).split("\n")[1:]
    if len(lines) > limits.headers:
        raise Unreadable(f"an HTTP head has {len(lines)} fields, {limits.headers} allowed")
    parts = (line.partition(":") for line in lines)
    fields = ((name.strip(), value.strip()) for name, colon, value in parts if colon)
    return tuple(field for field in fields if field[0]), len(head) + (width if end >= 0 else 0)


def media_type_and_charset(content_type: str) -> tuple[str, str]:
    """Return the media type of a Content-Type in small letters, and its charset; "" where it names none."""
    media_type, _, rest = content_type.partition(";")
    charset = _CHARSET.search(rest)
    return media_type.strip().lower()[:255], charset[1].lower() if charset else ""


def _own_name(name: str) -> str:
    own = name.removeprefix(ORIGINAL)
    return own if own.lower() in _MOVED else name


def _text(head: bytes) -> str:
    try:
        return head.decode()
    except UnicodeDecodeError:
        return head.decode("latin-1")
