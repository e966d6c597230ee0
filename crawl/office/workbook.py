"""Workbooks of Office Open XML (xlsx): the cells of each sheet by rows.

Pure: a package in, a reading out. Source: ECMA-376 part 1, 18 (SpreadsheetML). Cells are read as they come, so a sheet
costs what it holds, not what it spans. Libraries that lay out a whole grid (python-calamine, 0.9.1) end the process
at a file of 5 kB with two far cells. Numbers whose format is a date are written as dates.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from crawl.office.package import End, Package, Start
from crawl.office.reading import OfficeReading

MAX_STRINGS = 300_000  # elements of shared strings that are read, two a string; they are in the order of their use
MAX_CELL_CHARS = 32_767  # Excel's own limit
_DATES = frozenset((*range(14, 23), *range(27, 37), 45, 47, *range(50, 59)))  # built-in formats, 18.8.30
_NO_DATE = re.compile(r"\"[^\"]*\"|\\.|\[[^\]]*\]|General", re.IGNORECASE)  # in a format: words, colours, conditions
_DATE = re.compile(r"[dmyhs]", re.IGNORECASE)
_SPAN = re.compile(r"\[[hms]", re.IGNORECASE)  # hours, minutes or seconds beyond a day
_EPOCH, _EPOCH_1904 = datetime(1899, 12, 30), datetime(1904, 1, 1)


def read_workbook(package: Package, part: str, reading: OfficeReading) -> None:
    """Read the sheets in their order, each under its name; hidden ones are left out."""
    relations = package.relations(part)
    named = {each.kind: each.target for each in relations.values()}
    epoch, sheets = _EPOCH, list[Mapping[str, str]]()
    for event in package.events(part):
        if isinstance(event, Start) and event.name == "workbookPr":
            epoch = _EPOCH_1904 if event.attributes.get("date1904") in ("1", "true") else _EPOCH
        elif isinstance(event, Start) and event.name == "sheet":
            sheets.append(event.attributes)
    formats = _Formats(_strings(package, named.get("sharedStrings", "")), _date_styles(package, named), epoch)
    for sheet in sheets:
        found = relations.get(sheet.get("r:id", ""))
        if found and sheet.get("state", "visible") == "visible":
            reading.take_sheet_name(sheet.get("name", ""))
            _read_sheet(package, found.target, formats, reading)


@dataclass(frozen=True, slots=True)
class _Formats:
    """The parts of a workbook to which cells of all sheets refer."""

    strings: list[str]
    date_styles: frozenset[str]  # numbers of cell formats
    epoch: datetime

    def text_of(self, cell: Mapping[str, str], value: str) -> str:
        """Return what a cell shows, nearly: numbers are not rounded, and errors left out."""
        kind = cell.get("t", "n")
        if kind == "s":
            return self.strings[int(value)] if value.isdecimal() and int(value[:9]) < len(self.strings) else ""
        if kind in ("b", "e"):
            return {"1": "TRUE", "0": "FALSE"}.get(value, "") if kind == "b" else ""
        return self._number(value, cell.get("s", "")) if kind == "n" else value

    def _number(self, value: str, style: str) -> str:
        try:
            number = float(value)
            if style not in self.date_styles:
                return f"{number:.15g}"
            at = self.epoch + timedelta(days=number)
        except (ValueError, OverflowError):
            return value
        if number < 1:
            return f"{at:%H:%M}"
        return f"{at:%Y-%m-%d}" if number == int(number) else f"{at:%Y-%m-%d %H:%M}"


def _read_sheet(package: Package, part: str, formats: _Formats, reading: OfficeReading) -> None:
    """Read the rows of a sheet, then its links."""
    texts: dict[str, str] = {}  # by cell, for the links, which come last
    links: list[Mapping[str, str]] = []
    cell: Mapping[str, str] = {}
    row, held, value, is_value = list[str](), 0, "", False
    for event in package.events(part):
        if isinstance(event, str):
            value += event if is_value and len(value) < MAX_CELL_CHARS else ""
        elif event.name in ("v", "t"):
            is_value = isinstance(event, Start)
        elif isinstance(event, Start):
            if event.name == "c":
                cell, value = event.attributes, ""
            elif event.name == "hyperlink":
                links.append(event.attributes)
        elif event.name == "c" and value and held <= reading.room:
            text = texts[cell.get("r", "")] = formats.text_of(cell, value)
            row.append(text)
            held += len(text)
        elif event.name == "row":
            reading.take_line(" ".join(row))
            row, held = [], 0
            if reading.is_full:
                return
    relations = package.relations(part) if links else {}
    for link in links:
        if (found := relations.get(link.get("r:id", ""))) and found.is_external:
            reading.take_link(found.target, texts.get(link.get("ref", "").partition(":")[0]) or link.get("display", ""))


def _strings(package: Package, part: str) -> list[str]:
    """Return the shared strings, without their readings in kana."""
    found, pieces, is_text, phonetic = list[str](), list[str](), False, False
    for event in package.events(part, MAX_STRINGS):
        if isinstance(event, str):
            if is_text and not phonetic:
                pieces.append(event)
        elif event.name == "t":
            is_text = isinstance(event, Start)
        elif event.name == "rPh":
            phonetic = isinstance(event, Start)
        elif event.name == "si" and isinstance(event, End):
            found.append("".join(pieces)[:MAX_CELL_CHARS])
            pieces = []
    return found


def _date_styles(package: Package, named: Mapping[str, str]) -> frozenset[str]:
    """Return the numbers of the cell formats that show dates or times."""
    formats = {str(number) for number in _DATES}
    found, place, is_cells = set(), 0, False
    for event in package.events(named.get("styles", "")):
        if isinstance(event, str):
            continue
        if event.name == "cellXfs":
            is_cells = isinstance(event, Start)
        elif isinstance(event, Start) and event.name == "numFmt":
            code = event.attributes.get("formatCode", "")
            if _DATE.search(_NO_DATE.sub("", code)) and not _SPAN.search(code):
                formats.add(event.attributes.get("numFmtId", ""))
        elif isinstance(event, Start) and event.name == "xf" and is_cells:
            if event.attributes.get("numFmtId") in formats:
                found.add(str(place))
            place += 1
    return frozenset(found)
