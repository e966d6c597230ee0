"""The charset that a page declares of itself.

Pure: bytes in, a name out. Source: HTML Standard, 13.2.3.2 (prescan a byte stream to determine its encoding, get an
attribute, extract an encoding from a meta element) and 13.2.3.3 (a declaration found later still changes the encoding).
"""

import re
from collections.abc import Iterator

from crawl.content.charsets import known_charset

PRESCAN_BYTES = 16_384  # browsers look at 1,024 first, and believe what they meet later as well
_XML = re.compile(rb"""<\?xml\b[^>]*?encoding[\0-\x20]*=[\0-\x20]*(["'])([^"'>]*)\1""")
_NEXT = re.compile(rb"<(?:(!--)|(meta)[\t\n\f\r /]|/?[a-z][^\t\n\f\r >]*|[!/?])", re.IGNORECASE)
_SPACE = re.compile(rb"[\t\n\f\r /]*")
_NAME = re.compile(rb"[^\t\n\f\r />][^\t\n\f\r />=]*")
_EQUALS = re.compile(rb"[\t\n\f\r ]*=[\t\n\f\r ]*")
_BARE = re.compile(rb"[^\t\n\f\r >]*")
_CHARSET = re.compile(
    r"""charset[\t\n\f\r ]*=[\t\n\f\r ]*(?:"([^"]*)"|'([^']*)'|([^"'\t\n\f\r ;][^\t\n\f\r ;]*))""", re.I
)


class _End(Exception):
    """The bytes end within something; never leaves this file."""


def declared_charset(body: bytes) -> str:
    """Return the charset of the first declaration that counts, "" without one."""
    body = body[:PRESCAN_BYTES]
    for mark, charset in ((b"<\0?\0x\0", "utf-16-le"), (b"\0<\0?\0x", "utf-16-be")):
        if body.startswith(mark):
            return charset
    small = body.lower()
    if b"charset" not in small and b"encoding" not in small:  # most such pages: what follows costs 5 us a tag
        return ""
    try:
        found = next(_declared(body), "")
    except _End:
        found = ""
    if not found and (xml := _XML.match(body)):
        found = known_charset(xml[2].decode("latin-1"))
    return "utf-8" if found.startswith("utf-16") else found  # it was readable as ASCII, so it is not UTF-16


def _declared(body: bytes) -> Iterator[str]:
    at = 0
    while found := _NEXT.search(body, at):
        if found[1]:
            at = _find(body, b"-->", found.start() + 2) + 3  # "<!-->" is a whole comment
        elif found[2]:
            attributes, at = _attributes(body, found.end() - 1)
            if charset := _meant(attributes):
                yield charset
        elif found[0][-1:] in b"!/?":
            at = _find(body, b">", found.end()) + 1
        else:
            _, at = _attributes(body, found.end())


def _meant(attributes: dict[str, str]) -> str:
    """Return the charset that a meta element declares, "" where it declares none."""
    if "charset" in attributes:
        return known_charset(attributes["charset"])
    if attributes.get("http-equiv") != "content-type":
        return ""
    found = _CHARSET.search(attributes.get("content", ""))
    return known_charset(found[1] or found[2] or found[3] or "") if found else ""


def _attributes(body: bytes, at: int) -> tuple[dict[str, str], int]:
    """Read the attributes of a tag, each name once, all in lower case; return them and where the tag ends."""
    found: dict[str, str] = {}
    while True:
        at = _end(_SPACE, body, at)
        if body[at : at + 1] == b">":
            return found, at + 1
        begin, at = at, _end(_NAME, body, at)
        name, value = body[begin:at], b""
        if equals := _EQUALS.match(body, at):
            value, at = _value(body, equals.end())
        found.setdefault(name.decode("latin-1").lower(), value.decode("latin-1").lower())


def _value(body: bytes, at: int) -> tuple[bytes, int]:
    quote = body[at : at + 1]
    if quote in (b'"', b"'"):
        end = _find(body, quote, at + 1)
        return body[at + 1 : end], end + 1
    end = _end(_BARE, body, at)
    return body[at:end], end


def _end(pattern: re.Pattern[bytes], body: bytes, at: int) -> int:
    """Return where a match at this place ends, which must be before the bytes do."""
    found = pattern.match(body, at)
    if found is None or found.end() >= len(body):
        raise _End
    return found.end()


def _find(body: bytes, what: bytes, at: int) -> int:
    found = body.find(what, at)
    if found < 0:
        raise _End
    return found
