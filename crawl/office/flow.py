"""Paragraphs, rows of tables and links, put together from the pieces of text between their begin and end.

Pure: the dialects of XML and RTF drive it, and lines and links go into an OfficeReading. A row of a table is one line.
"""

from crawl.content.raw_html import MAX_ANCHOR_CHARS
from crawl.office.reading import OfficeReading


class Flow:
    """The paragraphs, rows and links that are open. A paragraph may stand in another one (a text box, a footnote)."""

    def __init__(self, reading: OfficeReading) -> None:
        self.reading = reading
        self._paragraphs: list[list[str]] = []
        self._headings: list[bool] = []  # of each open paragraph
        self._rows: list[list[str]] = []  # the paragraphs of each open row
        self._links: list[tuple[str, list[str]]] = []
        self._held = 0  # characters since the last line: no more than the page may have

    def say(self, text: str) -> None:
        """Take text of the paragraph that is open; outside of one it is none."""
        if not self._paragraphs or self._held > self.reading.room:
            return
        self._held += len(text)
        self._paragraphs[-1].append(text)
        for _, words in self._links[-1:]:
            if len(words) < MAX_ANCHOR_CHARS:
                words.append(text)

    def begin_paragraph(self, *, is_heading: bool = False) -> None:
        """Begin a paragraph inside the one that is open, if any."""
        self._paragraphs.append([])
        self._headings.append(is_heading)

    def mark_heading(self) -> None:
        """Make the open paragraph a heading."""
        if self._headings:
            self._headings[-1] = True

    def end_paragraph(self) -> None:
        """End the innermost paragraph: it becomes a line, or a part of the row that is open."""
        if not self._paragraphs:
            return
        text, is_heading = "".join(self._paragraphs.pop()), self._headings.pop()
        if self._rows:
            self._rows[-1].append(text)
        else:
            self._end_line(text, is_heading=is_heading)

    def begin_row(self) -> None:
        """Begin a row of a table, which may stand in a cell of another."""
        self._rows.append([])

    def end_row(self) -> None:
        """End the innermost row: it becomes a line."""
        if self._rows:
            self._end_line(" ".join(self._rows.pop()), is_heading=False)

    def begin_link(self, href: str) -> None:
        """Begin a link; what is said until its end are its words."""
        self._links.append((href, []))

    def end_link(self) -> None:
        """End the innermost link."""
        if self._links:
            href, words = self._links.pop()
            self.reading.take_link(href, "".join(words))

    def _end_line(self, text: str, *, is_heading: bool) -> None:
        self.reading.take_line(text, is_heading=is_heading)
        self._held = sum(len(piece) for row in self._rows for piece in row) if self._rows else 0
