"""Defines the parts that an HTML engine finds in a page: the value that both engines fill and extract.py judges, and
its vocabulary.

Pure: values.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from crawl.content import page_leaf
from crawl.content.charsets import encode_query
from crawl.fetch.link_header import LIST_TYPE
from crawl.fetch.response import READ_TYPES

BREAK = "\0"  # ends a line of text, which a line feed in the source does not; no parser leaves it in a text
OPEN, CLOSE = "\1", "\2"  # around what the page itself calls boilerplate
LINK = "\3"  # before and after the text of a link
ARTICLE, ARTICLE_END = "\4", "\5"  # around what the page declares to be its article
PARAGRAPHS, PARAGRAPHS_END = "\6", "\7"  # around the smallest element with nearly all words of paragraphs
SECRET, OPENLY = "\ufdd0", "\ufdd1"  # around what no snippet may show; they stay in the text (PROTOCOL.md, Records)
BOILERPLATE = ("nav", "header", "footer", "aside")  # the same on many pages, and not what a page is about
MAX_HEADINGS = 200
MAX_HEADING_CHARS = 300
MAX_ANCHOR_CHARS = 200
MAX_ALTERNATES = 50  # link elements that name another form of the page: translations, feeds
MAX_LINKED_CHARS = 65_536  # of JSON-LD that is read
MAX_METAS, MAX_REFRESHES, MAX_TIMES, MAX_SCRIPTS = 200, 8, 20, 10  # of each page
MAX_FRAMES, MAX_NAMES = 20, 200
_BESIDE = frozenset(("next", "prev", "previous", "first", "last", "start", "up", "contents", "index"))  # HTML 4, 6.12

_OF_WORD = re.compile(f"[^\\s{BREAK}{OPEN}{CLOSE}{LINK}{ARTICLE}-{PARAGRAPHS_END}{SECRET}{OPENLY}]")


class RawImage(NamedTuple):
    """An image, its texts bounded."""

    addresses: tuple[str, ...]  # as they are written, the likeliest first
    text: str
    caption: str
    heading: str
    width: int  # pixels, 0 unknown
    height: int


@dataclass(slots=True)
class RawHtml:
    """One page as an engine sees it; nothing is canonical or bounded in length yet, lists are bounded in count."""

    title: str = ""  # of the document's own title element
    first_heading: str = ""  # of level 1
    text: str = ""  # lines end in BREAK, boilerplate and links stand between marks
    base: str | None = None  # of the first base element that has one
    language: str = ""
    canonical: str | None = None
    headings: list[str] = field(default_factory=list)
    metas: list[tuple[str, str]] = field(default_factory=list)  # (lower-case name, content)
    times: list[tuple[str, str]] = field(default_factory=list)  # (as in dates.py, text)
    alternates: list[tuple[str, str]] = field(default_factory=list)  # (media type, href)
    linked_data: list[str] = field(default_factory=list)  # pieces of JSON-LD
    links: list[tuple[str, str, str]] = field(default_factory=list)  # (href, anchor text, rel)
    refreshes: list[tuple[str, bool]] = field(default_factory=list)  # (content, whether it stands in noscript)
    shows_all: bool = False  # its text is of what is hidden or for readers without scripts: there is no other
    names: dict[str, str] = field(default_factory=dict)  # of targets (href) of links without words: of their images
    frames: list[tuple[str, str]] = field(default_factory=list)  # (address, title) of pages that are shown inside it
    images: list[RawImage] = field(default_factory=list)  # those with words

    def take_link_element(self, attributes: Mapping[str, str | None]) -> None:
        """Note what a link element names: the canonical form of the page, another form, or a page beside it."""
        if "href" not in attributes:
            return
        rels, href = (attributes.get("rel") or "").lower().split(), attributes["href"] or ""
        if "canonical" in rels and self.canonical is None:
            self.canonical = href
        if len(self.alternates) + len(self.links) >= MAX_ALTERNATES:
            return
        if "alternate" in rels and "type" in attributes:
            self.alternates.append((attributes["type"] or "", href))
        elif "sitemap" in rels:
            self.alternates.append((LIST_TYPE, href))
        if not _BESIDE.isdisjoint(rels) or ("alternate" in rels and "hreflang" in attributes):
            self.links.append((href, attributes.get("title") or "", " ".join(rels)))

    def take_content_language(self, content: str | None) -> None:
        """Note the language that a `meta` declares where the root element declares none (HTML, 4.2.5.3)."""
        text = (content or "").strip()
        if not self.language and text and "," not in text:
            self.language = text.split()[0]

    def take_name(self, href: str, name: str) -> None:
        """Note what stands for the words of a link that has none."""
        if name and len(self.names) < MAX_NAMES:
            self.names.setdefault(href, name[: 2 * MAX_ANCHOR_CHARS])

    def take_frame(self, attributes: Mapping[str, str | None]) -> None:
        """Note the page that an element of `rendering.FRAMES` shows; an `object` or `embed` may show something else."""
        href = attributes.get("src") or attributes.get("data")
        media_type = (attributes.get("type") or "").partition(";")[0].strip().lower()
        if href and len(self.frames) < MAX_FRAMES and (not media_type or media_type in READ_TYPES):
            self.frames.append((href, attributes.get("title") or ""))

    def encode_queries(self, charset: str) -> None:
        """Write the queries of all addresses in the charset of the page, as URL Standard, 4.4 has it."""
        self.links = [(encode_query(href, charset), text, rel) for href, text, rel in self.links]
        self.names = {encode_query(href, charset): name for href, name in self.names.items()}
        self.frames = [(encode_query(href, charset), title) for href, title in self.frames]
        self.alternates = [(media_type, encode_query(href, charset)) for media_type, href in self.alternates]
        self.images = [
            each._replace(addresses=tuple(encode_query(href, charset) for href in each.addresses))
            for each in self.images
        ]
        self.canonical = encode_query(self.canonical, charset) if self.canonical else None


def names_in(source: bytes, names: tuple[bytes, ...]) -> int:
    """Return a bit for each name, of two bytes at least, that stands in a source."""
    if page_leaf.leaf:
        return int(page_leaf.leaf.names_in(source, names))
    return sum((name in source) << number for number, name in enumerate(names))


def has_words(marked: str) -> bool:
    """Tell whether a marked text has anything but marks and white space."""
    return _OF_WORD.search(marked) is not None


def without_marks(text: str) -> str:
    """Return the text of a heading or a link without the marks in it, its lines as one."""
    for mark in (LINK, OPEN, CLOSE, ARTICLE, ARTICLE_END, PARAGRAPHS, PARAGRAPHS_END, SECRET, OPENLY):
        if mark in text:
            text = text.replace(mark, "")
    return text.replace(BREAK, " ")
