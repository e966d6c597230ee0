"""The images of a page that words tell of: which ones, at which address, and their words.

Pure: both HTML engines read by it, through `ImageReach`. Nothing is fetched. An image that says by an empty `alt` that
it is decoration (HTML Standard, 4.8.4.4) has no words but those of its title and caption. Scripts put `data-src` and
the like in the place of `src`, so these come first; of a `srcset` the largest counts, where there is no other address.
"""

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Generic, NamedTuple, TypeVar

from crawl.canonical_url import find_url
from crawl.content.page import PageImage
from crawl.content.raw_html import RawImage, without_marks
from crawl.content.rendering import HIDDEN, SNIPPETLESS, is_hidden, is_shadow_root, style_value

MAX_IMAGES = 32  # of a page
MAX_TEXT_CHARS = 200  # of each text of an image
MAX_ADDRESS_CHARS = 512
SMALL_PIXELS = 32  # a side no longer than this is an icon's, a line's or a tracking pixel's
_LOOKED_AT = 512  # such elements
_KEPT_RAW = 2 * MAX_IMAGES  # some have the same address, or none
_CHILDREN = 64  # of a figure or picture
_MAX_SET_CHARS = 4_096  # of a `srcset`
_MAX_SIDE = 65_535
_ADDRESSES = ("data-src", "data-original", "data-lazy-src", "src")
_SETS = ("data-srcset", "srcset")
_UNSEEN = frozenset(HIDDEN) - {"noscript"}  # a page has an image there for readers without scripts
_LENGTH = re.compile(r"\s*([0-9]{1,6})(?:\.[0-9]*)?\s*(?:px)?\s*", re.ASCII | re.IGNORECASE)
_CANDIDATE = re.compile(r"[\s,]*(\S+)")
_SIZE = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,6})?)[wx]")

Node = TypeVar("Node")
Attributes = Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class ImageReach(Generic[Node]):
    """How nodes of an engine are read."""

    tag: Callable[[Node], str]
    attributes: Callable[[Node], Attributes]
    parents: Callable[[Node], Iterable[Node]]  # the innermost first
    children: Callable[[Node], Iterable[Node]]
    text: Callable[[Node], str]
    key: Callable[[Node], Hashable]


class _Around(NamedTuple, Generic[Node]):
    """The facts that hold for all that is inside an element."""

    is_unseen: bool
    caption: Node | None


def find_images(nodes: Iterable[Node], reach: ImageReach[Node]) -> list[RawImage]:
    """Return the images with words. `nodes`: images and headings, in the order of the document."""
    finder = _Finder(reach)
    return list(islice(finder.read(islice(nodes, _LOOKED_AT)), _KEPT_RAW))


def settle_images(found: Iterable[RawImage], base: str) -> tuple[PageImage, ...]:
    """Return images by their canonical addresses, each address once."""
    images: dict[str, PageImage] = {}
    for raw in found:
        urls = (url for each in raw.addresses if (url := find_url(each, base)))
        url = next(urls, "")
        if url and len(url) <= MAX_ADDRESS_CHARS and url not in images and len(images) < MAX_IMAGES:
            images[url] = PageImage(url, raw.text, raw.caption, raw.heading, raw.width, raw.height)
    return tuple(images.values())


class _Finder(Generic[Node]):
    """Looks at each element around images, and at each text, once."""

    def __init__(self, reach: ImageReach[Node]) -> None:
        self._reach = reach
        self._known: dict[Hashable, _Around[Node]] = {}
        self._texts: dict[Hashable, str] = {}

    def read(self, nodes: Iterable[Node]) -> Iterator[RawImage]:
        heading: Node | None = None
        for node in nodes:
            if self._reach.tag(node) != "img":
                heading = node
            elif image := self._image(node, heading):
                yield image

    def _image(self, node: Node, heading: Node | None) -> RawImage | None:
        attributes = self._reach.attributes(node)
        width, height = (_side(attributes, name) for name in ("width", "height"))
        is_small = any(side is not None and side <= SMALL_PIXELS for side in (width, height))
        if is_small or (attributes.get("role") or "").strip().lower() in ("none", "presentation"):
            return None
        around = self._around(node)
        addresses = () if around.is_unseen or _is_unseen("img", attributes) else self._addresses(node, attributes)
        if not addresses:
            return None
        text, caption = _own_text(attributes), self._text(around.caption)
        under = self._text(heading)
        if not _has_words(text + caption + ("" if "alt" in attributes else under)):
            return None
        return RawImage(tuple(addresses), text, caption, under, width or 0, height or 0)

    def _around(self, node: Node) -> _Around[Node]:
        """Return what holds for an image by the elements around it."""
        inner: list[tuple[Hashable, Node]] = []
        known = _Around[Node](False, None)
        for parent in self._reach.parents(node):
            key = self._reach.key(parent)
            if key in self._known:
                known = self._known[key]
                break
            inner.append((key, parent))
        for key, parent in reversed(inner):
            tag = self._reach.tag(parent)
            is_unseen = known.is_unseen or _is_unseen(tag, self._reach.attributes(parent))
            caption = self._caption(parent) if tag == "figure" else None
            known = _Around(is_unseen, known.caption if caption is None else caption)
            self._known[key] = known
        return known

    def _caption(self, figure: Node) -> Node | None:
        children = islice(self._reach.children(figure), _CHILDREN)
        return next((each for each in children if self._reach.tag(each) == "figcaption"), None)

    def _text(self, node: Node | None) -> str:
        if node is None:
            return ""
        key = self._reach.key(node)
        if key not in self._texts:
            self._texts[key] = _cut(without_marks(self._reach.text(node)))
        return self._texts[key]

    def _addresses(self, node: Node, attributes: Attributes) -> list[str]:
        """List where an image may be, the likeliest first."""
        found = [value for name in _ADDRESSES if (value := attributes.get(name))]
        sets = [value for name in _SETS if (value := attributes.get(name))]
        # An engine that does not know `source` has the image inside it.
        parent = next((each for each in self._reach.parents(node) if self._reach.tag(each) != "source"), None)
        if parent is not None and self._reach.tag(parent) == "picture":
            sources = (self._reach.attributes(each) for each in islice(self._reach.children(parent), _CHILDREN))
            sets += [value for each in sources for name in _SETS if (value := each.get(name))]
        found += filter(None, map(_largest, sets))
        return [each for each in found if not each.lstrip()[:5].lower().startswith("data:")]


def _is_unseen(tag: str, attributes: Attributes) -> bool:
    """Tell whether nobody sees an element, hears it, or may be shown its text."""
    if tag in _UNSEEN and not (tag == "template" and is_shadow_root(attributes)):
        return True
    if not attributes:
        return False
    if (attributes.get("aria-hidden") or "").strip().lower() == "true" or is_hidden(tag, attributes):
        return True
    return tag in SNIPPETLESS and "data-nosnippet" in attributes


def _side(attributes: Attributes, name: str) -> int | None:
    """Return a declared side in pixels, None where it is unknown."""
    found = _LENGTH.fullmatch(attributes.get(name) or "") or _LENGTH.fullmatch(style_value(attributes, name))
    return int(found[1]) if found and int(found[1]) <= _MAX_SIDE else None


def _own_text(attributes: Attributes) -> str:
    alt, title = (_cut(attributes.get(name) or "") for name in ("alt", "title"))
    return _cut(f"{alt} · {title}" if alt and title and title not in alt else alt or title)


def _cut(text: str) -> str:
    return " ".join(text[: 4 * MAX_TEXT_CHARS].split())[:MAX_TEXT_CHARS].rstrip()


def _has_words(text: str) -> bool:
    return any(map(str.isalnum, text))


def _largest(written: str) -> str:
    """Return the address of the widest or densest candidate of a `srcset` (HTML Standard, 4.8.4.3.10)."""
    best, most, at, written = "", 0.0, 0, written[:_MAX_SET_CHARS]
    while found := _CANDIDATE.match(written, at):
        address, at = found[1], found.end()
        bare, size = address.rstrip(","), ""
        if bare == address:
            end = written.find(",", at)
            size, at = written[at : end if end >= 0 else len(written)].strip(), end + 1 if end >= 0 else len(written)
        said = _SIZE.fullmatch(size)
        if bare and (rank := float(said[1]) if said else 1.0) > most:
            best, most = bare, rank
    return best
