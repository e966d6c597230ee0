"""The first HTML engine: lexbor, fast, and as tolerant of broken markup as browsers are.

Pure: text in, values out. Blocks become lines, so that words do not run together across paragraphs and inline markup
does not cut words apart. Scripts, styles and hidden templates are dropped.
"""

from itertools import chain, islice

from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawl.content.raw_html import (
    BLOCKS,
    BOILERPLATE,
    BREAK,
    CLOSE,
    HIDDEN,
    LINK,
    MAX_ANCHOR_CHARS,
    MAX_HEADING_CHARS,
    MAX_HEADINGS,
    MAX_LINKED_CHARS,
    OPEN,
    RawHtml,
    time_of,
)

LINKED_DATA_TYPE = "application/ld+json"
_MAX_METAS, _MAX_REFRESHES, _MAX_TIMES, _MAX_SCRIPTS = 200, 8, 20, 10  # of each page
_KIND_OF: dict[str, str] = {  # what the elements of a page are read for; all others are "inline"
    **dict.fromkeys((*BLOCKS, "html", "head", "body", "frameset"), "block"),
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), "heading"),
    **dict.fromkeys(BOILERPLATE, "boilerplate"),
    **dict.fromkeys(HIDDEN, "hidden"),
    **dict.fromkeys(("a", "area"), "link"),
    **{tag: tag for tag in ("title", "base", "meta", "script", "time")},
    "link": "named",
}
_KINDS = ("inline", *dict.fromkeys(_KIND_OF.values()))
_new_element = LexborHTMLParser("").create_node
_KIND_OF_ID = {_new_element(tag).tag_id: kind for tag, kind in _KIND_OF.items()}  # lexbor's numbers of them
_INLINE = ("inline", "link", "title", "base", "meta", "time", "named")  # kinds that end no line of text
_LINK = LINK.encode()
_OPEN, _CLOSE = (BREAK + OPEN).encode(), (BREAK + CLOSE).encode()
_WITHOUT_EVENTS = 1  # lexbor: no mutation callbacks


def read_lexbor(html: str | bytes, max_links: int) -> RawHtml:
    """The findings of lexbor in a text, or in its UTF-8, before any judgement. One walk sorts the elements: a query
    for each
    kind costs as much."""
    tree = LexborHTMLParser(html, options=_WITHOUT_EVENTS)
    if tree.root is None:
        return RawHtml()
    kinds: dict[str, list[LexborNode]] = {kind: [] for kind in _KINDS}
    places, inline = {tag_id: kinds[kind] for tag_id, kind in _KIND_OF_ID.items()}, kinds["inline"]
    for node in tree.root.traverse():
        places.get(node.tag_id, inline).append(node)
    root = tree.root.attributes
    reading = RawHtml(
        title=kinds["title"][0].text() if kinds["title"] else "",
        language=root.get("lang") or root.get("xml:lang") or "",
        linked_data=_linked_data(kinds["script"]),
        headings=[node.text_lexbor()[: 2 * MAX_HEADING_CHARS] for node in kinds["heading"][:MAX_HEADINGS]],
    )
    _read_metas(reading, kinds["meta"])
    _read_head(reading, kinds)
    worded = _read_links(reading, kinds["link"], 2 * max_links)
    _flatten(kinds, worded)  # last: it rearranges the tree
    tree.merge_text_nodes()
    reading.text = tree.body.text(separator=BREAK, skip_empty=True) if tree.body is not None else ""
    return reading


def _read_head(reading: RawHtml, kinds: dict[str, list[LexborNode]]) -> None:
    """Note in `reading` the base of links, other forms of the page, and times, which single elements name."""
    bases = (node.attributes for node in kinds["base"])
    reading.base = next((values["href"] or "" for values in bases if "href" in values), None)
    for node in kinds["named"]:
        reading.take_link_element(node.attributes)
    times = [values for node in kinds["time"] if "datetime" in (values := node.attributes)][:_MAX_TIMES]
    reading.times = [time_of(values.get("itemprop") or "", values["datetime"] or "") for values in times]


def _read_links(reading: RawHtml, nodes: list[LexborNode], most: int) -> list[LexborNode]:
    """Read at most so many links, each its reference, text and relations; return those that have a text."""
    worded = []
    for node in nodes:
        if "href" not in (values := node.attributes):
            continue
        if len(reading.links) >= most:
            break
        text = node.text_lexbor()
        reading.links.append((values["href"] or "", text[: 2 * MAX_ANCHOR_CHARS], values.get("rel") or ""))
        if text:
            worded.append(node)
    return worded


def _flatten(kinds: dict[str, list[LexborNode]], links: list[LexborNode]) -> None:
    """Leave in the body the text that people see, with the marks of crawl/content/boilerplate.py, and only those
    elements that end a line. Texts that become neighbours are one piece. Outer elements go before inner ones, so each
    text is moved once."""
    for node in links:
        node.insert_before(_LINK)
        node.insert_child(_LINK)
    for node in kinds["boilerplate"]:
        node.insert_before(_OPEN)
        node.insert_child(_CLOSE)
    for node in chain(kinds["script"], kinds["hidden"]):
        node.decompose(recursive=False)  # taken out, not freed: nodes inside it may be in the lists, too
    for node in chain.from_iterable(map(kinds.__getitem__, _INLINE)):
        node.unwrap(delete_empty=True)


def _read_metas(reading: RawHtml, nodes: list[LexborNode]) -> None:
    all_ = [node.attributes for node in nodes]
    found = islice((v for v in all_ if "name" in v or "property" in v or "itemprop" in v), _MAX_METAS)
    names = ("name", "property", "itemprop")
    reading.metas = [(next(filter(None, map(v.get, names)), "").lower(), v.get("content") or "") for v in found]
    for node, v in zip(nodes, all_, strict=True):
        if "http-equiv" in v and (v["http-equiv"] or "").strip().lower() == "refresh":
            outer = _outer_tags(node)
            if "template" not in outer and len(reading.refreshes) < _MAX_REFRESHES:
                reading.refreshes.append((v.get("content") or "", "noscript" in outer))


def _outer_tags(node: LexborNode) -> set[str]:
    tags = set[str]()
    while (parent := node.parent) is not None:
        tags.add(parent.tag or "")
        node = parent
    return tags


def _linked_data(scripts: list[LexborNode]) -> str:
    found = [node for node in scripts if node.attributes.get("type") == LINKED_DATA_TYPE][:_MAX_SCRIPTS]
    return "".join(node.text() for node in found)[:MAX_LINKED_CHARS]
