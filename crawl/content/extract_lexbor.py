"""The first HTML engine: lexbor, fast, and as tolerant of broken markup as browsers are.

Pure: text in, values out. Blocks become lines, so that words do not run together across paragraphs and inline markup
does not cut words apart. Scripts, styles and hidden templates are dropped.
"""

from collections.abc import Iterable
from itertools import chain, islice

from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawl.content.article_lexbor import IMAGE_REACH, mark_article, parents_of, read_times
from crawl.content.images import find_images
from crawl.content.linked_data import is_linked_data
from crawl.content.raw_html import (
    BOILERPLATE,
    BREAK,
    CLOSE,
    LINK,
    MAX_ANCHOR_CHARS,
    MAX_HEADING_CHARS,
    MAX_HEADINGS,
    MAX_LINKED_CHARS,
    MAX_METAS,
    MAX_REFRESHES,
    MAX_SCRIPTS,
    OPEN,
    OPENLY,
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
    places,
    telling_attributes,
)

_KIND_OF: dict[
    str, str
] = {  # what the elements of a page are read for; all others are "inline", and marks headings or images
    **dict.fromkeys(BLOCKS, "block"),
    **dict.fromkeys(BOILERPLATE, "boilerplate"),
    **dict.fromkeys(HIDDEN, "hidden"),
    **dict.fromkeys(BOXES, "box"),
    **dict.fromkeys(REPLACED, "replaced"),
    **dict.fromkeys(FRAMES, "frame"),
    **dict.fromkeys(("a", "area"), "link"),
    **{
        tag: tag for tag in ("title", "base", "meta", "script", "time", "template", "dialog", "noscript", "math", "pre")
    },
    "svg": "svg",
    "link": "named",
    "head": "block",
    **dict.fromkeys((*HEADINGS, "img"), "mark"),
}
_KINDS = ("inline", *dict.fromkeys(_KIND_OF.values()))
_new_element = LexborHTMLParser("").create_node
_NUMBER_OF_ID = {_new_element(tag).tag_id: _KINDS.index(kind) for tag, kind in _KIND_OF.items()}  # by lexbor's numbers
_IMAGE = _new_element("img").tag_id
_INLINE = ("inline", "box", "base", "meta", "time", "named", "math")  # kinds that end no line of text
_LINK, _BREAK = LINK.encode(), BREAK.encode()
_OPEN, _CLOSE = (BREAK + OPEN).encode(), (BREAK + CLOSE).encode()
_WITHOUT_EVENTS = 1  # lexbor: no mutation callbacks
_BLANK = f" \t\n\f\r{BREAK}"
_HYPHENS = ("-\n", "\u2010\n", "\u00ad\n")
_MAX_NAMED = 100  # elements in a link
_SOURCES = ",".join(FORMULA_SOURCES)
_MAX_DEPTH = 8  # of shadow roots within shadow roots

Kinds = dict[str, list[LexborNode]]


def read_lexbor(html: str | bytes, max_links: int, *, shows_all: bool = False) -> RawHtml:
    """The findings of lexbor in a text, or in its UTF-8, before any judgement. One walk sorts the elements: a query for
    each kind costs as much. `shows_all`: what attributes or `noscript` hide is read, too."""
    tree = LexborHTMLParser(html, options=_WITHOUT_EVENTS)
    if tree.root is None:
        return RawHtml()
    kinds = _sorted(tree.root)
    if any(is_shadow_root(node.attributes) for node in kinds["template"]):
        _open_shadow_roots(tree.root)
        kinds = _sorted(tree.root)
    root = tree.root.attributes
    reading = RawHtml(
        title=next((node.text() for node in kinds["title"] if not kinds["svg"] or not _is_inside(node, "svg")), ""),
        language=root.get("lang") or root.get("xml:lang") or "",
        shows_all=shows_all,
        linked_data=_linked_data(kinds["script"]),
    )
    _read_metas(reading, kinds["meta"])
    _read_head(reading, kinds)
    if kinds["time"]:
        reading.times = read_times(tree.root)
    if kinds["image"]:
        reading.images = find_images(kinds["mark"], IMAGE_REACH)
    source = html if isinstance(html, bytes) else html.encode("utf-8", "replace")
    has_more = _take_out(tree, kinds, source, shows_all=shows_all)
    _read_body(reading, tree, kinds, source, 2 * max_links)
    if has_more and not has_words(reading.text):
        return read_lexbor(html, max_links, shows_all=True)
    return reading


def _read_body(reading: RawHtml, tree: LexborHTMLParser, kinds: Kinds, source: bytes, most_links: int) -> None:
    """Read links, headings and text of what is shown. It flattens the tree."""
    in_pieces, wrapped = _read_links(reading, kinds["link"], most_links)
    mark_article(tree, source)
    _flatten(kinds)
    for number, node in in_pieces:
        node.merge_text_nodes()
        href, _, rel = reading.links[number]
        reading.links[number] = href, _line(node)[: 2 * MAX_ANCHOR_CHARS], rel
    for node in wrapped:
        node.unwrap(delete_empty=True)
    tree.merge_text_nodes()
    for node in kinds["pre"]:
        _join_lines(node)
    reading.headings = [_line(node)[: 2 * MAX_HEADING_CHARS] for node in kinds["heading"][:MAX_HEADINGS]]
    levels = zip(kinds["heading"], reading.headings, strict=False)
    reading.first_heading = next((line for node, line in levels if line.strip() and node.tag == "h1"), "")
    reading.text = tree.body.text(separator=BREAK, skip_empty=True) if tree.body is not None else ""


def _sorted(root: LexborNode) -> Kinds:
    lists: list[list[LexborNode]] = [[] for _ in _KINDS]
    adders, number_of = [each.append for each in lists], _NUMBER_OF_ID.get
    for node in root.traverse():
        adders[number_of(node.tag_id, 0)](node)
    kinds = dict(zip(_KINDS, lists, strict=True))
    kinds["image"] = [node for node in kinds["mark"] if node.tag_id == _IMAGE]
    kinds["heading"] = [node for node in kinds["mark"] if node.tag_id != _IMAGE]
    return kinds


def _open_shadow_roots(node: LexborNode, depth: int = 0) -> None:
    """Put what shadow roots show into their places."""
    for fragment in node.template_fragments():
        template = fragment.parent
        if template is None or not is_shadow_root(template.attributes):
            continue
        if depth < _MAX_DEPTH:
            _open_shadow_roots(fragment, depth + 1)
        for child in list(fragment.iter(include_text=True)):
            template.insert_before(child)
        template.decompose(recursive=False)


def _read_head(reading: RawHtml, kinds: Kinds) -> None:
    """Note in `reading` the base of links, pages beside this one and in it, and times, which single elements name."""
    bases = (node.attributes for node in kinds["base"])
    reading.base = next((values["href"] or "" for values in bases if "href" in values), None)
    for node in kinds["named"]:
        reading.take_link_element(node.attributes)
    for node in kinds["frame"]:
        reading.take_frame(node.attributes)


def _take_out(tree: LexborHTMLParser, kinds: Kinds, source: bytes, *, shows_all: bool) -> bool:
    """Take out what makes no box. Return whether words may have gone that nobody sees."""
    names = telling_attributes(source, has_buttons=bool(kinds["box"]))
    told = tree.css(",".join(f"[{name}]" for name in names)) if names else []
    _read_drawings(kinds)
    hidden: list[LexborNode] = []
    if not shows_all:
        opened = opened_by_readers(source) if told else ()
        unseen = (each for each in chain(told, kinds["dialog"]) if is_hidden(each.tag or "", each.attributes, opened))
        hidden, inside = _outermost(chain(kinds["noscript"], unseen))
        kinds["heading"] = [each for each in kinds["heading"] if not inside or each.mem_id not in inside]
        for node in hidden:
            node.merge_text_nodes()  # its links stay, each with its text
    sources = (source for node in kinds["math"] for source in node.css(_SOURCES))
    for node in chain(kinds["script"], kinds["hidden"], kinds["template"], hidden, sources):
        node.decompose(recursive=False)  # taken out, not freed: nodes inside it may be in the lists, too
    secret, _ = _outermost(each for each in told if "data-nosnippet" in each.attributes and each.tag in SNIPPETLESS)
    for node in secret:
        _keep_secret(node)
    for node in told:
        if ends_line(node.attributes):
            node.insert_before(_BREAK)
            node.insert_child(_BREAK)
    return bool(hidden)


def _flatten(kinds: Kinds) -> None:
    """Leave in the body the text that people see, with the marks of crawl/content/boilerplate.py, and only those
    elements that end a line. A box within a line has spaces around it. Texts that become neighbours are one piece.
    Outer elements go before inner ones, so each text is moved once."""
    for node in kinds["boilerplate"]:
        node.insert_before(_OPEN)
        node.insert_child(_CLOSE)
    for node in kinds["box"]:
        node.insert_before(" ")
        node.insert_after(" ")
    for node in chain(kinds["frame"], kinds["image"], kinds["replaced"], kinds["svg"]):
        node.replace_with(" ")
    for node in chain.from_iterable(map(kinds.__getitem__, _INLINE)):
        node.unwrap(delete_empty=True)


def _outermost(nodes: Iterable[LexborNode]) -> tuple[list[LexborNode], set[int]]:
    """Return those nodes that stand in none before them, and the numbers of all in them: of a nest of 20,000 each is
    looked through once."""
    found, inside = list[LexborNode](), set[int]()
    for node in nodes:
        if node.mem_id not in inside:
            found.append(node)
            inside.update(each.mem_id for each in node.traverse())
    return found, inside


def _keep_secret(node: LexborNode) -> None:
    """Note in the text what no snippet may show."""
    for text in [each for each in node.traverse(include_text=True) if each.is_text_node]:
        words = text.text_content or ""
        if words.strip() and SECRET not in words:
            text.replace_with(f"{SECRET}{words}{OPENLY}")


def _read_links(
    reading: RawHtml, nodes: list[LexborNode], most: int
) -> tuple[list[tuple[int, LexborNode]], list[LexborNode]]:
    """Read at most so many links, each its reference, text and relations, and mark those that have a text.

    Return those with a text in pieces, each with its number, and all whose element is still there."""
    most += len(reading.links)
    in_pieces, wrapped = [], []
    for node in nodes:
        values = node.attributes
        name = "href" if "href" in values else "xlink:href"
        if name not in values or len(reading.links) >= most:
            wrapped.append(node)
            continue
        text, is_bare = _text_of(node)
        if not text.strip(_BLANK):
            href = values[name] or ""
            anchor, text = "", "" if href.startswith("#") else _name_of(node, values)
            reading.take_name(href, text)
            if text and node.tag == "a":
                node.insert_child(f" {text} ")  # an image is a box
        else:
            if BREAK in text:
                in_pieces.append((len(reading.links), node))
            anchor = text[: 2 * MAX_ANCHOR_CHARS]
            anchor = without_marks(anchor) if SECRET in anchor else anchor
        reading.links.append((values[name] or "", anchor, values.get("rel") or ""))
        if is_bare and anchor and node.parent is not None:  # in one step
            node.replace_with(f"{LINK}{text}{LINK}")
            continue
        if text:
            node.insert_before(_LINK)
            node.insert_child(_LINK)
        wrapped.append(node)
    return in_pieces, wrapped


def _text_of(node: LexborNode) -> tuple[str, bool]:
    """Return the text of a link, BREAK between its pieces, and whether it is all that the link has. Most have one
    piece, and to join them takes twice as long."""
    only = node.first_child
    if only is not None and only.is_text_node and only.next is None:
        return only.text_content or "", True
    return node.text(separator=BREAK), False


def _name_of(node: LexborNode, values: dict[str, str | None]) -> str:
    """Return what stands for the words of a link that has none: the text of its images, or else its label."""
    inner = [each.attributes for each in islice(node.traverse(), 1, _MAX_NAMED)]
    found = " ".join(filter(None, ((each.get("alt") or "").strip() for each in inner)))
    labels = (each.get(name) for name in ("aria-label", "title") for each in inner)
    own = (values.get(name) for name in ("alt", "aria-label", "title"))
    return found or next((text for text in chain(own, labels) if text and text.strip()), "")


def _read_drawings(kinds: Kinds) -> None:
    """Put what drawings write onto lines of their own, and give elements that have a title inside it as `alt`."""
    for node in kinds["title"]:
        if kinds["svg"] and node.parent is not None and _is_inside(node, "svg"):
            node.parent.attrs["alt"] = node.text()
        node.decompose(recursive=False)
    for node in kinds["svg"]:
        written = node.css("text") if has_words(node.text_lexbor()) else ()
        if written:
            lines = (each.text(separator=" ") for each in written)
            node.insert_before(f"{BREAK}{BREAK.join(lines)}{BREAK}")
            node.decompose(recursive=False)


def _join_lines(node: LexborNode) -> None:
    """Join what hyphens part at the ends of lines in text that is shown as it is written."""
    words = node.text_lexbor()
    if not any(hyphen in words and _parts_word(words, hyphen) for hyphen in _HYPHENS):
        return  # much faster than to look for words
    for text in [each for each in node.traverse(include_text=True) if each.is_text_node]:
        words = text.text_content or ""
        if (joined := join_hyphens(words)) != words:
            text.replace_with(joined)


def _parts_word(words: str, hyphen: str) -> bool:
    return any(words[at - 1 : at].isalpha() for at in places(words, hyphen))


def _line(node: LexborNode) -> str:
    """Return the text of a heading, its lines as one."""
    only = node.first_child
    if only is not None and only.is_text_node and only.next is None:
        text = only.text_content or ""
    else:
        text = node.text(separator=" ")
    text = text.replace(LINK, "")
    return without_marks(text) if BREAK in text or SECRET in text else text


def _is_inside(node: LexborNode, tag: str) -> bool:
    return any(parent.tag == tag for parent in parents_of(node))


def _read_metas(reading: RawHtml, nodes: list[LexborNode]) -> None:
    all_ = [node.attributes for node in nodes]
    found = islice((v for v in all_ if "name" in v or "property" in v or "itemprop" in v), MAX_METAS)
    names = ("name", "property", "itemprop")
    reading.metas = [(next(filter(None, map(v.get, names)), "").lower(), v.get("content") or "") for v in found]
    for node, v in zip(nodes, all_, strict=True):
        kind = (v["http-equiv"] or "").strip().lower() if "http-equiv" in v else ""
        if kind == "content-language":
            reading.take_content_language(v.get("content"))
        if kind == "refresh":
            outer = {parent.tag for parent in parents_of(node)}
            if "template" not in outer and len(reading.refreshes) < MAX_REFRESHES:
                reading.refreshes.append((v.get("content") or "", "noscript" in outer))


def _linked_data(scripts: list[LexborNode]) -> list[str]:
    found = islice((node for node in scripts if is_linked_data(node.attributes.get("type"))), MAX_SCRIPTS)
    return [node.text()[:MAX_LINKED_CHARS] for node in found]
