"""The signs of a query's syntax in all scripts, each as its ASCII form: quotation marks, dashes, colons, brackets and
the full-width forms of ASCII.

Pure: text in, text of the same length out. Dashes are those of Unicode's category Pd, and quotation marks those of its
property Quotation_Mark. Single ones are left out, since they are apostrophes ("don’t"). Other forms are what NFKC makes
an ASCII sign of.
"""

import re
import unicodedata

_QUOTES = '"«»“”„‟‹›⹂「」『』〝〞〟﹁﹂﹃﹄＂｢｣❝❞🙶🙷🙸'
_COLONS = "∶꞉։׃፥፦"  # the Hebrew, Armenian and Ethiopic ones stand where ":" does on these keyboards
_OPENED, _CLOSED = "❨❪⸨⦅⦗⟮", "❩❫⸩⦆⦘⟯"
_DASHES = "֊᠆‐‑‒–—―⸗⸚⸺⸻⹀⹝︱︲﹘﹣－𐺭−➖"  # not what looks like "=" or "~", nor the Hebrew one, which joins words
_UNSEEN = "\u061c\u200e\u200f\u2060\ufeff\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"  # order of writing
_NESTED = re.compile(
    r"«[^«»]*»|»[^«»]*«|‹[^‹›]*›|「[^「」]*」|『[^『』]*』|｢[^｢｣]*｣|﹁[^﹁﹂]*﹂|﹃[^﹃﹄]*﹄"
    r"|“[^“”]*”|„[^“”„]*[“”]|\"[^\"]*\"|＂[^＂]*＂"
)
_FULL_WIDTH = range(0xFF01, 0xFF5F)
_SMALL_AND_VERTICAL = range(0xFE10, 0xFE70)


def _forms() -> dict[int, str]:
    found = {code: unicodedata.normalize("NFKC", chr(code)) for code in (*_SMALL_AND_VERTICAL, *_FULL_WIDTH)}
    found = {code: form for code, form in found.items() if len(form) == 1 and form.isascii()}
    for signs, form in ((_QUOTES, '"'), (_COLONS, ":"), (_OPENED, "("), (_CLOSED, ")"), (_DASHES, "-"), ("➕", "+")):
        found |= dict.fromkeys(map(ord, signs), form)
    return found


_FORMS = _forms()
_BLANK_QUOTES = str.maketrans(dict.fromkeys(_QUOTES, " "))
_ANY_UNSEEN = re.compile(f"[{_UNSEEN}]")


def in_ascii(text: str) -> str:
    """Return a query with the signs of its syntax in ASCII; of quotations inside a quotation only the words stay."""
    if text.isascii():
        return text
    return _NESTED.sub(_quotation, _ANY_UNSEEN.sub(" ", text)).translate(_FORMS)


def _quotation(found: re.Match[str]) -> str:
    return f'"{found[0][1:-1].translate(_BLANK_QUOTES)}"'
