"""XML that strangers wrote, event by event, within bounds.

Pure: bytes in, events out. A document type declaration ends the reading, so there are no entities to expand; so does
nesting deeper than any list needs, which would fill the memory of the parser. Names come without their namespaces.
"""

from contextlib import suppress
from typing import Protocol
from xml.parsers import expat

MAX_DEPTH = 256  # a feed has 5, and its entries may hold pages
_MAX_PIECES = 64


class Enough(Exception):
    """Raised by a reader to end the reading; never leaves `read_xml`."""


class XmlReader(Protocol):
    """What takes the events."""

    def start(self, tag: str, attributes: dict[str, str]) -> None: ...

    def end(self, tag: str, text: str) -> None:
        """`text`: what stands between the beginning or the last child's end and here, bounded."""


def read_xml(body: bytes, reader: XmlReader) -> None:
    """Feed a reader; a broken file ends it where it breaks."""
    depth = 0
    text: list[str] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        text.clear()
        if depth > MAX_DEPTH:
            raise Enough
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
    with suppress(expat.ExpatError, Enough, ValueError, LookupError):
        parser.Parse(body, True)
