"""Which boxes a page's elements make: lines of their own, words of their own, or nothing that a reader sees.

Pure: values in, values out; both HTML engines read by it. Source: HTML Standard, 15.3 (the style sheet of browsers) and
15.4 (replaced elements); MathML Core, 2.1. Style sheets are not read, `style` attributes are. No script runs, but
`noscript` is read only where the page has no other text.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import AnyStr

from crawl.content.raw_html import names_in

BLOCKS = (  # elements that begin and end a line of text
    *("address", "article", "aside", "blockquote", "body", "br", "caption", "center", "dd", "details", "dialog", "dir"),
    *("div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "frameset", "h1", "h2", "h3", "h4"),
    *("h5", "h6", "header", "hgroup", "hr", "html", "legend", "li", "listing", "main", "menu", "nav", "ol", "optgroup"),
    *("option", "p", "plaintext", "pre", "search", "section", "summary", "table", "tbody", "td", "tfoot", "th"),
    *("thead", "tr", "ul", "xmp"),
)
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
BOXES = ("button", "marquee", "textarea")  # boxes within a line: their words are apart from those beside them
REPLACED = (  # such boxes whose content is shown only where they themselves cannot be
    *("audio", "canvas", "embed", "frame", "iframe", "img", "input", "meter", "object", "progress", "select", "svg"),
    "video",
)
FRAMES = ("embed", "frame", "iframe", "object")  # those that show another page
HIDDEN = (  # no boxes; without rt, rtc and rp ruby reads as its base
    *("datalist", "noembed", "noframes", "noscript", "rp", "rt", "rtc", "script", "style", "template", "title"),
)
FORMULA_SOURCES = ("annotation", "annotation-xml")  # of `math`, which shows its first form alone
SNIPPETLESS = frozenset(("span", "div", "section"))  # data-nosnippet counts on these
_ALWAYS_SHOWN = frozenset(("html", "body"))  # where their own attributes hide them, a script shows them at once
_INLINE = frozenset(("none", "contents", "ruby", "inherit", "initial", "unset", "revert", "revert-layer"))
_SIDES = ("left", "right", "top", "bottom", "text-indent")
_HIDDEN_NAME = re.compile(rb"[\s\"'/]hidden(?:[\s=>/]|$)")  # an attribute
_TELLING = b"nosnippet", b"hidden", b"popover", b"isplay", b"ont-size", b"-999"  # the custom is -9999px
_NO_SIZE = re.compile(rb"ont-size\s*:\s*0(?![.\d])")
_CONTROLS = re.compile(rb"aria-controls\s*=\s*[\"']?([^\s\"'>]+)")
_STYLE_BYTES = 200  # of a `style` attribute before a property
_HYPHEN = re.compile(r"(?<![^\W\d_])([^\W\d_]+)([-\u2010\u00ad])[ \t\r]*\n\s*(?=([^\W\d_]+))")
_COMPOUND = re.compile(r"(?<![^\W\d_])[^\W\d_]+[-\u2010](?=([^\W\d_]+))")
_WORDS_AFTER = frozenset(  # "on- and off"
    (*("and", "or", "to", "und", "oder", "bis", "bzw", "sowie", "et", "ou", "y", "o", "en", "of", "och"), "eller", "og")
)


def telling_attributes(source: bytes, *, has_buttons: bool) -> list[str]:
    """List the attributes in a source that may say how elements are shown, which takes long to ask of each element.

    Without a button nothing opens a popover."""
    there = names_in(source, _TELLING)
    if not there:
        return []
    found = ["data-nosnippet"] if there & 1 else []
    if there & 2:
        ends = [source[max(0, at - 12) : at + 7] for at in places(source, b"hidden")]
        found += ["hidden"] if any(map(_HIDDEN_NAME.search, ends)) else []
        found += ["style"] if any(b"ibility" in each for each in ends) else []
    if there & 4 and has_buttons:
        found.append("popover")
    if there & 8 and "style" not in found:
        ends = [source[max(0, at - _STYLE_BYTES) : at].lower() for at in places(source, b"isplay")]
        found += ["style"] if any(b"style=" in each for each in ends) else []
    if "style" not in found and (there & 32 or (there & 16 and _NO_SIZE.search(source))):
        found.append("style")
    return found


def places(source: AnyStr, name: AnyStr) -> Iterator[int]:
    """Yield where a name stands in a source."""
    at = source.find(name)
    while at >= 0:
        yield at
        at = source.find(name, at + 1)


def opened_by_readers(source: bytes) -> frozenset[str]:
    """List the ids of what controls of a page open and close, as buttons do with the sections of an accordion."""
    return frozenset(each.decode("utf-8", "replace") for each in _CONTROLS.findall(source))


def is_hidden(tag: str, attributes: Mapping[str, str | None], opened: Collection[str] = ()) -> bool:
    """Tell whether the attributes of an element leave it without a box. Nobody opens a dialog or a popover here, but
    readers open tabs, and what controls open (`opened`, by its id): search engines find that, too."""
    if tag in _ALWAYS_SHOWN:
        return False
    if "open" not in attributes and (tag == "dialog" or "popover" in attributes):
        return True
    if attributes.get("role") == "tabpanel" or attributes.get("id") in opened:
        return False
    if "hidden" in attributes and (attributes["hidden"] or "").strip().lower() != "until-found":
        return True
    if style_value(attributes, "display") == "none" or style_value(attributes, "visibility") in ("hidden", "collapse"):
        return True
    return _is_out_of_sight(attributes)


def _is_out_of_sight(attributes: Mapping[str, str | None]) -> bool:
    """Tell whether the letters of an element have no size or stand beside the page."""
    style = (attributes.get("style") or "").lower()
    if "-999" in style and any(style_value(attributes, name).startswith("-999") for name in _SIDES):
        return style_value(attributes, "position") in ("absolute", "fixed") or "text-indent" in style
    return "font-size" in style and style_value(attributes, "font-size").rstrip("%ceimprtx") == "0"


def ends_line(attributes: Mapping[str, str | None]) -> bool:
    """Tell whether its `style` makes any element a line of its own."""
    display = style_value(attributes, "display")
    return bool(display) and display not in _INLINE and not display.startswith("inline")


def style_value(attributes: Mapping[str, str | None], wanted: str) -> str:
    """Return what a `style` attribute says of a property, in lower case, "" where it says nothing."""
    style = attributes.get("style")
    if not style or wanted not in (style := style.lower()):
        return ""
    pairs = (each.partition(":") for each in style.split(";"))
    values = [value.partition("!")[0].strip() for name, _, value in pairs if name.strip() == wanted]
    return values[-1] if values else ""


def is_shadow_root(attributes: Mapping[str, str | None]) -> bool:
    """Tell whether a template is what its parent shows (HTML Standard, 4.12.3)."""
    return (attributes.get("shadowrootmode") or "").lower() in ("open", "closed")


def join_hyphens(text: str) -> str:
    """Join words that a hyphen parts at the end of a line.

    The hyphen stays where the text has the word with a hyphen elsewhere, and before a capital letter. A hyphen that
    stands for a word's second half ("on- and off") joins nothing."""
    compounds = {found[0] + found[1] for found in _COMPOUND.finditer(text)}

    def join(found: re.Match[str]) -> str:
        first, hyphen, second = found[1], found[2], found[3]
        if second in _WORDS_AFTER and hyphen != "\u00ad":
            return found[0]
        is_kept = hyphen != "\u00ad" and (second[0].isupper() or f"{first}{hyphen}{second}" in compounds)
        return f"{first}{hyphen}" if is_kept else first

    return _HYPHEN.sub(join, text)
