"""XHTML, read by the rules of XML and written as HTML for an engine that knows no others.

Pure: text in, text out. Only well-formed pages are read so (HTML Standard, 14). An element that closes itself is
closed, CDATA is text, names have prefixes. Entities that HTML knows are read, as in browsers. A page that declares
entities of its own is read as HTML.
"""

import re
from html import escape
from html.entities import html5
from xml.parsers import expat

_XHTML = "http://www.w3.org/1999/xhtml"
_PREFIXES = {"http://www.w3.org/1999/xlink": "xlink:", "http://www.w3.org/XML/1998/namespace": "xml:"}
_VOID = frozenset(
    (
        *("area", "base", "basefont", "br", "col", "embed", "frame", "hr", "img", "input", "keygen", "link", "meta"),
        *("param", "source", "track", "wbr"),
    )
)
_RAW = frozenset(("script", "style", "xmp", "iframe", "noembed", "noframes", "plaintext"))
_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]{1,31};)")
_OF_XML = frozenset(("lt;", "gt;", "amp;", "quot;", "apos;"))
_DECLARATION = re.compile(r"\s*<\?xml[^>]*\?>")
_SEPARATOR = " "


def html_of(text: str) -> str | None:
    """Return the same page as HTML; None where it is no XHTML, or not well-formed."""
    text = _ENTITY.sub(_character, _DECLARATION.sub("", text, count=1))
    writer = _Writer()
    parser = expat.ParserCreate("utf-8", _SEPARATOR)
    parser.StartElementHandler = writer.start
    parser.EndElementHandler = writer.end
    parser.CharacterDataHandler = writer.write
    parser.EntityDeclHandler = writer.refuse
    try:
        parser.Parse(text.encode("utf-8", "replace"), True)
    except (expat.ExpatError, ValueError):
        return None
    return "<!doctype html>" + "".join(writer.out) if writer.is_xhtml else None


class _Writer:
    """Writes events of XML as HTML."""

    def __init__(self) -> None:
        self.out: list[str] = []
        self.is_xhtml = False
        self._raw = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        namespace, _, tag = name.rpartition(_SEPARATOR)
        self.is_xhtml = self.is_xhtml or (not self.out and tag == "html")
        is_html = namespace in ("", _XHTML)
        written = "".join(f' {_attribute(key)}="{escape(value)}"' for key, value in attributes.items())
        self.out.append(f"<{tag}{written}>")
        self._raw += is_html and tag in _RAW

    def end(self, name: str) -> None:
        namespace, _, tag = name.rpartition(_SEPARATOR)
        self._raw -= namespace in ("", _XHTML) and tag in _RAW
        if tag not in _VOID:
            self.out.append(f"</{tag}>")

    def write(self, text: str) -> None:
        self.out.append(text.replace("</", "<\\/") if self._raw else escape(text, quote=False))

    def refuse(self, *_: object) -> None:
        """Read no document that declares entities, of which a few lines may make gigabytes."""
        raise ValueError("an entity is declared")


def _attribute(name: str) -> str:
    namespace, _, local = name.rpartition(_SEPARATOR)
    return _PREFIXES.get(namespace, "") + local


def _character(found: re.Match[str]) -> str:
    return found[0] if found[1] in _OF_XML else html5.get(found[1], found[0])
