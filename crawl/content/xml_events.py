"""XML that strangers wrote, event by event, within bounds.

Pure: bytes in, events out. A document type declaration ends the reading, so there are no entities to expand. A file
that is not well-formed, or nested deeper than any list needs, is read by xml_recovery.py. Names come without their
namespaces.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Protocol, TypeVar
from xml.parsers import expat

from lxml import etree

from crawl.content.xml_recovery import ROOT, broken_pieces

MAX_DEPTH = 256  # a feed has 5, and its entries may hold pages
_MAX_PIECES = 64


class Enough(Exception):
    """Raised by a reader to end the reading; never leaves `read_xml`."""


class XmlReader(Protocol):
    """Takes the events of one document."""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """An element begins."""

    def end(self, tag: str, text: str) -> None:
        """An element ends. `text`: what stands between its beginning or its last child's end and here, bounded."""


AnyReader = TypeVar("AnyReader", bound=XmlReader)


def read_xml(body: bytes, begin: Callable[[], AnyReader]) -> AnyReader:
    """Feed a reader and return it. `begin` makes one, and another one where a broken body is read once more."""
    reader = begin()
    if not _is_well_formed(body, reader):
        reader = begin()
        with suppress(Enough):
            for root in broken_pieces(body):
                _walk(root, reader)
    return reader


def _is_well_formed(body: bytes, reader: XmlReader) -> bool:
    """Feed a reader up to where the body breaks; False where it does."""
    depth = 0
    text: list[str] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        text.clear()
        if depth > MAX_DEPTH:
            raise ValueError("too deep")
        reader.start(name.rpartition(" ")[2], attributes)

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        reader.end(name.rpartition(" ")[2], "".join(text))
        text.clear()

    def add(data: str) -> None:
        if len(text) < _MAX_PIECES:
            text.append(data)

    def doctype(*_: object) -> None:
        raise Enough

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = add
    parser.StartDoctypeDeclHandler = doctype
    try:
        parser.Parse(body, True)
    except Enough:
        return True
    except (expat.ExpatError, ValueError, LookupError):
        return False
    return True


def _walk(root: etree._Element, reader: XmlReader) -> None:
    """Feed a reader with the elements of a piece."""
    for event, node in etree.iterwalk(root, events=("start", "end")):
        tag = node.tag.rpartition("}")[2].rpartition(":")[2]
        if tag == ROOT:
            continue
        if event == "start":
            reader.start(tag, dict(node.attrib))
        else:
            reader.end(tag, (node[-1].tail if len(node) else node.text) or "")
