"""SPF: packages of web objects with their descriptions in one zip, as the thesis's stores exchange them.

Thin: it writes to a stream, and to temporary files the objects of each class of validity, since a package holds one
class. A web object has room for neither a status nor a head: pages with a status other than 200 are left out, and what
is read has no head. The charset goes into the MIME type. A page is valid until its next change is expected; where
nobody knows that, until the network drops it.
"""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from hashlib import sha256
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import IO
from zipfile import ZIP_DEFLATED, ZipFile

from node.captures.capture import Capture
from node.extras.archive.archive_output import ArchiveOutput, ExportSummary
from node.extras.archive.http_head import media_type_and_charset
from node.extras.archive.read_limits import DEFAULT_LIMITS, ArchiveFlaw, ReadLimits
from node.extras.archive.unpacked_input import UnpackedInput, Unreadable
from node.extras.archive.warc_records import is_web
from node.extras.archive.web_object import (
    DAY_MS,
    MOST_BYTES,
    OBJECT_HEAD_BYTES,
    PACKAGE_HEAD,
    PackageDescription,
    WebObject,
    decode_object,
    decode_object_head,
    description_line,
    encode_description,
    encode_object,
    exponent_of,
    milliseconds,
)
from node.extras.archive.zip_files import read_entries, zip_entry

BASE = 4  # the thesis's; classes of 1, 4, 16 … days
_PIECE_BYTES = 1 << 20
_MOST_NAME_BYTES = 65_000  # lengths are 16 bits, and a charset's name joins a MIME type


def write_spf(captures: Iterable[Capture], file: IO[bytes], made_at: float) -> ExportSummary:
    """Write captures as packages, one for each class of validity."""
    out = ArchiveOutput(file)
    with ExitStack() as files:
        found: dict[int, _Package] = {}
        for capture in out.allowed(captures, _fits):
            page = web_object(capture)
            exponent = exponent_of(BASE, (page.expires_at_ms - page.fetched_at_ms) / DAY_MS)
            if exponent not in found:
                created_at_ms = milliseconds(made_at)
                ends_at_ms = created_at_ms + BASE**exponent * DAY_MS
                found[exponent] = _Package(files, PackageDescription(BASE, exponent, created_at_ms, ends_at_ms))
            found[exponent].add(page)
        with ZipFile(out, "w") as package:
            for exponent in sorted(found):
                found[exponent].write(package, made_at)
    return out.summary()


def read_spf(file: IO[bytes], limits: ReadLimits = DEFAULT_LIMITS) -> Iterator[Capture | ArchiveFlaw]:
    """Yield the captures of all packages in order; what their descriptions say follows from them."""

    def read(name: str, content: IO[bytes]) -> Iterator[Capture | ArchiveFlaw]:
        return read_package(content, limits) if name.endswith(".webop") else iter(())

    return read_entries(file, limits, read)


def read_object(file: IO[bytes], limits: ReadLimits = DEFAULT_LIMITS) -> Iterator[Capture | ArchiveFlaw]:
    """Yield the capture of a .webo."""
    yield from _objects(UnpackedInput(file, limits), limits)


def read_package(file: IO[bytes], limits: ReadLimits = DEFAULT_LIMITS) -> Iterator[Capture | ArchiveFlaw]:
    """Yield the captures of a .webop; nothing behind a broken object is guessed."""
    source = UnpackedInput(file, limits)
    try:
        if source.read(len(PACKAGE_HEAD)) != PACKAGE_HEAD:
            raise Unreadable("a package does not begin as one")
    except Unreadable as error:
        yield ArchiveFlaw(0, str(error))
        return
    yield from _objects(source, limits)


def _objects(source: UnpackedInput, limits: ReadLimits) -> Iterator[Capture | ArchiveFlaw]:
    place = source.place
    try:
        while not source.is_over():
            place = source.place
            head = decode_object_head(source.read(OBJECT_HEAD_BYTES))
            rest = source.read(head.rest_bytes)
            if head.data_bytes > limits.record_bytes:
                source.skip(head.data_bytes)
                yield ArchiveFlaw(place, f"a web object is larger than {limits.record_bytes} bytes")
                continue
            page = decode_object(head, rest, source.read(head.data_bytes))
            yield capture_of_object(page) if is_web(page.url) else ArchiveFlaw(place, "a web object's URL is none")
    except Unreadable as error:
        yield ArchiveFlaw(place, str(error))


def web_object(capture: Capture) -> WebObject:
    """Return a capture as the thesis keeps it."""
    charset = f"; charset={capture.charset}" if capture.charset else ""
    return WebObject(
        capture.url,
        capture.media_type + charset,
        capture.content,
        milliseconds(capture.captured_at),
        milliseconds(capture.changes_at or capture.expires_at),
    )


def capture_of_object(page: WebObject) -> Capture:
    """Return a web object as a capture."""
    media_type, charset = media_type_and_charset(page.media_type)
    return Capture(
        url=page.url,
        captured_at=page.fetched_at_ms / 1000,
        status=200,
        headers=(),
        content=page.data,
        content_digest=sha256(page.data).digest(),
        media_type=media_type,
        charset=charset,
        expires_at=page.expires_at_ms / 1000,
    )


def _fits(capture: Capture) -> bool:
    parts = (capture.url, capture.media_type + capture.charset)
    is_short = max(len(part.encode("utf-8", "replace")) for part in parts) < _MOST_NAME_BYTES
    return capture.status == 200 and is_short and len(capture.content) <= MOST_BYTES


class _Package:
    """One package that is being written, with its description."""

    def __init__(self, files: ExitStack, head: PackageDescription) -> None:
        self._head = head
        self._objects = files.enter_context(TemporaryFile())  # noqa: SIM115 (closed with the stack)
        self._lines = files.enter_context(TemporaryFile())  # noqa: SIM115
        self._objects.write(PACKAGE_HEAD)
        self._lines.write(encode_description(head))
        self._size = len(PACKAGE_HEAD)

    def add(self, page: WebObject) -> None:
        data = encode_object(page)
        self._objects.write(data)
        self._lines.write(description_line(page.url, self._size, len(data)))
        self._size += len(data)

    def write(self, package: ZipFile, made_at: float) -> None:
        for ending, part in ((".webop", self._objects), (".webop.desc", self._lines)):
            part.seek(0)
            entry = zip_entry(self._head.name + ending, ZIP_DEFLATED, made_at)
            with package.open(entry, "w", force_zip64=True) as file:
                copyfileobj(part, file, _PIECE_BYTES)
