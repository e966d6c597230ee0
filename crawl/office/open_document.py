"""Texts, sheets and presentations of OpenDocument (odt, ods, odp).

Pure: a package in, a reading out. Source: OpenDocument 1.3 part 3. All three have the same elements for text. Rows and
cells that are said to be repeated are read once. Deleted text, comments and the shapes that each slide repeats are
left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from crawl.office.flow import Flow
from crawl.office.package import Package, Start
from crawl.office.reading import NotRead, OfficeReading

CONTENT, META, MANIFEST = "content.xml", "meta.xml", "META-INF/manifest.xml"
_LEFT_OUT = frozenset(("tracked-changes", "annotation", "note-citation", "ruby-text"))
_SPACES = frozenset(("s", "tab", "line-break"))
_FURNITURE = frozenset(("header", "footer", "date-time", "page-number"))
_MACROS = ("basic/", "scripts/")


def read_open_document(package: Package, reading: OfficeReading) -> None:
    """Read a document's properties and its text in order; raises NotRead."""
    if any(isinstance(each, Start) and each.name == "encryption-data" for each in package.events(MANIFEST)):
        raise NotRead("it needs a password")
    if any(name.startswith(_MACROS) and not name.endswith("/") for name in package.names):
        raise NotRead("it has macros")
    for name, text, _ in package.values(META):
        if name == "date":
            reading.take_property("modified", text)
        else:
            reading.take_property(name, text)
    _read_content(package, reading)


def _read_content(package: Package, reading: OfficeReading) -> None:
    flow, left_out, context = Flow(reading), 0, _Context()
    for event in package.events(CONTENT):
        if reading.is_full:
            return
        if isinstance(event, str):
            if not left_out:
                flow.say(event)
        elif not isinstance(event, Start):
            if left_out:
                left_out -= 1
            else:
                _end(flow, event.name)
        elif left_out or _is_left_out(event, context):
            left_out += 1
        else:
            _start(flow, event.name, event.attributes, context)


def _is_left_out(begun: Start, context: "_Context") -> bool:
    if begun.name == "table" and begun.attributes.get("style-name") in context.hidden:
        return True
    return begun.name in _LEFT_OUT or begun.attributes.get("class") in _FURNITURE


@dataclass(slots=True)
class _Context:
    """Facts that decide how the following elements are read."""

    titles: set[str] = field(default_factory=lambda: {"Title"})  # styles
    style: str = ""  # the one that is described
    hidden: set[str] = field(default_factory=set)  # styles of sheets
    is_spreadsheet: bool = False
    is_title: bool = False  # the frame


def _start(flow: Flow, name: str, said: Mapping[str, str], context: _Context) -> None:
    if name in ("p", "h"):
        is_heading = name == "h" or context.is_title or said.get("style-name") in context.titles
        flow.begin_paragraph(is_heading=is_heading)
    elif name == "table-row":
        flow.begin_row()
    elif name == "table" and context.is_spreadsheet:
        flow.reading.take_sheet_name(said.get("name", ""))
    elif name == "a":
        flow.begin_link(said.get("href", ""))
    elif name in _SPACES:
        flow.say(" ")
    elif name == "frame":
        context.is_title = said.get("class") == "title"
    elif name == "spreadsheet":
        context.is_spreadsheet = True
    elif name == "style":
        context.style = said.get("name", "")
        if said.get("parent-style-name") == "Title":
            context.titles.add(context.style)
    elif name == "table-properties" and said.get("display") == "false":
        context.hidden.add(context.style)


def _end(flow: Flow, name: str) -> None:
    if name in ("p", "h"):
        flow.end_paragraph()
    elif name == "table-row":
        flow.end_row()
    elif name == "a":
        flow.end_link()
