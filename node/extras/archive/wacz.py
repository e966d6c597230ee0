"""WACZ: a WARC, its index and its list of pages in one zip, as replay programs in a browser take it.

Thin: it writes to a stream, and to temporary files what is known only when the WARC is complete; pages are never held.
The index and the WARC are stored as they are, so that a reader finds a page by a few ranges of the file. Source: WACZ
1.1.1, the latest that validators know; 1.2.0 is a draft, and adds nothing that is needed here.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from tempfile import TemporaryFile
from typing import IO
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import msgspec

from node.captures.capture import Capture, instant
from node.extras.archive.archive_output import ArchiveOutput, ExportSummary, digest_text
from node.extras.archive.cdxj import cdxj_line
from node.extras.archive.read_limits import DEFAULT_LIMITS, ArchiveFlaw, ReadLimits
from node.extras.archive.sorted_lines import SortedLines
from node.extras.archive.warc_reader import read_warc
from node.extras.archive.warc_writer import WarcWriter
from node.extras.archive.zip_files import read_entries, zip_entry
from node.version import VERSION

WACZ_VERSION = "1.1.1"
WARC_NAME = "data.warc.gz"
_PAGES_HEAD = {"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}
_PAGE_TYPES = frozenset(("text/html", "application/xhtml+xml", "text/plain", "application/pdf"))
_PIECE_BYTES = 1 << 20


def write_wacz(captures: Iterable[Capture], file: IO[bytes], made_at: float, title: str = "") -> ExportSummary:
    """Write captures as they come."""
    out = ArchiveOutput(file)
    with ZipFile(out, "w") as package, SortedLines() as index, TemporaryFile() as pages:
        parts = _Parts(package, made_at)
        pages.write(msgspec.json.encode(_PAGES_HEAD) + b"\n")
        with parts.open(f"archive/{WARC_NAME}", ZIP_STORED) as warc:
            writer = WarcWriter(warc, made_at)
            for capture in out.allowed(captures):
                index.add(cdxj_line(capture, (WARC_NAME, *writer.write(capture))))
                if capture.status == 200 and capture.media_type in _PAGE_TYPES:
                    pages.write(_page_line(capture))
        parts.add("indexes/index.cdx", ZIP_STORED, index)
        pages.seek(0)
        parts.add("pages/pages.jsonl", ZIP_DEFLATED, iter(lambda: pages.read(_PIECE_BYTES), b""))
        parts.close(title)
    return out.summary()


def read_wacz(file: IO[bytes], limits: ReadLimits = DEFAULT_LIMITS) -> Iterator[Capture | ArchiveFlaw]:
    """Yield the captures of a WACZ's WARCs, without its index."""

    def read(name: str, content: IO[bytes]) -> Iterator[Capture | ArchiveFlaw]:
        is_warc = name.startswith("archive/") and name.endswith((".warc", ".warc.gz"))
        return read_warc(content, limits) if is_warc else iter(())

    return read_entries(file, limits, read)


class _Parts:
    """The files of a package, each listed with its digest."""

    def __init__(self, package: ZipFile, made_at: float) -> None:
        self._package = package
        self._made_at = made_at
        self._resources: list[dict[str, object]] = []

    @contextmanager
    def open(self, path: str, packing: int) -> Iterator[ArchiveOutput]:
        """Write one file as long as the block lasts."""
        with self._package.open(zip_entry(path, packing, self._made_at), "w", force_zip64=True) as entry:
            out = ArchiveOutput(entry)
            yield out
        file = out.summary()
        name, digest = path.rpartition("/")[2], digest_text(file.file_digest)
        self._resources.append({"name": name, "path": path, "hash": digest, "bytes": file.file_bytes})

    def add(self, path: str, packing: int, pieces: Iterable[bytes]) -> None:
        """Write one file of pieces."""
        with self.open(path, packing) as part:
            for piece in pieces:
                part.write(piece)

    def close(self, title: str) -> None:
        """Write the list of all, and its digest."""
        about = {
            "profile": "data-package",
            "wacz_version": WACZ_VERSION,
            "title": title or "Export of dse-node",
            "created": instant(self._made_at).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "software": f"dse-node {VERSION}",
            "resources": self._resources,
        }
        listing = msgspec.json.format(msgspec.json.encode(about), indent=2)
        digest = {"path": "datapackage.json", "hash": digest_text(sha256(listing).digest())}
        for path, data in (("datapackage.json", listing), ("datapackage-digest.json", msgspec.json.encode(digest))):
            self._package.writestr(zip_entry(path, ZIP_DEFLATED, self._made_at), data)


def _page_line(capture: Capture) -> bytes:
    page = {"id": capture.content_digest.hex()[:16], "url": capture.url, "title": capture.title or capture.url}
    return msgspec.json.encode(page | {"ts": instant(capture.captured_at).strftime("%Y-%m-%dT%H:%M:%SZ")}) + b"\n"
