"""The second HTML engine, for pages that stall or crash the first.

Pure: text in, values out. libxml2 bounds depth and text sizes by itself, so what stalls lexbor (200,000 nested
elements) costs it a millisecond; it repairs broken markup less well, so it comes second.
"""

from lxml import etree, html

from crawl.content.raw_html import (
    BLOCKS,
    BOILERPLATE,
    BREAK,
    CLOSE,
    HIDDEN,
    LINK,
    MAX_LINKED_CHARS,
    OPEN,
    RawHtml,
    time_of,
)

_BLOCKS = frozenset(BLOCKS)
_BOILERPLATE = frozenset(BOILERPLATE)
_HIDDEN = frozenset((*HIDDEN, "head"))
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_MAX_ITEMS = 200


def read_lxml(text: str, max_links: int) -> RawHtml:
    """Return what lxml finds in a page, before any judgement; nothing where the page cannot be parsed."""
    reading = RawHtml()
    parser = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    try:
        root = html.document_fromstring(text.encode("utf-8", "replace"), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError):  # an empty document
        return reading
    reading.language = root.get("lang") or ""
    reading.text = _text(root)
    for node in root.iter("title", "base", "meta", "link", "a", "area", "time", "script", *_HEADINGS):
        _take(node, reading, max_links)
    return reading


def _take(node: html.HtmlElement, reading: RawHtml, max_links: int) -> None:
    tag = node.tag
    if tag == "title":
        reading.title = reading.title or "".join(node.itertext())
    elif tag == "base":
        if reading.base is None:  # the first that has one, be it empty
            reading.base = node.get("href")
    elif tag == "meta" and (node.get("http-equiv") or "").strip().lower() == "refresh":
        if next(node.iterancestors("template"), None) is None and len(reading.refreshes) < _MAX_ITEMS:
            is_fallback = next(node.iterancestors("noscript"), None) is not None
            reading.refreshes.append((node.get("content") or "", is_fallback))
    elif tag == "meta" and len(reading.metas) < _MAX_ITEMS:
        name = node.get("name") or node.get("property") or node.get("itemprop") or ""
        reading.metas.append((name.lower(), node.get("content") or ""))
    elif tag == "time" and node.get("datetime") and len(reading.times) < _MAX_ITEMS:
        reading.times.append(time_of(node.get("itemprop") or "", node.get("datetime") or ""))
    elif tag == "script" and node.get("type") == "application/ld+json":
        reading.linked_data = (reading.linked_data + (node.text or ""))[:MAX_LINKED_CHARS]
    elif tag == "link":
        reading.take_link_element(node.attrib)
    elif tag in ("a", "area") and node.get("href") and len(reading.links) < 2 * max_links:
        reading.links.append((node.get("href") or "", "".join(node.itertext()), node.get("rel") or ""))
    elif tag in _HEADINGS and len(reading.headings) < _MAX_ITEMS:
        reading.headings.append("".join(node.itertext()))


def _text(root: html.HtmlElement) -> str:
    """Return the visible text, blocks on lines of their own; a walk without recursion."""
    out: list[str] = []
    hidden = 0
    for event, node in etree.iterwalk(root, events=("start", "end")):
        block, hides = node.tag in _BLOCKS, node.tag in _HIDDEN
        if event == "start":
            hidden += hides
            if block:
                out.append(BREAK)
            if node.tag in _BOILERPLATE:
                out.append(OPEN)
            if node.tag == "a" and "href" in node.attrib:
                out.append(LINK)
            if node.text and not hidden:
                out.append(node.text)
        else:
            hidden -= hides
            if node.tag == "a" and "href" in node.attrib:
                out.append(LINK)
            if block:
                out.append(BREAK)
            if node.tag in _BOILERPLATE:  # after the break, since marks count for the line in which they stand
                out.append(CLOSE)
            if node.tail and not hidden:
                out.append(node.tail)
    return "".join(out)
