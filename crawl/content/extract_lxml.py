"""The second HTML engine, for pages that stall or crash the first.

Pure: text in, values out. libxml2 bounds depth and text sizes by itself. So input that stalls lexbor (200,000 nested
elements) costs it a millisecond. It repairs broken markup less well, so it comes second.
"""

from lxml import etree, html

from crawl.content.article import (
    ARTICLE_BODY,
    Reach,
    declared_article,
    has_signs,
    is_long,
    paragraphs_element,
)
from crawl.content.dates import Placed, place_of, time_name, times_of_head
from crawl.content.images import ImageReach, find_images
from crawl.content.linked_data import is_linked_data
from crawl.content.raw_html import (
    ARTICLE,
    ARTICLE_END,
    BOILERPLATE,
    BREAK,
    CLOSE,
    LINK,
    MAX_HEADINGS,
    MAX_LINKED_CHARS,
    MAX_METAS,
    MAX_REFRESHES,
    MAX_SCRIPTS,
    MAX_TIMES,
    OPEN,
    OPENLY,
    PARAGRAPHS,
    PARAGRAPHS_END,
    SECRET,
    RawHtml,
    has_words,
    without_marks,
)
from crawl.content.rendering import (
    BLOCKS,
    BOXES,
    FORMULA_SOURCES,
    FRAMES,
    HEADINGS,
    HIDDEN,
    REPLACED,
    SNIPPETLESS,
    ends_line,
    is_hidden,
    is_shadow_root,
    join_hyphens,
    opened_by_readers,
)

_BLOCKS = frozenset(BLOCKS)
_BOXES = frozenset((*BOXES, *REPLACED))
_NEVER_SHOWN = frozenset((*HIDDEN, *REPLACED, *FORMULA_SOURCES, "head"))
_NEVER_SHOWN -= {"noscript", "template", "embed"}  # libxml2 does not know that an embed element has no content


def read_lxml(text: str, max_links: int) -> RawHtml:
    """Return what lxml finds in a page, before any judgement; nothing where the page cannot be parsed."""
    parser = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    try:
        root = html.document_fromstring(text.encode("utf-8", "replace"), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError):  # an empty document
        return RawHtml()
    reading = RawHtml(language=root.get("lang") or "")
    for node in root.iter("title", "base", "meta", "link", "script", *FRAMES):
        _take(node, reading)
    _read_titles(root, reading)
    reading.images = find_images(root.iter("img", *HEADINGS), _IMAGE_REACH)
    walk = _PageWalk(reading, len(reading.links) + 2 * max_links)
    source = text.encode("utf-8", "replace")
    walk.has_signs, walk.opened = has_signs(source), opened_by_readers(source)
    walk.read(root)
    if walk.has_more and not has_words(reading.text):
        del reading.links[walk.links_before :], reading.headings[:]
        reading.shows_all = True
        _PageWalk(reading, walk.most_links, shows_all=True).read(root)
    return reading


def _take(node: html.HtmlElement, reading: RawHtml) -> None:
    """Note what a single element names."""
    tag = node.tag
    if tag == "base":
        if reading.base is None:  # the first that has one, be it empty
            reading.base = node.get("href")
    elif tag == "meta" and (node.get("http-equiv") or "").strip().lower() == "refresh":
        if next(node.iterancestors("template"), None) is None and len(reading.refreshes) < MAX_REFRESHES:
            is_fallback = next(node.iterancestors("noscript"), None) is not None
            reading.refreshes.append((node.get("content") or "", is_fallback))
    elif tag == "meta" and (node.get("http-equiv") or "").strip().lower() == "content-language":
        reading.take_content_language(node.get("content"))
    elif tag == "meta" and len(reading.metas) < MAX_METAS:
        if name := node.get("name") or node.get("property") or node.get("itemprop"):
            reading.metas.append((name.lower(), node.get("content") or ""))
    elif tag == "script":
        if is_linked_data(node.get("type")) and len(reading.linked_data) < MAX_SCRIPTS:
            reading.linked_data.append((node.text or "")[:MAX_LINKED_CHARS])
    elif tag == "link":
        reading.take_link_element(node.attrib)
    elif tag in FRAMES:
        reading.take_frame(node.attrib)


def _read_titles(root: html.HtmlElement, reading: RawHtml) -> None:
    """Read the title of the document. Give parts of drawings theirs as `alt`."""
    for node in list(root.iter("title")):
        if any(parent.tag == "svg" for parent in node.iterancestors()):
            node.getparent().set("alt", "".join(node.itertext()))
            node.drop_tree()
        else:
            reading.title = reading.title or "".join(node.itertext())


class _PageWalk:
    """Reads what a reader sees, and the links and headings in it; a walk without recursion."""

    def __init__(self, reading: RawHtml, most_links: int, *, shows_all: bool = False) -> None:
        self.most_links, self.links_before = most_links, len(reading.links)
        self.has_more = False  # something is hidden
        self.has_signs = False  # of an article among other things
        self.opened: frozenset[str] = frozenset()  # see `rendering.is_hidden`
        self._reading, self._shows_all = reading, shows_all
        self._out: list[str] = []
        self._hidden = self._secret = self._chars = 0
        self._articles: list[tuple[html.HtmlElement, str, str]] = []  # with the marks around them
        self._begun: list[int] = []  # where the text of links, headings and `pre` begins that are open
        self._headings: list[Placed] = []
        self._times: list[Placed] = []

    def read(self, root: html.HtmlElement) -> None:
        """Fill the reading."""
        self._articles = _articles(root) if self.has_signs else []
        for event, node in etree.iterwalk(root, events=("start", "end")):
            if event == "start":
                self._start(node)
                self._write(node.text)
            else:
                self._end(node)
                self._write(node.tail)
        self._reading.text = "".join(self._out)
        self._reading.times = times_of_head(self._headings, self._times)

    def _write(self, text: str | None) -> None:
        if not text:
            return
        self._chars += len(text.strip())
        if not self._hidden:
            self._out.append(f"{SECRET}{text}{OPENLY}" if self._secret and text.strip() else text)

    def _start(self, node: html.HtmlElement) -> None:
        tag = node.tag
        for each, mark, _ in self._articles:
            if node is each:
                self._mark(BREAK + mark)
        if tag == "svg" and not self._hidden:
            self._write_drawing(node)
        if tag in _BOXES:
            self._mark(" ")
        self._hidden += self._hides(node)
        if tag in _BLOCKS or ends_line(node.attrib):
            self._mark(BREAK)
        if tag in BOILERPLATE:
            self._mark(OPEN)
        self._secret += _is_secret(node)
        if _is_link(node) or tag in HEADINGS or tag == "pre":
            self._begun.append(len(self._out))
        if _is_link(node):
            self._mark(LINK)
        if tag in HEADINGS and len(self._headings) < MAX_HEADINGS:
            self._headings.append(_placed(node, self._chars, tag, ""))
        elif tag == "time" and len(self._times) < MAX_TIMES:
            name = time_name(node.get("itemprop") or "", node.get("class") or "", is_pubdate="pubdate" in node.attrib)
            self._times.append(_placed(node, self._chars, name, node.get("datetime") or "".join(node.itertext())))

    def _end(self, node: html.HtmlElement) -> None:
        tag = node.tag
        if _is_link(node):
            self._take_link(node, self._begun.pop())
            self._mark(LINK)
        elif tag in HEADINGS:
            self._take_heading(tag, self._begun.pop())
        elif tag == "pre":
            start = self._begun.pop()
            self._out[start:] = [BREAK.join(map(join_hyphens, "".join(self._out[start:]).split(BREAK)))]
        self._secret -= _is_secret(node)
        if tag in _BLOCKS or ends_line(node.attrib):
            self._mark(BREAK)
        if tag in BOILERPLATE:  # after the break, since marks count for the line in which they stand
            self._mark(CLOSE)
        self._hidden -= self._hides(node)
        if tag in _BOXES:
            self._mark(" ")
        for each, _, mark in self._articles:
            if node is each:
                self._mark(BREAK + mark)

    def _mark(self, mark: str) -> None:
        if not self._hidden:
            self._out.append(mark)

    def _hides(self, node: html.HtmlElement) -> bool:
        """Tell whether nobody sees an element."""
        if node.tag in _NEVER_SHOWN or (node.tag == "template" and not is_shadow_root(node.attrib)):
            return True
        may_hide = node.tag == "noscript" or is_hidden(node.tag, node.attrib, self.opened)
        self.has_more = self.has_more or may_hide
        return may_hide and not self._shows_all

    def _take_link(self, node: html.HtmlElement, start: int) -> None:
        text = _line(self._out[start:] if not self._hidden else node.itertext())
        href = node.get("href", node.get("xlink:href")) or ""
        if not text.strip():
            name, text = "" if href.startswith("#") else _name_of(node), ""
            self._reading.take_name(href, name)
            if node.tag == "a":
                self._write(f" {name} ")  # an image is a box
        if len(self._reading.links) < self.most_links:
            self._reading.links.append((href, text, node.get("rel") or ""))

    def _take_heading(self, tag: str, start: int) -> None:
        text = _line(self._out[start:])
        if len(self._reading.headings) < MAX_HEADINGS and not self._hidden:
            self._reading.headings.append(text)
        if tag == "h1" and not self._hidden and text.strip():
            self._reading.first_heading = self._reading.first_heading or text

    def _write_drawing(self, node: html.HtmlElement) -> None:
        """Put what a drawing writes onto lines of their own."""
        for each in node.iter("text"):
            self._out.append(f"{BREAK}{' '.join(each.itertext())}{BREAK}")


def _articles(root: html.HtmlElement) -> list[tuple[html.HtmlElement, str, str]]:
    """Return the elements that hold the article, the outer one first, with the marks around each."""
    bodies = root.xpath(f"//*[contains(concat(' ', @itemprop, ' '), ' {ARTICLE_BODY} ')]")
    articles = [(node, next(node.iter("h1"), None) is not None) for node in root.iter("article")]
    declared = declared_article(bodies, articles, _REACH)
    if declared is not None and not is_long("".join(declared.itertext())):
        declared = None
    scope = root if declared is None else declared
    paragraphs = [(node, len("".join(node.itertext()).strip())) for node in scope.iter("p")]
    inner = paragraphs_element(paragraphs, _REACH)
    found = ((declared, ARTICLE, ARTICLE_END), (inner, PARAGRAPHS, PARAGRAPHS_END))
    return [each for each in found if each[0] is not None and is_long("".join(each[0].itertext()))]


_REACH: Reach[html.HtmlElement] = Reach(lambda node: node.iterancestors(), lambda node: str(node.tag), id)


_IMAGE_REACH: ImageReach[html.HtmlElement] = ImageReach(
    lambda node: str(node.tag),
    lambda node: node.attrib,
    lambda node: node.iterancestors(),
    lambda node: node,
    lambda node: " ".join(node.itertext()),
    lambda node: node,  # kept, so that no other gets its number
)


def _is_link(node: html.HtmlElement) -> bool:
    return node.tag in ("a", "area") and ("href" in node.attrib or "xlink:href" in node.attrib)


def _is_secret(node: html.HtmlElement) -> bool:
    return node.tag in SNIPPETLESS and "data-nosnippet" in node.attrib


def _name_of(node: html.HtmlElement) -> str:
    """Return what stands for the words of a link that has none: the text of its images, or else its label."""
    inner = list(node.iterdescendants())
    found = " ".join(text for each in inner if (text := (each.get("alt") or "").strip()))
    own = [node.get(name) for name in ("alt", "aria-label", "title")]
    labels = [each.get(name) for name in ("aria-label", "title") for each in inner]
    return found or next((text for text in (*own, *labels) if text and text.strip()), "")


def _line(pieces: "list[str] | etree.ElementTextIterator") -> str:
    """Return the text of a heading or a link, its lines as one."""
    return without_marks("".join(pieces))


def _placed(node: html.HtmlElement, at: int, name: str, text: str) -> Placed:
    parents = list(node.iterancestors())
    articles = [id(parent) for parent in parents if parent.tag == "article"]
    return place_of([(parent.tag, parent.attrib) for parent in parents], articles, at, name, text)
