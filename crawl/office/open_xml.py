"""Word documents and presentations of Office Open XML (docx, pptx).

Pure: a package in, a reading out. Source: ECMA-376 part 1, 17 (WordprocessingML), 19 and 21 (PresentationML,
DrawingML). Their paragraphs, runs and tables have the same local names, so one reader serves both. Parts are found by
relations, each read once, so relations in a circle lead nowhere. Deleted, moved and hidden text is left out.
"""

import re
from collections.abc import Collection, Iterable, Mapping

from crawl.office.flow import Flow
from crawl.office.package import End, Event, Package, Relation, Start
from crawl.office.reading import OfficeReading

CORE_PROPERTIES = "docProps/core.xml"
_HEADING = re.compile(r"heading ?[1-9]|title", re.IGNORECASE)  # built-in names, English in every language of Word
_LINK_FIELD = re.compile(r"\s*HYPERLINK\s+\"?([^\s\"\\][^\s\"]*)")  # not one to a bookmark: \l
_LEFT_OUT = frozenset(("Fallback", "moveFrom"))  # the same again for old programs; what stands elsewhere now
_TITLES = frozenset(("title", "ctrTitle"))
_FURNITURE = frozenset(("sldNum", "dt", "ftr", "hdr", "sldImg"))  # placeholders that are the same on each slide
_OFF = frozenset(("0", "false", "off"))
_NO_TEXT = 9  # the outline level of text


def main_part(package: Package) -> str:
    """Return the name of the part that a package is about, "" where it names none."""
    return next((each.target for each in package.relations("").values() if each.kind == "officeDocument"), "")


def read_properties(package: Package, reading: OfficeReading) -> None:
    """Read title, author, dates and language of a package."""
    named = (each.target for each in package.relations("").values() if each.kind == "core-properties")
    for name, text, _ in package.values(next(named, CORE_PROPERTIES)):
        reading.take_property(name, text)


def read_word(package: Package, part: str, reading: OfficeReading) -> None:
    """Read a document, then its footnotes and endnotes."""
    relations = package.relations(part)
    named = {each.kind: each.target for each in relations.values()}
    headings = _heading_styles(package, named.get("styles", ""))
    _Text(reading, relations, headings).read(package.events(part))
    for kind in ("footnotes", "endnotes"):
        if name := named.get(kind):
            _Text(reading, package.relations(name), headings).read(package.events(name))


def read_slides(package: Package, part: str, reading: OfficeReading) -> None:
    """Read the slides in their order, each with its diagrams and notes; hidden ones are left out."""
    relations = package.relations(part)
    ids = [
        each.attributes.get("r:id") for each in package.events(part) if isinstance(each, Start) and each.name == "sldId"
    ]
    for slide in dict.fromkeys(relations[each].target for each in ids if each in relations):
        if reading.is_full:
            return
        around = package.relations(slide)
        _Text(reading, around).read(package.events(slide))
        for kind, name in {each.kind: each.target for each in around.values()}.items():
            if kind in ("diagramData", "notesSlide"):
                _Text(reading, package.relations(name), is_notes=kind == "notesSlide").read(package.events(name))


def _heading_styles(package: Package, part: str) -> frozenset[str]:
    """Return the ids of paragraph styles that are headings, by their names or their outline levels."""
    found, style = set(), ""
    for event in package.events(part):
        if not isinstance(event, Start):
            continue
        value = event.attributes.get("val", "")
        if event.name == "style":
            style = event.attributes.get("styleId", "")
        elif (event.name == "name" and _HEADING.fullmatch(value)) or (event.name == "outlineLvl" and _is_level(value)):
            found.add(style)
    return frozenset(found)


def _is_level(value: str) -> bool:
    return value.isascii() and value.isdigit() and int(value[:3]) < _NO_TEXT


class _Text:
    """Reads one part that holds text."""

    def __init__(
        self,
        reading: OfficeReading,
        relations: Mapping[str, Relation],
        headings: Collection[str] = (),
        *,
        is_notes: bool = False,
    ) -> None:
        self._flow, self._relations, self._headings = Flow(reading), relations, headings
        self._is_notes = is_notes
        self._left_out = 0  # depth of elements that are left out
        self._reads = ""  # "t" or "instrText", where text counts
        self._is_muted = False  # a shape that is not read
        self._is_hidden = False  # a run that is not shown
        self._in_run = self._has_run_link = False
        self._shape = ""  # the type of its placeholder
        self._fields: list[list[str]] = []  # instruction, and "link" where it is one

    def read(self, events: Iterable[Event]) -> None:
        """Read the part until its end, or until the page has enough text."""
        for event in events:
            if self._flow.reading.is_full:
                return
            if isinstance(event, str):
                self._say(event)
            elif isinstance(event, End):
                self._end(event.name)
            elif self._left_out or event.name in _LEFT_OUT:
                self._left_out += 1
            elif event.attributes.get("show") in _OFF and event.name == "sld":
                return
            else:
                self._start(event.name, event.attributes)

    def _say(self, text: str) -> None:
        if self._left_out or self._is_muted or self._is_hidden:
            return
        if self._reads == "t":
            self._flow.say(text)
        elif self._reads and self._fields:
            self._fields[-1][0] += text[:2_000]

    def _start(self, name: str, said: Mapping[str, str]) -> None:
        match name:
            case "t" | "instrText":
                self._reads = name
            case "p":
                self._flow.begin_paragraph()
                if self._shape in _TITLES:
                    self._flow.mark_heading()
            case "r":
                self._in_run = True
            case "tab" | "br" | "cr":
                self._flow.say(" ")
            case "noBreakHyphen":
                self._flow.say("-")
            case "tr":
                self._flow.begin_row()
            case "pStyle" | "outlineLvl":
                value = said.get("val", "")
                if value in self._headings if name == "pStyle" else _is_level(value):
                    self._flow.mark_heading()
            case "vanish":
                self._is_hidden = self._in_run and said.get("val") not in _OFF
            case "hyperlink" | "hlinkClick":
                self._begin_link(name, said.get("r:id", ""))
            case "fldChar":
                self._field(said.get("fldCharType", ""))
            case "fldSimple":
                found = _LINK_FIELD.match(said.get("instr", ""))
                self._flow.begin_link(found[1] if found else "")
            case "sp" | "graphicFrame":
                self._shape, self._is_muted = "", self._is_notes
            case "ph":
                self._shape = said.get("type", "")
                self._is_muted = self._shape in _FURNITURE or (self._is_notes and self._shape != "body")

    def _end(self, name: str) -> None:
        if self._left_out:
            self._left_out -= 1
            return
        match name:
            case "t" | "instrText":
                self._reads = ""
            case "p":
                self._flow.end_paragraph()
            case "tr":
                self._flow.end_row()
            case "hyperlink" | "fldSimple":
                self._flow.end_link()
            case "r":
                if self._has_run_link:
                    self._flow.end_link()
                self._in_run = self._is_hidden = self._has_run_link = False
            case "sp" | "graphicFrame":
                self._shape, self._is_muted = "", False

    def _begin_link(self, name: str, relation: str) -> None:
        """Begin a link: in Word an element around runs, in a slide a property of one run. A shape has no words."""
        found = self._relations.get(relation)
        href = found.target if found and found.is_external else ""
        if name == "hyperlink":
            self._flow.begin_link(href)
        elif self._in_run and not self._has_run_link:
            self._has_run_link = True
            self._flow.begin_link(href)
        elif not self._in_run:
            self._flow.reading.take_link(href, "")

    def _field(self, kind: str) -> None:
        """Read a mark of a field: it begins, its instruction ends and its result begins, or it ends."""
        if kind == "begin":
            self._fields.append(["", ""])
        elif kind == "separate" and self._fields:
            if found := _LINK_FIELD.match(self._fields[-1][0]):
                self._flow.begin_link(found[1])
                self._fields[-1][1] = "link"
        elif kind == "end" and self._fields and self._fields.pop()[1]:
            self._flow.end_link()
