"""The value that the readers of documents fill: lines of text, headings, links and properties, within bounds.

Pure: values.
"""

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime

from crawl.content.dates import EARLIEST, LATEST
from crawl.content.raw_html import MAX_HEADING_CHARS, MAX_HEADINGS

_UNNAMED = re.compile(
    r"(?:Sheet|Tabelle|Feuil(?:le)?|Hoja|Foglio|Planilha|Plan|Folha|Blad|Ark|Arkusz|List|Munka|Taul(?:ukko)?|Sayfa|Лист|Аркуш|"
    r"Foaie|Φύλλο|シート|工作表|시트|גיליון|ورقة) ?\d{1,3}"
)
_PARTIAL = re.compile(r"\s*(\d{4})(?:-(\d\d))?(?:-(\d\d))?\s*")


class NotRead(Exception):
    """A document is refused. The message is the reason that the crawl reports."""


@dataclass(slots=True)
class OfficeReading:
    """The text, links and properties found in a document, in its order."""

    room: int  # characters that are still taken
    max_links: int
    title: str = ""
    author: str = ""
    language: str = ""
    description: str = ""
    published_at: float = 0.0  # Unix seconds, 0.0 unknown
    modified_at: float = 0.0
    lines: list[str] = field(default_factory=list)
    headings: list[str] = field(default_factory=list)
    links: list[tuple[str, str, str]] = field(default_factory=list)  # (href, anchor text, "")

    @property
    def is_full(self) -> bool:
        """Whether no more text is taken."""
        return self.room <= 0

    def take_line(self, text: str, *, is_heading: bool = False) -> None:
        """Take a paragraph, a row or a heading; white space is collapsed, and nothing is taken of an empty one."""
        line = " ".join(text.split())
        if not line or self.is_full:
            return
        self.lines.append(line[: self.room])
        self.room -= len(line) + 1
        if is_heading and len(self.headings) < MAX_HEADINGS:
            self.headings.append(line[:MAX_HEADING_CHARS])

    def take_sheet_name(self, name: str) -> None:
        """Take the name of a sheet as a heading; one that a program made says nothing."""
        if not _UNNAMED.fullmatch(name):
            self.take_line(name, is_heading=True)

    def take_link(self, href: str, text: str) -> None:
        """Take a link; its target may be anything that the document holds."""
        if href and len(self.links) < 4 * self.max_links:
            self.links.append((href, text, ""))

    def take_property(self, name: str, text: str) -> None:
        """Take a property by its name in Dublin Core, OpenDocument or RTF; of several values the first counts."""
        text = " ".join(text.split())
        if name == "title":
            self.title = self.title or text
        elif name in ("creator", "initial-creator", "author"):
            self.author = self.author or text
        elif name == "language":
            self.language = self.language or text
        elif name in ("description", "subject"):
            self.description = self.description or text
        elif name in ("created", "creation-date", "issued"):
            self.published_at = self.published_at or instant(text)
        elif name == "modified":
            self.modified_at = self.modified_at or instant(text)


def instant(text: str) -> float:
    """Return the Unix seconds of a date in W3CDTF, 0.0 where it is none; without a zone it is in UTC."""
    if partial := _PARTIAL.fullmatch(text):
        text = f"{partial[1]}-{partial[2] or '01'}-{partial[3] or '01'}"
    try:
        at = datetime.fromisoformat(text.strip())
        found = (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return 0.0
    return found if EARLIEST <= found <= LATEST else 0.0
