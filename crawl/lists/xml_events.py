"""XML that strangers wrote, event by event, within bounds.

Pure: bytes in, events out. A document type declaration is passed over: nothing that it names is read, and no entity
that it declares is expanded. A text with such an entity is lost. A document of HTML is no list. Names come without
their namespaces. Of a file that is not well-formed, or nested deeper than any list needs, the entries are read as far
as each can be told. Its text is decoded and mended where a parser could only guess (a stray "&" or "<", HTML
entities, control characters). Then it is cut before entries, and lxml's recovering parser reads it piece by piece. So
an entry that is left open does not swallow all others, and no tree is large.
"""

import re
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from functools import partial
from html import escape
from html.entities import html5
from typing import TYPE_CHECKING, TypeVar
from xml.parsers import expat

if TYPE_CHECKING:
    from lxml import etree

from crawl.content.decode import decode_text

PIECE_CHARS = 16_384  # some hundred entries: each that is left open nests the next, and the parser bears a depth of 256
ROOT = "piece"
_ROOTS = f"<{ROOT}>" * 32  # each end tag closes what is open, be it another's: so many too many do not end a piece
MAX_PIECE_CHARS = 1_048_576  # of one entry; a tree takes thirty times as much memory as its text
ENTRY = re.compile(r"<(?:[A-Za-z][\w.-]*:)?(?:url|sitemap|item|entry)(?=[\s/>])", re.IGNORECASE)
_DOCTYPE = re.compile(  # the name, and what is declared in the document itself
    r"<!doctype\s++([^\s\[<>]*+)(?:[^\[<>\"']++|\"[^\"]*+\"|'[^']*+')*+(?:\[(.*?)\]\s*+)?>", re.IGNORECASE | re.DOTALL
)
_DECLARED = re.compile(r"<!ENTITY\s++([^\s%]++)")
_NAMED = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos);)[A-Za-z]")
XML_BASE = "http://www.w3.org/XML/1998/namespace base"
_BASE = re.compile(r"<(?![^<>]*/>)[^<>]*\sxml:base\s*=\s*([\"'][^\"'<>]*[\"'])")
_LOST = "\U0010fffd"  # for private use: stands for an entity whose text is not known
_NO_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_INSTRUCTION = re.compile(r"<\?[^<>]*>")  # an XML declaration is one; its charset has served
_STRAY = re.compile(r"&(?:(?:#([0-9]{1,7})|#[xX]([0-9a-fA-F]{1,6})|([A-Za-z_][\w.-]{0,31}));)?|<(?![A-Za-z_/!])")


def broken_pieces(body: bytes) -> "Iterator[etree._Element]":
    """Yield trees that hold a body's elements in order, below elements called ROOT; none if it is HTML."""
    text, declared = without_doctype(decode_text(body)[0])
    text = _mended(text, declared)
    text = text[: text.rfind(">") + 1]  # an address that is cut off is another address
    starts = [match.start() for match in ENTRY.finditer(text)]
    if not starts:
        return
    base = _BASE.search(text, 0, starts[0])
    outer = f"{_ROOTS}<{ROOT} xml:base={base[1]}>" if base else _ROOTS
    from lxml import etree  # 1 MB, for what expat does not read

    parser = etree.XMLParser(
        recover=True, resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True
    )
    for begin, end in _cuts(starts, len(text)):
        piece = text[begin : min(end, begin + MAX_PIECE_CHARS)]
        root = etree.fromstring(f"{outer}{piece}".encode(), parser)
        if root is not None:
            yield root


def without_doctype(text: str) -> tuple[str, frozenset[str]]:
    """Return a list's text without its document type, and the names of entities that this declares; "" for HTML."""
    first = ENTRY.search(text)
    start = text.lower().find("<!doctype", 0, first.start()) if first else -1
    if start < 0:
        return text, frozenset()
    doctype = _DOCTYPE.match(text, start)
    if doctype is None or doctype[1].lower() == "html":
        return "", frozenset()
    return text[:start] + text[doctype.end() :], frozenset(_DECLARED.findall(doctype[2] or ""))


def _cuts(starts: list[int], end: int) -> Iterator[tuple[int, int]]:
    """Where pieces begin and end: what is before the first entry, then whole entries."""
    begin = max(0, starts[0] - MAX_PIECE_CHARS)
    yield begin, starts[0]
    begin = starts[0]
    for start in starts:
        if start - begin >= PIECE_CHARS:
            yield begin, start
            begin = start
    yield begin, end


def _mended(text: str, declared: Collection[str]) -> str:
    """The text without comments and CDATA sections, in which every "&" and "<" is meant. `declared`: entities."""
    first, *others = _NO_XML.sub("", text).split("<![CDATA[")
    pieces = [first]
    for other in others:
        verbatim, end, rest = other.partition("]]>")
        pieces += (escape(verbatim), rest) if end else (other,)
    first, *others = "".join(pieces).split("<!--")
    text = first + "".join(other.partition("-->")[2] for other in others)
    return _STRAY.sub(partial(_meant, declared), _INSTRUCTION.sub("", text))


def _meant(declared: Collection[str], found: re.Match[str]) -> str:
    whole, decimal, hexadecimal, name = found.group(0, 1, 2, 3)
    if decimal or hexadecimal:
        number = int(decimal or hexadecimal, 10 if decimal else 16)
        return escape(_NO_XML.sub("", chr(number))) if number < 0x110000 else ""
    if name and (meant := html5.get(f"{name};")):
        return escape(meant)
    return _LOST if name in declared else escape(whole)


MAX_DEPTH = 256  # a feed has 5, and its entries may hold pages
_MAX_PIECES = 64


class Enough(Exception):
    """Raised by a reader to end the reading; never leaves `read_xml`."""


class EntryReader:
    """Takes the events of a list, entry by entry: elements with one of the names `entries`, and what stands in them.

    An entry that was left open ends where the next one begins, in a broken list whatever else is open. `limit`: entries
    that are taken."""

    entries: tuple[str, ...]

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.is_broken = False  # what is read is not well-formed, or holds none of the entries that are looked for
        self._inside = 0  # elements that are open within an entry, with itself

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Note that an element begins."""
        if self._inside and (tag not in self.entries or (self._inside > 1 and not self.is_broken)):
            self._inside += 1
            if self._inside == 2:
                self._start_inside(tag, attributes)
        elif tag in self.entries:
            if self._inside:
                self._take()
            self._inside = 1
            self._begin(tag)

    def end(self, tag: str, text: str) -> None:
        """Note that one ends. `text`: what stands between its beginning or its last child's end and here, bounded."""
        if self._inside == 2:
            self._end_inside(tag, text.strip())
        elif self._inside == 1:
            self._take()
        self._inside = max(0, self._inside - 1)

    def _begin(self, tag: str) -> None:
        """Begin an entry."""

    def _start_inside(self, tag: str, attributes: dict[str, str]) -> None:
        """Begin an element that stands in an entry."""

    def _end_inside(self, tag: str, text: str) -> None:
        """End an element that stands in an entry."""

    def _take(self) -> None:
        """End an entry; raises Enough after the last that is wanted."""


AnyReader = TypeVar("AnyReader", bound=EntryReader)


def read_xml(body: bytes, begin: Callable[[], AnyReader]) -> AnyReader:
    """Feed a reader and return it. `begin` makes one, and another one where a broken body is read once more."""
    reader = begin()
    if not _is_well_formed(body, reader):
        reader = begin()
        reader.is_broken = True
        with suppress(Enough):
            for root in broken_pieces(body):
                _walk(root, reader)
    return reader


def _is_well_formed(body: bytes, reader: EntryReader) -> bool:
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

    def doctype(name: str, *_: object) -> None:
        if name.lower() == "html":
            raise Enough
        if _NAMED.search(body):
            raise ValueError("entities")

    def entity(name: str, is_parameter: int, *_: object) -> None:
        if not is_parameter:
            raise ValueError("entities")

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = add
    parser.StartDoctypeDeclHandler = doctype
    parser.EntityDeclHandler = entity
    try:
        parser.Parse(body, True)
    except Enough:
        return True
    except (expat.ExpatError, ValueError, LookupError):
        return False
    return True


def _walk(root: "etree._Element", reader: EntryReader) -> None:
    """Feed a reader with the elements of a piece."""
    from lxml import etree

    for event, node in etree.iterwalk(root, events=("start", "end")):
        tag = node.tag.rpartition("}")[2].rpartition(":")[2]
        if tag == ROOT and not node.attrib:
            continue
        if event == "start":
            attributes = {name.lstrip("{").replace("}", " "): value for name, value in node.attrib.items()}
            reader.start(tag, {name: value for name, value in attributes.items() if _LOST not in value})
        else:
            text = (node[-1].tail if len(node) else node.text) or ""
            reader.end(tag, "" if _LOST in text else text)
