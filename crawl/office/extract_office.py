"""A document's text, title, headings and links: which reader reads it, and what comes of that.

Pure: bytes in, values out. It runs in parser processes, which load this room and lxml with the first document. All
words of a document are main text. Its author stands beside it, as boilerplate. A refusal has a reason in plain words.
"""

from msgspec.structs import replace

from crawl.content.extract import canonical_links, without_markup
from crawl.content.extract_pdf import NO_TITLE
from crawl.content.page import ParseResult, ParseTask
from crawl.errors import BodyUnfit
from crawl.fetch.response import OLE_MAGIC, RTF_MAGIC, ZIP_MAGIC
from crawl.office.epub import CONTAINER, read_epub
from crawl.office.open_document import CONTENT, read_open_document
from crawl.office.open_xml import main_part, read_properties, read_slides, read_word
from crawl.office.package import Package, Start
from crawl.office.reading import NotRead, OfficeReading
from crawl.office.rich_text import read_rtf
from crawl.office.workbook import read_workbook

MAX_DESCRIPTION_CHARS = 500
_READERS = {"document": read_word, "workbook": read_workbook, "presentation": read_slides}  # by the root element
_CONTENT_TYPES = "[Content_Types].xml"


def extract_office(task: ParseTask) -> ParseResult:
    """Read one document; raises BodyUnfit."""
    reading = OfficeReading(task.max_text_chars, task.max_links)
    try:
        _read(task.body, reading)
    except NotRead as error:
        raise BodyUnfit(task.url, f"office file: {error}") from error
    text = "\n".join(reading.lines).encode("utf-8", "replace").decode()[: task.max_text_chars]
    titles = (reading.title, *reading.headings[:1], *reading.lines[:1])
    title = next((each for each in titles if not NO_TITLE.fullmatch(each)), "")
    page = without_markup("", title, text, reading.language)
    return replace(
        page,
        headings=tuple(reading.headings),
        links=canonical_links(reading.links, {}, task.url, task),
        description=reading.description[:MAX_DESCRIPTION_CHARS],
        boilerplate=reading.author[:MAX_DESCRIPTION_CHARS],
        published_at=reading.published_at,
        modified_at=reading.modified_at,
    )


def _read(body: bytes, reading: OfficeReading) -> None:
    """Choose a reader by what a file holds, whatever type it was sent with."""
    if body.lstrip()[: len(RTF_MAGIC)] == RTF_MAGIC:
        return read_rtf(body.lstrip(), reading)
    if body.startswith(OLE_MAGIC):
        raise NotRead("it is of an old Office program, or needs a password")
    if not body.startswith(ZIP_MAGIC):
        raise NotRead("it is no office file")
    package = Package(body)
    if CONTAINER in package:
        return read_epub(package, reading)
    if _CONTENT_TYPES in package:
        return _read_open_xml(package, reading)
    if CONTENT in package:
        return read_open_document(package, reading)
    raise NotRead("it is no office file")


def _read_open_xml(package: Package, reading: OfficeReading) -> None:
    if any(name.endswith("/vbaproject.bin") for name in package.names):
        raise NotRead("it has macros")
    part = main_part(package)
    root = next((event.name for event in package.events(part) if isinstance(event, Start)), "")
    if root not in _READERS:
        raise NotRead("it is of no kind that is read")
    read_properties(package, reading)
    _READERS[root](package, part, reading)
