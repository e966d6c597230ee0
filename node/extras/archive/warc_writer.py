"""Writes captures as a WARC 1.1: each record a gzip member of its own, so that readers can go to any of them.

Pure, but for the stream that it writes to. The same captures at the same instant give the same bytes. A page whose head
is known becomes a response, with its request before it where that is known. Any other page becomes a resource: so WARC
says that there is no head. Source: ISO 28500:2017.
"""

from collections.abc import Iterable
from typing import IO
from uuid import NAMESPACE_URL, uuid5

from isal import igzip_lib

from node.captures.capture import Capture, Headers, instant, one_line
from node.extras.archive.archive_output import ArchiveOutput, ExportSummary, digest_text
from node.extras.archive.http_head import ORIGIN, head_bytes, response_head
from node.version import VERSION

_PACK_LEVEL = 2
_ABOUT = (
    "bodies are stored without transfer and content codings; header fields that told of these, or of another length, "
    "stand under X-Archive-Orig-; a response without a request record beside it was fetched by a request unknown here"
)
_INFO = (
    ("software", f"dse-node/{VERSION}"),
    ("format", "WARC File Format 1.1"),
    ("conformsTo", "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"),
    ("description", _ABOUT),
)


class WarcWriter:
    """Writes records one after another; `made_at` is when the file is made."""

    def __init__(self, out: ArchiveOutput, made_at: float) -> None:
        self._out = out
        date = _date(made_at)
        self._info = _record_id("warcinfo", date)
        fields = (("WARC-Record-ID", self._info), ("WARC-Date", date), ("Content-Type", "application/warc-fields"))
        self._append("warcinfo", fields, _fields(_INFO))

    def write(self, capture: Capture) -> tuple[int, int]:
        """Write a capture; returns where the record with its content begins, and how long it is in the file."""
        date, digest = _date(capture.captured_at), digest_text(capture.content_digest)
        url, media_type = one_line(capture.url), one_line(capture.media_type)
        record_id = _record_id(url, date, digest)
        about = (("WARC-Target-URI", url), ("WARC-Date", date), ("WARC-Warcinfo-ID", self._info))
        if capture.request:
            self._write_request(capture, about, record_id)
        payload: Headers = (("WARC-Payload-Digest", digest), ("WARC-Record-ID", record_id), *about)
        if capture.origin:
            payload = (*payload, (ORIGIN, one_line(capture.origin)))
        if not capture.headers and capture.status == 200:
            charset = f"; charset={one_line(capture.charset)}" if capture.charset else ""
            kind = ("Content-Type", f"{media_type or 'application/octet-stream'}{charset}")
            return self._append("resource", (*payload, kind), capture.content)
        if media_type:
            payload = (*payload, ("WARC-Identified-Payload-Type", media_type))
        kind = ("Content-Type", "application/http; msgtype=response")
        return self._append("response", (*payload, kind), response_head(capture), capture.content)

    def _write_request(self, capture: Capture, about: Headers, response_id: str) -> None:
        own_id = _record_id("request", response_id)
        fields = (*about, ("WARC-Record-ID", own_id), ("WARC-Concurrent-To", response_id))
        rest = capture.url.partition("://")[2]
        path = rest[rest.find("/") :] if "/" in rest else "/"
        head = head_bytes(f"GET {one_line(path)} HTTP/1.1", capture.request)
        self._append("request", (*fields, ("Content-Type", "application/http; msgtype=request")), head)

    def _append(self, kind: str, fields: Headers, *block: bytes) -> tuple[int, int]:
        length = ("Content-Length", str(sum(map(len, block))))
        head = head_bytes("WARC/1.1", (("WARC-Type", kind), *fields, length))
        record = b"".join((head, *block, b"\r\n\r\n"))
        began = self._out.tell()
        self._out.write(igzip_lib.compress(record, _PACK_LEVEL, igzip_lib.COMP_GZIP))
        return began, self._out.tell() - began


def write_warc(captures: Iterable[Capture], file: IO[bytes], made_at: float) -> ExportSummary:
    """Write captures as they come."""
    out = ArchiveOutput(file)
    writer = WarcWriter(out, made_at)
    for capture in out.allowed(captures):
        writer.write(capture)
    return out.summary()


def _fields(fields: Iterable[tuple[str, str]]) -> bytes:
    return "".join(f"{name}: {value}\r\n" for name, value in fields).encode()


def _record_id(*parts: str) -> str:
    return f"<urn:uuid:{uuid5(NAMESPACE_URL, ' '.join(parts))}>"


def _date(at: float) -> str:
    return instant(at).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
