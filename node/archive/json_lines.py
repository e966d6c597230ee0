"""JSON lines: an object a capture, with all that is known of it; the form for programs of one's own.

Pure, but for the streams. A body that is UTF-8 stands as text under `content`, any other in base64 under
`content_base64`; digests and keys of authors are hexadecimal. What is read may be packed with gzip.
"""

from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import IO

import msgspec

from node.archive.archive_output import ArchiveOutput, digest_text
from node.archive.capture import DEFAULT_LIMITS, ArchiveFlaw, Capture, ExportSummary, ReadLimits
from node.archive.http_head import Headers
from node.archive.unpacked_input import UnpackedInput, Unreadable
from node.archive.warc_records import is_web

_LINE_GROWTH = 2  # of base64, and of what JSON escapes; a body of control characters alone may take more


class CaptureLine(msgspec.Struct, omit_defaults=True):
    """A capture as an object of JSON."""

    url: str
    captured_at: float
    status: int
    headers: Headers = ()
    content: str | None = None
    content_base64: str | None = None
    content_digest: str = ""
    media_type: str = ""
    charset: str = ""
    language: str = ""
    title: str = ""
    text: str = ""
    expires_at: float = 0.0
    author: str = ""
    request: Headers = ()
    origin: str = ""


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(CaptureLine)


def write_json_lines(captures: Iterable[Capture], file: IO[bytes]) -> ExportSummary:
    """Write captures as they come."""
    out = ArchiveOutput(file)
    for capture in out.allowed(captures):
        out.write(_encoder.encode(capture_line(capture)) + b"\n")
    return out.summary()


def read_json_lines(file: IO[bytes], limits: ReadLimits = DEFAULT_LIMITS) -> Iterator[Capture | ArchiveFlaw]:
    """Yield the capture of each line, or why it is none; a line that is too long ends the reading."""
    source = UnpackedInput(file, limits)
    while True:
        place = source.place
        try:
            line = source.line(_LINE_GROWTH * limits.record_bytes)
        except Unreadable as error:
            yield ArchiveFlaw(place, str(error))
            return
        if not line:
            return
        if line.strip():
            try:
                yield _capture(line, limits)
            except ValueError as error:  # msgspec's errors are of that kind, and base64's
                yield ArchiveFlaw(place, str(error))


def capture_line(capture: Capture) -> CaptureLine:
    """Return a capture as JSON has it."""
    text, packed = _text(capture.content), None
    if text is None:
        packed = b64encode(capture.content).decode()
    return CaptureLine(
        capture.url, capture.captured_at, capture.status, capture.headers, text, packed,
        digest_text(capture.content_digest), capture.media_type, capture.charset, capture.language, capture.title,
        capture.text, capture.expires_at, capture.author.hex(), capture.request, capture.origin,
    )  # fmt: skip


def _capture(line: bytes, limits: ReadLimits) -> Capture:
    found = _decoder.decode(line)
    if found.content is not None:
        content = found.content.encode()
    else:
        content = b64decode(found.content_base64 or "", validate=True)
    if len(content) > limits.record_bytes or len(found.headers) > limits.headers:
        raise Unreadable("a capture is larger than allowed")
    digest = sha256(content).digest()
    if found.content_digest and found.content_digest != digest_text(digest):
        raise Unreadable("a body has another digest than its line says")
    if not is_web(found.url):
        raise Unreadable("a capture's url is none of the web")
    return Capture(
        found.url, found.captured_at, found.status, found.headers, content, digest, found.media_type, found.charset,
        found.language, found.title, found.text, found.expires_at, b"", found.request, origin=found.origin,
    )  # fmt: skip


def _text(content: bytes) -> str | None:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None
