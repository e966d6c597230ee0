"""Defines the parts that an HTML engine finds in a page: the value that both engines fill and extract.py judges, and
its vocabulary.

Pure: values.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

BLOCKS = (  # elements that begin and end a line of text
    *("address", "article", "aside", "blockquote", "br", "caption", "dd", "details", "div", "dl", "dt", "fieldset"),
    *("figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main"),
    *("nav", "ol", "option", "p", "pre", "section", "summary", "table", "td", "th", "tr", "ul"),
)
BREAK = "\0"  # ends a line of text, which a line feed in the source does not; no parser leaves it in a text
OPEN, CLOSE = "\1", "\2"  # around what the page itself calls boilerplate
LINK = "\3"  # before and after the text of a link
BOILERPLATE = ("nav", "header", "footer", "aside")  # the same on many pages, and not what a page is about
HIDDEN = ("script", "style", "noscript", "template", "svg", "iframe", "object", "select")  # not read by people
MAX_HEADINGS = 200
MAX_HEADING_CHARS = 300
MAX_ANCHOR_CHARS = 200
MAX_ALTERNATES = 50  # link elements that name another form of the page: translations, feeds
MAX_LINKED_CHARS = 65_536  # of JSON-LD that is searched


@dataclass(slots=True)
class RawHtml:
    """One page as an engine sees it; nothing is canonical or bounded in length yet, lists are bounded in count."""

    title: str = ""
    text: str = ""  # lines end in BREAK, boilerplate and links stand between marks
    base: str | None = None  # of the first base element that has one
    language: str = ""
    canonical: str | None = None
    headings: list[str] = field(default_factory=list)
    metas: list[tuple[str, str]] = field(default_factory=list)  # (lower-case name, content)
    times: list[tuple[str, str]] = field(default_factory=list)  # (as in dates.py, text)
    alternates: list[tuple[str, str]] = field(default_factory=list)  # (media type, href)
    linked_data: str = ""  # JSON-LD
    links: list[tuple[str, str, str]] = field(default_factory=list)  # (href, anchor text, rel)
    refreshes: list[tuple[str, bool]] = field(default_factory=list)  # (content, whether it stands in noscript)

    def take_link_element(self, attributes: Mapping[str, str | None]) -> None:
        """Note the other form of the page that a link element names: the canonical one, or an alternate."""
        if "href" not in attributes:
            return
        rels, href = (attributes.get("rel") or "").lower().split(), attributes["href"] or ""
        if "canonical" in rels and self.canonical is None:
            self.canonical = href
        if "alternate" in rels and "type" in attributes and len(self.alternates) < MAX_ALTERNATES:
            self.alternates.append((attributes["type"] or "", href))


def time_of(itemprop: str, text: str) -> tuple[str, str]:
    """Make an entry for `times`: what a time element is of, and what it says."""
    name = itemprop.lower()
    return (name if name in ("datepublished", "datemodified") else "time"), text
