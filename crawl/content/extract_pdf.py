"""The text of a PDF file.

Wraps pypdf. Runs in parser processes, where the watchdog ends slow work and the process's memory is bounded. Pages,
characters and unpacked streams are bounded here as well. Files that only their owner's password protects are read, as
every viewer does. The library is loaded with the first file: it takes 24 MB and 0.2 s, and the node's own process never
needs it.
"""

from __future__ import annotations

import logging
import re
from datetime import UTC, datetime
from io import BytesIO
from typing import TYPE_CHECKING

from crawl.content.dates import EARLIEST, LATEST
from crawl.content.raw_html import BREAK, RawHtml

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

MAX_PAGES = 50  # of one file, 20 ms each; what is longer is a book, found by its beginning
FEW_PAGES = 5  # where so many stalled or broke the parser
MAX_STREAM_BYTES = 16_777_216  # one unpacked stream; page contents have a hundredth of it
_MAX_WORK = 200_000  # operators in a page's content; a full page of text has 5,000
NO_TITLE = re.compile(  # names of files and of programs, which word processors put there
    r"(?:Microsoft (?:Word|PowerPoint|Excel) - |Slide \d|PowerPoint[ -]Pr|untitled|unbenannt|sans titre).*"
    r"|\((?:anonymous|unspecified)\)|(?:doc(?:ument)?|dokument|presentation|präsentation|layout) ?\d*"
    r"|(?:[a-z]:[\\/]|file:).*|.*\.(?:ai|cdr|docx?|dvi|eps|fm|html?|indd|odt|pdf|pptx?|ps|pub|qxd|rtf|tex|tmp|txt|wpd"
    r"|xlsx?)|\W*",
    re.IGNORECASE,
)
_BROKEN = (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError)


def read_pdf(body: bytes, max_chars: int, max_pages: int) -> tuple[RawHtml, float, float]:
    """Return what a file says, and when it was made and changed (Unix seconds, 0.0 unknown).

    Raises ValueError, or what pypdf raises, which is anything, where the file is none; a broken page ends the text."""
    from pypdf import PdfReader, apply_configuration

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it warns about every second file
    with apply_configuration(
        zlib_maximum_output_length=MAX_STREAM_BYTES,
        lzw_maximum_output_length=MAX_STREAM_BYTES,
        run_length_maximum_output_length=MAX_STREAM_BYTES,
        stream_parsing_work_maximum_count=_MAX_WORK,
        jbig2dec_binary=None,  # no other programs
    ):
        reader = PdfReader(BytesIO(body), strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            raise ValueError("the file needs a password")
        return RawHtml(title=_title(reader), text=_text(reader, max_chars, max_pages)), *_dates(reader)


def _text(reader: PdfReader, max_chars: int, max_pages: int) -> str:
    pieces: list[str] = []
    room = max_chars
    for page in reader.pages[:max_pages]:
        text = _page_text(page)
        if text is None:
            break
        pieces.append(text.replace("\n", BREAK))
        room -= len(text)
        if room <= 0:
            break
    return BREAK.join(pieces)


def _page_text(page: PageObject) -> str | None:
    """Return the text of a page, None where the page is broken."""
    from pypdf.errors import PyPdfError

    try:
        return _whole(page.extract_text())
    except (PyPdfError, *_BROKEN):
        return None


def _whole(text: str) -> str:
    """Replace lone surrogates, which fonts that lie may give."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _title(reader: PdfReader) -> str:
    from pypdf.errors import PyPdfError

    try:
        title = reader.metadata.title if reader.metadata else ""
    except (PyPdfError, *_BROKEN):
        return ""
    title = _whole(str(title or "")).strip()
    return "" if NO_TITLE.fullmatch(title) else title


def _dates(reader: PdfReader) -> tuple[float, float]:
    """Return when the file was made and last changed, in Unix seconds, 0.0 unknown."""
    from pypdf.errors import PyPdfError

    try:
        info = reader.metadata
        found = [_instant(at) if at else 0.0 for at in (info.creation_date, info.modification_date)] if info else []
    except (PyPdfError, *_BROKEN):
        found = []
    made, changed = (*(at if EARLIEST <= at <= LATEST else 0.0 for at in found), 0.0, 0.0)[:2]
    return made, changed


def _instant(at: datetime) -> float:
    """Return Unix seconds; a file that names no zone says nothing of it (ISO 32000-2, 7.9.4), so it is UTC."""
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
