"""Reads the captures of a WARC or WET, whoever wrote it, and says what of it cannot be read.

Pure, but for the stream that it reads from. A response gives its head and its body without codings, a resource its body
alone, a conversion (WET) its text. A revisit gives the body of the record that it repeats, if that was read lately.
"""

import base64
from collections import OrderedDict
from collections.abc import Iterator
from datetime import datetime
from hashlib import sha1, sha256
from typing import IO

from crawl import BadCoding, decode_body
from node.captures.capture import Capture, Headers
from node.extras.archive.http_head import (
    ORIGIN,
    HttpHead,
    media_type_and_charset,
    read_headers,
    read_response_head,
    received_headers,
)
from node.extras.archive.read_limits import DEFAULT_LIMITS, ArchiveFlaw, ReadLimits
from node.extras.archive.unpacked_input import Unreadable
from node.extras.archive.warc_records import Fields, WarcRecord, is_web, read_records, target

_WITH_PAGES = frozenset(("response", "resource", "conversion", "revisit"))
_SMALL_BYTES = 1 << 16  # a body may unpack to that much however small it is packed
_GZIPS = ("gzip", "x-gzip")
_SHA = {"sha1": sha1, "sha256": sha256}


def read_warc(file: IO[bytes], limits: ReadLimits = DEFAULT_LIMITS) -> Iterator[Capture | ArchiveFlaw]:
    """Yield the captures of a WARC in order, and a flaw for each record that gives none though it should."""
    pages = _Pages(limits)
    for record in read_records(file, limits, _is_wanted):
        if isinstance(record, ArchiveFlaw):
            yield record
            continue
        if not record.block and record.type not in _WITH_PAGES:
            continue
        try:
            capture = pages.capture(record)
        except (Unreadable, BadCoding) as error:
            yield ArchiveFlaw(record.place, str(error), record.url)
        else:
            if capture:
                yield capture


def _is_wanted(fields: Fields) -> bool:
    kind = fields.get("warc-type", "")
    return is_web(target(fields)) and (kind in _WITH_PAGES or kind == "request")


class _Pages:
    """Makes captures of records, and keeps for a while what later ones refer to."""

    def __init__(self, limits: ReadLimits) -> None:
        self._limits = limits
        self._request: tuple[str, Headers] = ("", ())
        self._bodies: OrderedDict[str, bytes] = OrderedDict()
        self._kept_bytes = 0

    def capture(self, record: WarcRecord) -> Capture | None:
        """Return the capture that a record is, None where it is none; raises Unreadable and BadCoding."""
        is_http = record.fields.get("content-type", "").replace(" ", "").lower().startswith("application/http")
        if record.type == "request":
            self._request = (record.url, read_headers(record.block, self._limits)[0] if is_http else ())
            return None
        if not is_web(record.url) or (record.type == "response" and not is_http):
            return None
        if record.type == "revisit":
            return self._revisit(record)
        if record.type == "response":
            head = read_response_head(record.block, self._limits)
            content, digest = _content(record, head, self._limits)
        else:
            head = HttpHead(200, (), 0)  # a resource and a conversion were made of a page that was there
            content, digest = record.block, sha256(record.block).digest()
            _check(record, digest, content)
        self._keep(record.fields.get("warc-payload-digest", ""), content)
        return self._page(record, head, content, digest)

    def _revisit(self, record: WarcRecord) -> Capture:
        if "server-not-modified" in record.fields.get("warc-profile", ""):
            raise Unreadable("a revisit says that nothing changed, not since when")
        content = self._bodies.get(record.fields.get("warc-payload-digest", ""))
        if content is None:
            raise Unreadable("a revisit repeats a record that is not near it in this file")
        head = read_response_head(record.block, self._limits) if record.block else HttpHead(200, (), 0)
        return self._page(record, head, content, sha256(content).digest())

    def _page(self, record: WarcRecord, head: HttpHead, content: bytes, digest: bytes) -> Capture:
        named = head.field("content-type") if head.headers else record.fields.get("content-type", "")
        media_type, charset = media_type_and_charset(named)
        is_text = record.type == "conversion"
        text = content.decode(errors="replace") if is_text else ""
        asked_url, request = self._request
        return Capture(
            url=record.url,
            captured_at=_instant(record.fields.get("warc-date", "")),
            status=head.status,
            headers=received_headers(head.headers),
            content=content,
            content_digest=digest,
            media_type=media_type,
            charset=charset or ("utf-8" if is_text else ""),
            text=text,
            request=request if asked_url == record.url else (),
            origin=record.fields.get(ORIGIN.lower(), ""),
            record_id=record.fields.get("warc-record-id", "").strip("<>"),
        )

    def _keep(self, name: str, content: bytes) -> None:
        if name and name not in self._bodies:
            self._bodies[name] = content
            self._kept_bytes += len(content) + len(name)
        while self._kept_bytes > self._limits.record_bytes:
            old, gone = self._bodies.popitem(last=False)
            self._kept_bytes -= len(gone) + len(old)


def _content(record: WarcRecord, head: HttpHead, limits: ReadLimits) -> tuple[bytes, bytes]:
    """Return a response's body without its codings, and its digest; some writers undid these and left the head."""
    packed = body = record.block[head.body_at :]
    if "chunked" in head.field("transfer-encoding").lower():
        body = _without_chunks(body)
    coding = head.field("content-encoding")
    content = body
    if coding and not (coding.strip().lower() in _GZIPS and not body.startswith(b"\x1f\x8b")):
        most = min(limits.record_bytes, _SMALL_BYTES + limits.ratio * len(body))
        content, is_cut = decode_body(body, coding, most)
        if is_cut:
            raise Unreadable(f"a body unpacks to more than {most} bytes")
    digest = sha256(content).digest()
    _check(record, digest, content, packed, body)
    return content, digest


def _without_chunks(body: bytes) -> bytes:
    """Undo the chunked transfer coding as far as it goes; a body that does not begin with a chunk has none."""
    parts: list[bytes] = []
    at = 0
    while (end := body.find(b"\r\n", at, at + 64)) > 0:
        size = body[at:end].partition(b";")[0].strip()
        if not size or len(size) > 8 or size.strip(b"0123456789abcdefABCDEF"):
            break
        count = int(size, 16)
        if not count:
            return b"".join(parts)
        parts.append(body[end + 2 : end + 2 + count])
        at = end + 4 + count
    return b"".join(parts) if parts else body


def _check(record: WarcRecord, digest: bytes, *bodies: bytes) -> None:
    """Raise Unreadable where a record's digest is of none of these forms of its body; writers differ in which it is."""
    algorithm, _, value = record.fields.get("warc-payload-digest", "").partition(":")
    hashed = _SHA.get(algorithm.lower())
    if hashed is None:
        return
    size = hashed().digest_size
    try:
        told = bytes.fromhex(value) if len(value) == 2 * size else base64.b32decode(value.upper())
    except ValueError:
        return  # no digest that we could compare
    if told != digest and all(hashed(body).digest() != told for body in bodies):
        raise Unreadable("a body has another digest than its record says")


def _instant(date: str) -> float:
    try:
        found = datetime.fromisoformat(date)
    except ValueError:
        raise Unreadable(f"a record has no date: {date[:40]!r}") from None
    if found.tzinfo is None:
        raise Unreadable("a record's date has no time zone")
    return found.timestamp()
