"""Rich Text Format: words, links and properties.

Pure: bytes in, a reading out. Source: RTF Specification 1.9.1. A token is a run of text, a control word or a brace, so
text costs little; a picture in hexadecimal is one token. Nothing is matched twice. striprtf 0.0.35, a judge in tests,
needs more than a minute for some files of 8 kB.
"""

import re
from typing import NamedTuple

from crawl.content.charsets import decode, known_charset
from crawl.office.flow import Flow
from crawl.office.reading import OfficeReading

MAX_TOKENS = 1_000_000  # 2 us each
_TOKEN = re.compile(
    rb"\\([A-Za-z]{1,32})(-?[0-9]{1,9})?[ ]?|\\'([0-9A-Fa-f]{2})|\\([^A-Za-z])|([{}])|[\r\n]+|([^\\{}\r\n]+)", re.DOTALL
)
_CHARSETS = {  # of fonts (\fcharset): code pages
    0: 1252,
    128: 932,
    129: 949,
    134: 936,
    136: 950,
    161: 1253,
    162: 1254,
    163: 1258,
    177: 1255,
    178: 1256,
    186: 1257,
    204: 1251,
    222: 874,
    238: 1250,
}
_NAMES = {932: "shift_jis", 936: "gb18030", 949: "euc-kr", 950: "big5", 65001: "utf-8", 10000: "macintosh"}
_LEFT_OUT = frozenset(  # destinations without the document's words
    b"colortbl pict object objdata themedata listtable listoverridetable revtbl rsidtbl generator filetbl private "
    b"header headerl headerr headerf footer footerl footerr footerf xe tc bkmkstart bkmkend datafield fldtype "
    b"latentstyles datastore xmlnstbl pgptbl listtext pntext nonshppict template atnid atnauthor annotation "
    b"keywords category company manager operator hlinkbase comment doccomm".split()
)
_PROPERTIES = {  # groups of the information group, as `OfficeReading.take_property` names them
    b"title": "title",
    b"author": "author",
    b"subject": "subject",
    b"creatim": "created",
    b"revtim": "modified",
}
_PARTS = (b"yr", b"mo", b"dy", b"hr", b"min")  # of an instant
_SIGNS = {
    b"emdash": "—",
    b"endash": "–",
    b"lquote": "‘",
    b"rquote": "’",
    b"ldblquote": "“",
    b"rdblquote": "”",
    b"bullet": "•",
    b"tab": " ",
    b"line": " ",
    b"emspace": " ",
    b"enspace": " ",
    b"~": " ",
    b"_": "-",
    b"{": "{",
    b"}": "}",
    b"\\": "\\",
}
_HEADING = re.compile(r"heading ?[1-9]|title", re.IGNORECASE)
_CONTROLS = dict.fromkeys(range(32), " ")  # no text, though a number may name them
_NO_TEXT = 9  # the outline level of text
_MAX_HELD_CHARS = 4_096  # of a property or an instruction
_LINK_FIELD = re.compile(r"\s*HYPERLINK\s+\"?([^\s\"\\][^\s\"]*)")


class _Group(NamedTuple):
    """The state that a group inherits and may change."""

    into: str = "text"  # the use of its words: "text", "" for none, a table of the head, or a property
    code_page: int = 0  # of its font, 0: the document's
    skip: int = 1  # bytes that stand for a character given by its number
    is_hidden: bool = False
    is_link: bool = False  # its end is that of a link


def read_rtf(body: bytes, reading: OfficeReading) -> None:
    """Read a file; what is broken in it costs itself."""
    _RichText(reading).read(body)


class _RichText:
    def __init__(self, reading: OfficeReading) -> None:
        self._reading, self._flow = reading, Flow(reading)
        self._group, self._outer = _Group(), list[_Group]()
        self._code_page, self._fonts, self._number = 1252, dict[int, int](), 0  # of the font or style that is described
        self._bytes, self._left, self._high = bytearray(), 0, 0  # not decoded, to be skipped, half a character
        self._held, self._href, self._instant = "", "", dict[bytes, int]()
        self._heading_styles: set[int] = set()
        self._is_heading = self._is_starred = self._is_row = False

    def read(self, body: bytes) -> None:
        """Read the tokens of a file until its outermost group ends, or the page has enough text."""
        self._flow.begin_paragraph()
        at = count = 0
        while at < len(body) and (found := _TOKEN.match(body, at)) and count < MAX_TOKENS and not self._reading.is_full:
            at, count = found.end(), count + 1
            word, number, code, sign, brace, text = found.groups()
            if code or text:
                self._take(bytes.fromhex(code.decode()) if code else text)
                continue
            self._decode()
            if word == b"bin":
                at += max(0, int(number or 0))
            elif word or sign:
                self._control(word or sign, int(number) if number else None)
            elif brace == b"{":
                self._outer.append(self._group)
            elif brace:
                self._end_group()
                if not self._outer:
                    break
        self._decode()
        self._end_paragraph()

    def _take(self, text: bytes) -> None:
        skipped = min(self._left, len(text))
        self._left -= skipped
        self._bytes += text[skipped:]

    def _decode(self) -> None:
        """Put the bytes before a control word into characters: a letter may take several of them."""
        self._left = 0
        if self._bytes:
            page = self._group.code_page or self._code_page
            charset = known_charset(_NAMES.get(page, f"windows-{page}")) or "windows-1252"
            self._say(decode(bytes(self._bytes), charset))
            self._bytes.clear()

    def _say(self, text: str) -> None:
        text = text.translate(_CONTROLS)
        if self._group.is_hidden or not self._group.into:
            return
        if self._group.into == "text":
            self._flow.say(text)
        elif len(self._held) < _MAX_HELD_CHARS:
            self._held += text

    def _control(self, word: bytes, number: int | None) -> None:
        into = self._group.into
        is_starred, self._is_starred = self._is_starred, word == b"*"
        if word == b"u":
            self._character((number or 0) & 0xFFFF)
        elif word in _LEFT_OUT or (is_starred and word != b"fldinst"):
            self._into("")
        elif into == "info" and word in _PROPERTIES:
            self._into(_PROPERTIES[word])
        elif word in (b"info", b"fonttbl", b"stylesheet"):
            self._into(word.decode())
        elif into == "fonttbl" and word == b"fcharset":
            self._fonts[self._number] = _CHARSETS.get(number or 0, 0)
        elif (into, word) in (("fonttbl", b"f"), ("stylesheet", b"s")):
            self._number = number or 0
        elif word in _PARTS and into in ("created", "modified"):
            self._instant[word] = number or 0
        elif into == "text" or word == b"uc":
            self._format(word, number)
            self._structure(word, number)
        if word in _SIGNS:
            self._say(_SIGNS[word])

    def _into(self, into: str) -> None:
        self._group, self._held = self._group._replace(into=into), ""

    def _character(self, unit: int) -> None:
        """Say a unit of UTF-16; what stands for it in a code page follows, and is skipped."""
        if 0xD800 <= unit < 0xDC00:
            self._high = unit
        elif 0xDC00 <= unit < 0xE000:
            self._say(chr(0x10000 + ((self._high - 0xD800) << 10) + unit - 0xDC00) if self._high else "")
            self._high = 0
        else:
            self._say(chr(unit))
        self._left = self._group.skip

    def _format(self, word: bytes, number: int | None) -> None:
        """Obey a word that changes how the text after it is read."""
        if word == b"uc":
            self._group = self._group._replace(skip=min(number or 0, 16))
        elif word == b"f":
            self._group = self._group._replace(code_page=self._fonts.get(number or 0, 0))
        elif word in (b"v", b"deleted", b"plain"):
            self._group = self._group._replace(is_hidden=word != b"plain" and number != 0)
        elif word == b"ansicpg":
            self._code_page = number or self._code_page
        elif word == b"mac":
            self._code_page = 10000
        elif word == b"pard":
            self._is_heading = False
        elif word in (b"s", b"outlinelevel"):
            value = _NO_TEXT if number is None else number
            self._is_heading |= value in self._heading_styles if word == b"s" else value < _NO_TEXT

    def _structure(self, word: bytes, number: int | None) -> None:
        """Obey a word that ends a paragraph, makes a table, or a link."""
        if word in (b"par", b"sect", b"page", b"cell", b"nestcell", b"\n", b"\r"):
            self._end_paragraph()
            self._flow.begin_paragraph()
        elif word == b"trowd" and not self._is_row:
            self._is_row = True
            self._flow.begin_row()
        elif word == b"row":
            self._is_row = False
            self._flow.end_row()
        elif word == b"field":
            self._href = ""
        elif word == b"fldinst":
            self._into("instruction")
        elif word == b"fldrslt":
            self._group = self._group._replace(is_link=True)
            self._flow.begin_link(self._href)

    def _end_paragraph(self) -> None:
        if self._is_heading:
            self._flow.mark_heading()
        self._flow.end_paragraph()

    def _end_group(self) -> None:
        ended, self._group = self._group, self._outer.pop() if self._outer else _Group()
        if ended.is_link and not self._group.is_link:
            self._flow.end_link()
        if ended.into == "stylesheet":
            if _HEADING.match(self._held.strip()):
                self._heading_styles.add(self._number)
            self._held = ""
        elif ended.into == self._group.into:
            return
        elif ended.into == "instruction":
            found = _LINK_FIELD.match(self._held)
            self._href = found[1] if found else ""
        elif ended.into in ("created", "modified"):
            year, month, day, hour, minute = (self._instant.get(part, 0) for part in _PARTS)
            self._reading.take_property(ended.into, f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}")
            self._instant.clear()
        elif ended.into in _PROPERTIES.values():
            self._reading.take_property(ended.into, self._held)
