"""The characters of a page, from its bytes.

Pure: bytes in, text out. Order: byte order mark, HTTP header, the page's own declaration, then guessing (WHATWG
Encoding and HTML Standards). Servers lie, so a declaration is only believed where the bytes bear it out:
- bytes that are no text in a charset do not have it;
- text beyond ASCII that is valid UTF-8 throughout is UTF-8, since legacy text never is by chance;
- windows-1252, the default of old servers, fits all bytes, so it comes after what the page itself declares, and not
  where every third byte is beyond ASCII;
- the East Asian charsets fit each other's bytes, so where a detector finds another one, its reading counts unless it
  has fewer everyday characters.
"""

import re
from collections.abc import Iterator

import cchardet

from crawl.content.charsets import declared_charset, decode, known_charset

_GUESS_BYTES = 16_384  # more does not guess better and costs 0.7 us per kB
_MAX_BAD_UTF8_SHARE = 0.25  # letters of other charsets are no valid UTF-8 by chance, so the others prove it
_MAX_BAD_SHARE = 0.05  # of the characters beyond ASCII: a few broken ones happen, a wrong charset breaks a third
_UTF8_BYTES = 12  # so many bytes beyond ASCII are no valid UTF-8 by chance: one GBK text in 10^5
_DETECT_BYTES = 100  # of Chinese, Japanese and Korean text the detector names 99 % right from here on, 85 % at 40
_DETECTED_BYTES = 1_024  # it needs 1.5 us a byte there, so it is asked only where text looks strange
_LATIN_SHARE = 0.3  # of a Latin text's bytes at most so many are beyond ASCII: Vietnamese has 0.25
_LOOKED_AT = 1_000  # characters
_ZERO_SHARE = 64  # in a UTF-16 page every 32nd letter at least is ASCII: spaces and markup
_UTF_16_TAG = re.compile(rb"(?:[\t\n\r ]\0|\0[\t\n\r ])*(?:(\0)<\0[!-~]|<\0[!-~]\0)")
_ISO_2022_JP = re.compile(rb"\x1b\$[@B]")  # two bytes a letter from here on
_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xfe\xff", "utf-16-be"), (b"\xff\xfe", "utf-16-le"))
_KANA = frozenset("のはをにがでたとしいる")
_USUAL = {  # characters of which any honest text has three
    "gb18030": frozenset("的一是不了在有人这和中为"),
    "big5": frozenset("的一是不了在有人這和中為"),
    "euc-jp": _KANA,
    "shift_jis": _KANA,
    "euc-kr": frozenset("이다는의에을를고하가"),
}
_ASCII = bytes(range(128))
_FIRST_LEVELS = (("gb2312", b"\xb0", b"\xd7"), ("big5", b"\xa4", b"\xc6"), ("shift_jis", b"\x88", b"\x97"))
_FIGURES = bytes(range(0x21, 0x40))  # and much of the markup; East Asian second bytes are all above
_EVERYDAY = re.compile("[\u3000-\u303f\u3040-\u30ff\uac00-\ud7a3\uff01-\uff60]")  # punctuation, kana, Hangul


def decode_text(body: bytes, header_charset: str = "") -> tuple[str, str]:
    """Return the text of a page and the name of its charset. Never fails: broken bytes become U+FFFD."""
    for mark, charset in _BOMS:
        if body.startswith(mark):
            return decode(body[len(mark) :], charset).lstrip("\ufeff"), charset
    if charset := _unmistakable(body):
        return decode(body, charset), charset
    text = _valid_utf8(body)
    if text and len(body) - len(text) >= _UTF8_BYTES:  # so many are beyond ASCII at least: counting them takes longer
        return text, "utf-8"
    high = 0 if body.isascii() else len(body.translate(None, _ASCII))
    if text and high >= _UTF8_BYTES:
        return text, "utf-8"
    first = ""
    for charset in _claims(body, header_charset):
        first = first or charset
        text = decode(body, charset)
        if not _bears_out(text, _MAX_BAD_UTF8_SHARE if charset == "utf-8" else _MAX_BAD_SHARE):
            continue
        if charset == "windows-1252" and high > _LATIN_SHARE * len(body):
            break
        if charset in _USUAL and high >= _DETECT_BYTES:
            return _second_opinion(body, text, charset)
        return text, charset
    charset = _detected(body) or first or "utf-8"
    if not _bears_out(text := decode(body, charset)) and high <= _LATIN_SHARE * len(body):
        charset = "windows-1252"  # a few signs, as of pounds or copyright, in English say nothing to a detector
        text = decode(body, charset)
    return text, charset


def _unmistakable(body: bytes) -> str:
    """Return the charset of bytes that no other charset has: zeros in every other place, or the escapes of ISO-2022."""
    if b"\0" in (start := body[:_LOOKED_AT]):
        evens, odds = start[::2].count(0), start[1::2].count(0)
        if tag := _UTF_16_TAG.match(start):
            return "utf-16-be" if tag[1] else "utf-16-le"
        if max(evens, odds) * _ZERO_SHARE >= len(start) and min(evens, odds) * 8 <= max(evens, odds):
            return "utf-16-be" if evens > odds else "utf-16-le"
    if b"\x1b" in body and _ISO_2022_JP.search(body) and "\ufffd" not in decode(body, "iso-2022-jp"):
        return "iso-2022-jp"
    return ""


def _claims(body: bytes, header_charset: str) -> Iterator[str]:
    """Yield the charsets to try, the most believable first."""
    header = known_charset(header_charset)
    if header.startswith("utf-16") and b"\0" not in body[:_LOOKED_AT]:
        header = ""
    if header and header != "windows-1252":
        yield header
    page = declared_charset(body)
    if page and page != "windows-1252":
        yield page
    if header in ("", "windows-1252"):
        yield "utf-8"
    if "windows-1252" in (header, page):
        yield "windows-1252"


def _bears_out(text: str, bad_share: float = _MAX_BAD_SHARE) -> bool:
    """Tell whether the decoded text shows no sign of a wrong charset: at most so many of its characters are broken."""
    bad = text.count("\ufffd")
    if not bad:
        return True
    beyond_ascii = len(text) - len(text.encode("ascii", "ignore"))
    return bad <= beyond_ascii * bad_share


def _valid_utf8(body: bytes) -> str:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return ""


def _detected(body: bytes) -> str:
    return known_charset(cchardet.detect(body[:_GUESS_BYTES])["encoding"] or "")


def _second_opinion(body: bytes, text: str, charset: str) -> tuple[str, str]:
    if len(_USUAL[charset].intersection(text[: 4 * _LOOKED_AT])) >= 3:
        return text, charset
    detected = _detected(body.translate(None, _FIGURES)[:_DETECTED_BYTES])
    if detected == charset or detected not in _USUAL:
        return text, charset
    other = decode(body, detected)
    if _bears_out(other) and _everyday(other) >= _everyday(text):
        return other, detected
    return text, charset


def _everyday(text: str) -> float:
    """Return which share (0 … 1) of the characters beyond ASCII people write every day: kana, Hangul, and the first
    levels of the national standards. These hold 99 % of all Chinese characters in running text."""
    beyond = [character for character in text if character > "\x7f"][:_LOOKED_AT]
    return sum(map(_is_everyday, beyond)) / max(1, len(beyond))


def _is_everyday(character: str) -> bool:
    if _EVERYDAY.match(character):
        return True
    return any(first <= character.encode(name, "ignore")[:1] <= last for name, first, last in _FIRST_LEVELS)
