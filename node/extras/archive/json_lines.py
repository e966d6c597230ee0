"""JSON lines: an object a capture, with all that is known of it; the form for programs of one's own.

Pure, but for the streams. A body that is UTF-8 stands as text under `content`, any other in base64 under
`content_base64`; digests and keys of authors are hexadecimal. Input may be packed with gzip.
"""

from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import IO

import msgspec

from crawl import Fetched
from node.captures.capture import Capture, Headers
from node.captures.imported_page import PAGE
from node.extras.archive.archive_output import ArchiveOutput, ExportSummary, digest_text
from node.extras.archive.line_flaws import LineFlaws, sound_fields
from node.extras.archive.read_limits import DEFAULT_LIMITS, ArchiveFlaw, ReadLimits
from node.extras.archive.unpacked_input import UnpackedInput, Unreadable
from node.extras.archive.warc_records import is_web

_BODIES = frozenset(("content", "content_base64"))
_URL_CHARS = 2048  # of a line that is no capture; no longer one could be fetched
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
                yield _capture(line, place, limits)
            except ValueError as error:
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


def _capture(line: bytes, place: int, limits: ReadLimits) -> Capture | ArchiveFlaw:
    """Return the capture of a line, or all that is wrong with it; raises ValueError where it is no object of JSON."""
    flaws = LineFlaws()
    found = _decoded(line, flaws)
    content = _content(found, limits, flaws)
    digest = sha256(content).digest()
    if found.content_digest and not flaws.keys() & _BODIES and found.content_digest != digest_text(digest):
        flaws.wrong("content_digest", found.content_digest)
    if len(found.headers) > limits.headers:
        flaws.too_large("headers", len(found.headers), limits.headers, "fields")
    if not is_web(found.url):
        flaws.wrong("url", found.url)
    if found.status == PAGE and not found.media_type and "headers" not in flaws and not _tells_type(found, content):
        flaws.missing("media_type")
    if flaws:
        return ArchiveFlaw(place, flaws.reason(), "" if "url" in flaws else found.url[:_URL_CHARS])
    return Capture(
        found.url, found.captured_at, found.status, found.headers, content, digest, found.media_type, found.charset,
        found.language, found.title, found.text, found.expires_at, b"", found.request, origin=found.origin,
    )  # fmt: skip


def _decoded(line: bytes, flaws: LineFlaws) -> CaptureLine:
    """Return what is sound of a line, as if it were of a page, and note what is not; raises ValueError."""
    try:
        return _decoder.decode(line)
    except (ValueError, RecursionError):  # msgspec's errors are of the first kind
        sound = sound_fields(line, CaptureLine, flaws)
    return msgspec.convert({"url": "", "captured_at": 0.0, "status": PAGE} | sound, CaptureLine)


def _tells_type(found: CaptureLine, content: bytes) -> bool:
    """Tell whether a page's head or its first bytes say of what type it is: the node would refuse any other."""
    answer = Fetched(found.url, found.status, found.headers, content, False, 0.0, "")
    return bool(answer.read_as)


def _content(found: CaptureLine, limits: ReadLimits, flaws: LineFlaws) -> bytes:
    """Return the body of a line, b"" where that is wrong."""
    if found.content is not None:
        name, content = "content", found.content.encode()
    else:
        name, content = "content_base64", b""
        try:
            content = b64decode(found.content_base64 or "", validate=True)
        except ValueError:
            flaws.wrong(name, found.content_base64)
    if len(content) > limits.record_bytes:
        flaws.too_large(name, len(content), limits.record_bytes, "bytes")
    return content


def _text(content: bytes) -> str | None:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None
