"""Books in EPUB: the chapters in reading order, each read as the HTML that it is.

Pure: a package in, a reading out. Source: EPUB 3.3. Links inside a book lead nowhere on the web and are left out.
"""

from crawl.content.decode import decode_text
from crawl.content.extract_lexbor import read_lexbor
from crawl.content.raw_html import BREAK, RawHtml, without_marks
from crawl.content.xhtml import html_of
from crawl.office.package import Package, Start, part_name
from crawl.office.reading import NotRead, OfficeReading

CONTAINER, ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"
MAX_CHAPTER_BYTES = 2_097_152  # of one; a novel has half of it in all
_PAGES = frozenset(("application/xhtml+xml", "text/html"))
_ON_THE_WEB = ("http://", "https://")


def read_epub(package: Package, reading: OfficeReading) -> None:
    """Read the properties of a book and its chapters; raises NotRead."""
    part = next((said.get("full-path", "") for name, _, said in package.values(CONTAINER) if name == "rootfile"), "")
    chapters = _chapters(package, part)
    locked = {
        part_name("", said.get("URI", "")) for name, _, said in package.values(ENCRYPTION) if name == "CipherReference"
    }
    if not locked.isdisjoint(chapters):
        raise NotRead("it needs a key")
    _read_properties(package, part, reading)
    for chapter in chapters:
        if reading.is_full:
            return
        text = decode_text(package.read(chapter, MAX_CHAPTER_BYTES))[0]
        _take(read_lexbor(html_of(text) or text, reading.max_links), reading)


def _read_properties(package: Package, part: str, reading: OfficeReading) -> None:
    for name, text, said in package.values(part):
        if name == "meta":
            reading.take_property(said.get("property", "").removeprefix("dcterms:"), text)
        elif name == "date":
            reading.take_property("modified" if said.get("event") == "modification" else "issued", text)
        else:
            reading.take_property(name, text)


def _chapters(package: Package, part: str) -> list[str]:
    """Return the names of the pages in reading order, each once, without those beside the text (a cover, an index)."""
    pages, order = {}, []
    for event in package.events(part):
        if not isinstance(event, Start):
            continue
        said = event.attributes
        if event.name == "item" and said.get("media-type") in _PAGES:
            pages[said.get("id", "")] = part_name(part, said.get("href", ""))
        elif event.name == "itemref" and said.get("linear") != "no":
            order.append(said.get("idref", ""))
    return list(dict.fromkeys(pages[each] for each in order if each in pages))


def _take(page: RawHtml, reading: OfficeReading) -> None:
    """Take the lines, headings and links of a chapter. A heading is a line of the text, too."""
    headings = {" ".join(heading.split()) for heading in page.headings}
    for raw in page.text.split(BREAK):
        line = " ".join(without_marks(raw).split())
        reading.take_line(line, is_heading=line in headings)
    for href, text, _ in page.links:
        if href.lower().startswith(_ON_THE_WEB):
            reading.take_link(href, text)
