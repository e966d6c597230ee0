"""Which charset a page declares of itself, which one a label means, and the codec that reads it.

Pure: bytes and names in, names and text out. The labels are those of the WHATWG Encoding Standard, 4.2; a few that only
old servers and charset detectors use are added. Left out are those that the Standard replaces by nothing (ISO-2022-KR
and the like). Sources of declarations: HTML Standard, 13.2.3.2 (prescan a byte stream, get an attribute, extract an
encoding from a meta element). HTML Standard, 13.2.3.3 (a declaration found later still changes the encoding).
"""

import codecs
import re
from collections.abc import Iterator

_LABELS = {
    "utf-8": "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf8 x-unicode20utf8 utf-8-sig",
    "ibm866": "866 cp866 csibm866",
    "iso-8859-2": "csisolatin2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2",
    "iso-8859-3": "csisolatin3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3",
    "iso-8859-4": "csisolatin4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4",
    "iso-8859-5": "csisolatincyrillic cyrillic iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988",
    "iso-8859-6": "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6-e iso-8859-6-i "
    "iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987",
    "iso-8859-7": "csisolatingreek ecma-118 elot_928 greek greek8 iso-ir-126 iso8859-7 iso88597 iso_8859-7 "
    "iso_8859-7:1987 sun_eu_greek",
    "iso-8859-8": "csiso88598e csisolatinhebrew hebrew iso-8859-8-e iso-ir-138 iso8859-8 iso88598 iso_8859-8 "
    "iso_8859-8:1988 visual csiso88598i iso-8859-8-i logical",
    "iso-8859-10": "csisolatin6 iso-ir-157 iso8859-10 iso885910 l6 latin6",
    "iso-8859-13": "iso8859-13 iso885913",
    "iso-8859-14": "iso8859-14 iso885914",
    "iso-8859-15": "csisolatin9 iso8859-15 iso885915 iso_8859-15 l9",
    "iso-8859-16": "iso8859-16",
    "koi8-r": "cskoi8r koi koi8 koi8_r",
    "koi8-u": "koi8-ru",
    "macintosh": "csmacintosh mac x-mac-roman",
    "windows-874": "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 cp874",
    "windows-1250": "cp1250 x-cp1250",
    "windows-1251": "cp1251 x-cp1251",
    "windows-1252": "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 "
    "iso_8859-1 iso_8859-1:1987 l1 latin1 latin-1 us-ascii x-cp1252 x-user-defined",
    "windows-1253": "cp1253 x-cp1253",
    "windows-1254": "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 "
    "x-cp1254",
    "windows-1255": "cp1255 x-cp1255",
    "windows-1256": "cp1256 x-cp1256",
    "windows-1257": "cp1257 x-cp1257",
    "windows-1258": "cp1258 x-cp1258",
    "x-mac-cyrillic": "x-mac-ukrainian",
    "gb18030": "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk cp936 gb-2312 euc-cn",
    "big5": "big5-hkscs cn-big5 csbig5 x-x-big5 big5-tw cp950",
    "euc-jp": "cseucpkdfmtjapanese x-euc-jp eucjp",
    "iso-2022-jp": "csiso2022jp",
    "shift_jis": "csshiftjis ms932 ms_kanji shift-jis sjis windows-31j x-sjis cp932",
    "euc-kr": "cseuckr csksc56011987 iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949 "
    "cp949 uhc",
    "utf-16-be": "utf-16be unicodefffe",
    "utf-16-le": "utf-16le csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16",
}
_CODECS = {  # where Python's name is another, or another codec reads what browsers read
    "shift_jis": "cp932",
    "euc-kr": "cp949",
    "big5": "big5hkscs",
    "iso-2022-jp": "iso2022_jp_ext",
    "macintosh": "mac-roman",
    "x-mac-cyrillic": "mac-cyrillic",
    "windows-874": "cp874",
    **{f"windows-125{n}": f"cp125{n}" for n in range(9)},
}
_MEANS = {label: name for name, labels in _LABELS.items() for label in (name, *labels.split())}


def known_charset(label: str) -> str:
    """Return the name of the charset that a label means, "" for one that we do not decode."""
    return _MEANS.get(label.strip("\t\n\f\r ").lower(), "")


def decode(body: bytes, charset: str) -> str:
    """Decode bytes in a charset of `known_charset`; broken ones become U+FFFD."""
    return body.decode(_CODECS.get(charset, charset), "jis-rows" if charset == "euc-jp" else "replace")


def encode_query(reference: str, charset: str) -> str:
    """Percent-encode what is beyond ASCII in the query of a reference, from its bytes in a charset.

    A letter that the charset lacks becomes a character reference (URL Standard, 1.3; of UTF-16 it makes UTF-8)."""
    if reference.isascii() or charset == "utf-8" or charset.startswith("utf-16"):
        return reference
    before, mark, query = reference.partition("?")
    if not mark or "#" in before:
        return reference
    query, sign, fragment = query.partition("#")
    encoded = _BEYOND_ASCII.sub(lambda found: _percent_encoded(found[0], charset), query)
    return f"{before}?{encoded}{sign}{fragment}"


def _percent_encoded(text: str, charset: str) -> str:
    try:
        data = text.encode(_CODECS.get(charset, charset))
    except UnicodeEncodeError:
        if len(text) == 1:
            return f"%26%23{ord(text)}%3B"
        return "".join(_percent_encoded(each, charset) for each in text)
    return "".join(chr(byte) if 0x21 <= byte < 0x7F and byte not in b"\"#<>'" else f"%{byte:02X}" for byte in data)


def _other_rows(error: UnicodeError) -> tuple[str, int]:
    """Decode the rows of EUC-JP that Windows added (circled digits, units, names) and Python's codec lacks."""
    assert isinstance(error, UnicodeDecodeError)
    first, second = (*error.object[error.start : error.start + 2], 0, 0)[:2]
    if first < 0xA1 or second < 0xA1:
        return "\ufffd", error.start + 1
    row, cell = first - 0xA1, second - 0xA1
    lead = row // 2 + (0x81 if row < 62 else 0xC1)
    trail = cell + 0x9F if row % 2 else cell + 0x40 + (cell >= 63)
    return bytes((lead, trail)).decode("cp932", "replace")[:1], error.start + 2


codecs.register_error("jis-rows", _other_rows)


_BEYOND_ASCII = re.compile(r"[^\0-\x7f]+")
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
