"""The characters of a page, from its bytes.

Pure: bytes in, text out. Order: byte order mark, HTTP header, prescan of the first 1024 bytes for a declaration, then
guessing (WHATWG Encoding and HTML Standards). Servers lie, so a declaration is only believed where the bytes bear it
out; and windows-1252, the default of old servers, bears everything out, so it comes after what is valid UTF-8 or what
the page itself declares.
"""

import re

import cchardet

PRESCAN_BYTES = 1024
_GUESS_BYTES = 16_384  # more does not guess better and costs 0.7 us per kB
_MAX_BAD_SHARE = 0.05  # of the characters beyond ASCII: a few broken ones happen, a wrong charset breaks a third
_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xfe\xff", "utf-16-be"), (b"\xff\xfe", "utf-16-le"))
_DECLARED = re.compile(rb"""<(?:meta|\?xml)\b[^>]{0,400}?(?:charset|encoding)\s*=\s*["']?\s*([-\w.:]{2,40})""", re.I)

# Labels that name one thing and mean another, as browsers read them; gb18030 decodes everything that gb2312 and gbk do.
_MEANS = {
    **dict.fromkeys(
        ("gb2312", "gb_2312-80", "gbk", "x-gbk", "cp936", "gb-2312", "chinese", "euc-cn", "hz-gb-2312"), "gb18030"
    ),
    **dict.fromkeys(
        ("iso-8859-1", "iso8859-1", "latin1", "latin-1", "l1", "ascii", "us-ascii", "cp1252"), "windows-1252"
    ),
    **dict.fromkeys(("shift-jis", "sjis", "x-sjis", "ms932", "windows-31j", "cp932"), "shift_jis"),
    **dict.fromkeys(("ks_c_5601-1987", "ksc5601", "korean", "windows-949", "cp949", "uhc"), "euc-kr"),
    **dict.fromkeys(("big5-hkscs", "cn-big5", "x-x-big5", "big5-tw"), "big5"),
    **dict.fromkeys(("utf8", "unicode-1-1-utf-8", "utf-8-sig", "x-unicode20utf8"), "utf-8"),
    **dict.fromkeys(("iso-8859-9", "latin5", "cp1254"), "windows-1254"),
    **dict.fromkeys(("tis-620", "iso-8859-11", "dos-874"), "windows-874"),
    **dict.fromkeys(("x-user-defined",), "windows-1252"),
    **dict.fromkeys(("utf-16", "unicode", "ucs-2"), "utf-16-le"),
    **dict.fromkeys(("x-euc-jp", "eucjp"), "euc-jp"),
    **{f"cp125{n}": f"windows-125{n}" for n in (0, 1, 3, 5, 6, 7, 8)},
    **{f"iso8859-{n}": f"iso-8859-{n}" for n in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)},
}
# Every charset that we decode, with Python's codec; nothing outside this table can be chosen by a page.
_CODECS = {
    **{
        name: name
        for name in ("utf-8", "utf-16-le", "utf-16-be", "gb18030", "euc-jp", "iso-2022-jp", "koi8-r", "koi8-u")
    },
    **{f"windows-125{n}": f"cp125{n}" for n in range(9)},
    **{f"iso-8859-{n}": f"iso8859-{n}" for n in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)},
    "shift_jis": "cp932",
    "euc-kr": "cp949",
    "big5": "big5hkscs",
    "windows-874": "cp874",
    "ibm866": "cp866",
    "macintosh": "mac-roman",
    "x-mac-cyrillic": "mac-cyrillic",
}


def decode_text(body: bytes, header_charset: str = "") -> tuple[str, str]:
    """The text of a page and the name of its charset. Never fails: broken bytes become U+FFFD."""
    for mark, charset in _BOMS:
        if body.startswith(mark):
            return body[len(mark) :].decode(charset, "replace"), charset
    claims = _claims(body, header_charset)
    for charset in claims:
        text = body.decode(_CODECS[charset], "replace")
        if _bears_out(text):
            return text, charset
    charset = known_charset(cchardet.detect(body[:_GUESS_BYTES])["encoding"] or "") or next(iter(claims), "utf-8")
    return body.decode(_CODECS[charset], "replace"), charset


def known_charset(label: str) -> str:
    """The name that a label means, "" for one that we do not decode."""
    name = label.strip().strip("\"'").lower()
    name = _MEANS.get(name, name)
    return name if name in _CODECS else ""


def _claims(body: bytes, header_charset: str) -> list[str]:
    """Charsets to try, the most believable first."""
    declared = _DECLARED.search(body, 0, PRESCAN_BYTES)
    page_charset = known_charset(declared[1].decode("ascii", "replace")) if declared else ""
    if page_charset.startswith("utf-16"):  # it was readable as ASCII, so it is not UTF-16 (HTML Standard)
        page_charset = "utf-8"
    claims = [c for c in (known_charset(header_charset), page_charset) if c]
    if "windows-1252" in claims:
        claims = [c for c in claims if c != "windows-1252"] + ["windows-1252"]
    if "utf-8" not in claims and (not claims or claims[0] == "windows-1252"):
        claims.insert(0, "utf-8")
    return list(dict.fromkeys(claims))


def _bears_out(text: str) -> bool:
    """True where the decoded text shows no sign of a wrong charset."""
    bad = text.count("\ufffd")
    if not bad:
        return True
    beyond_ascii = len(text) - len(text.encode("ascii", "ignore"))
    return bad <= beyond_ascii * _MAX_BAD_SHARE
