"""Reads the head of a response that no strict parser takes, as browsers read it, and writes a head that all take.

Pure: bytes in, bytes out. A field that is none is left out and costs nothing else. The length of the body counts by
RFC 9112, 6.3: Transfer-Encoding before Content-Length, equal lengths are one, different ones end the reading.
"""

import re

MAX_HEAD_LINES = 500
_BEFORE = re.compile(rb"[\r\n]*+")
_END = re.compile(rb"\n\r*+\n")
_STATUS = re.compile(
    rb".{0,4}?(?:HTTP(?:/(\d+)(?:\.(\d+))?)?|ICY)[ \t]+(\d{3})(?!\d)[ \t]*(.*)", re.IGNORECASE | re.DOTALL
)
_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_FRAMING = (b"content-length", b"transfer-encoding", b"connection", b"keep-alive")
_SWITCHING = b"101"


class BadHead(ValueError):
    """The head of a response cannot be read at all; the text says why."""


def mended_head(received: bytes, most_bytes: int) -> tuple[bytes, bytes] | None:
    """Return the head that bytes from a site begin with, as it should be, and what follows it; None where it goes on.
    Heads before the answer's own are left out, and count with its bytes. Raises BadHead."""
    begin = 0
    while True:
        before = _BEFORE.match(received, begin)
        end = _END.search(received, before.end() if before else begin)
        if (end.end() if end else len(received)) > most_bytes:
            raise BadHead(f"the server's header is over {most_bytes >> 10} kB")
        if end is None:
            return None
        head, begin = received[begin : end.start()].lstrip(b"\r\n"), end.end()
        text = head.replace(b"\0", b"").split(b"\n")
        first, *lines = (line.rstrip(b"\r").replace(b"\r", b" ") for line in text)
        status = _STATUS.fullmatch(first)
        if status is None:
            raise BadHead("the answer is no HTTP")
        major, minor, code, reason = status.groups()
        if not code.startswith(b"1") or code == _SWITCHING:
            break
    if len(lines) > MAX_HEAD_LINES:
        raise BadHead(f"the server's header has more than {MAX_HEAD_LINES} lines")
    fields = _fields(lines)
    version = b"1.0" if (major, minor) == (b"1", b"0") else b"1.1"
    kept = [field for field in fields if field[0].lower() not in _FRAMING]
    kept += [*_framing(fields), (b"Connection", b"close")]  # where its next answer begins, nobody can be sure
    written = [b"HTTP/%b %b %b" % (version, code, reason), *(b"%b: %b" % field for field in kept)]
    return b"".join(b"%b\r\n" % line for line in written) + b"\r\n", received[begin:]


def _fields(lines: list[bytes]) -> list[tuple[bytes, bytes]]:
    """Return what is a field, in order; a line that begins with a space goes on with the field before it."""
    fields: list[tuple[bytes, bytes]] = []
    for text in lines:
        if text[:1] in (b" ", b"\t"):
            if fields:
                name, value = fields[-1]
                fields[-1] = name, b"%b %b" % (value, text.strip())
            continue
        name, colon, value = text.partition(b":")
        if colon and _NAME.fullmatch(name := name.rstrip(b" \t")):
            fields.append((name, value.strip(b" \t")))
    return fields


def _framing(fields: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return the one field that says where the body ends; none where the end of the connection does."""
    if b"chunked" in _listed(fields, b"transfer-encoding"):
        return [(b"Transfer-Encoding", b"chunked")]
    lengths = {int(length) for length in _listed(fields, b"content-length") if length.isdigit() and len(length) < 19}
    if len(lengths) > 1:
        raise BadHead(f"the server gives {len(lengths)} different lengths of one page")
    return [(b"Content-Length", b"%d" % length) for length in lengths]


def _listed(fields: list[tuple[bytes, bytes]], name: bytes) -> list[bytes]:
    values = b",".join(value for each, value in fields if each.lower() == name)
    return [value.strip(b" \t").lower() for value in values.split(b",")]
