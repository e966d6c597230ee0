"""A page's text, title, headings and links.

Pure: text in, values out; runs in parser processes. Blocks become lines, so that words do not run together across
paragraphs and inline markup does not cut words apart. Scripts, styles and hidden templates are dropped; navigation
stays, as boilerplate apart from the main text (boilerplate.py).
"""

from codecs import BOM_UTF8
from collections.abc import Iterable
from itertools import chain, islice

from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawl.canonical_url import find_url
from crawl.content.boilerplate import CLOSE, LINK, OPEN, read_texts
from crawl.content.dates import find_dates
from crawl.content.decode import decode_text
from crawl.content.extract_lxml import read_lxml
from crawl.content.extract_pdf import FEW_PAGES, MAX_PAGES, read_pdf
from crawl.content.feeds import feeds_of
from crawl.content.fingerprint import fingerprint
from crawl.content.language import guess_language
from crawl.content.page import Link
from crawl.content.parse_task import ParseResult, ParseTask
from crawl.content.raw_html import (
    BLOCKS,
    BOILERPLATE,
    BREAK,
    HIDDEN,
    MAX_ALTERNATES,
    MAX_LINKED_CHARS,
    RawHtml,
    time_of,
)
from crawl.content.robots_directives import is_unendorsed, meta_directives
from crawl.content.similarity import signature

MAX_TITLE_CHARS = 512
MAX_HEADINGS = 200
MAX_HEADING_CHARS = 300
MAX_ANCHOR_CHARS = 200
MAX_DESCRIPTION_CHARS = 500
PDF_TYPE = "application/pdf"
HTML_TYPES = frozenset(("text/html", "application/xhtml+xml"))
LINKED_DATA_TYPE = "application/ld+json"
_MAX_METAS, _MAX_TIMES, _MAX_SCRIPTS = 200, 20, 10  # of each page
_KIND_OF: dict[str | None, str] = {  # what the elements of a page are read for; all others are "inline"
    **dict.fromkeys((*BLOCKS, "html", "head", "body", "frameset"), "block"),
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), "heading"),
    **dict.fromkeys(BOILERPLATE, "boilerplate"),
    **dict.fromkeys(HIDDEN, "hidden"),
    **dict.fromkeys(("a", "area"), "link"),
    **{tag: tag for tag in ("title", "base", "meta", "script", "time")},
    "link": "named",
}
_KINDS = ("inline", *dict.fromkeys(_KIND_OF.values()))
_INLINE = ("inline", "link", "title", "base", "meta", "time", "named")  # kinds that end no line of text
_LINK = LINK.encode()
_OPEN, _CLOSE = (BREAK + OPEN).encode(), (BREAK + CLOSE).encode()
_WITHOUT_EVENTS = 1  # lexbor: no mutation callbacks


def extract(task: ParseTask) -> ParseResult:
    """Read one page with the engine that the task names; the caller guards against stalls and crashes."""
    if task.media_type == PDF_TYPE:
        return _pdf(task)
    text, charset = decode_text(task.body, task.header_charset)
    if task.media_type not in HTML_TYPES:
        return _plain(task, text, charset)
    if task.engine == "lxml":
        return _parsed(task, read_lxml(text, task.max_links), charset)
    is_utf8 = charset == "utf-8" and "\ufffd" not in text and not task.body.startswith(BOM_UTF8)
    return _parsed(task, read_lexbor(task.body if is_utf8 else text, task.max_links), charset)


def read_lexbor(html: str | bytes, max_links: int) -> RawHtml:
    """What lexbor finds in a text, or in its UTF-8, before any judgement. One walk sorts the elements: a query for each
    kind costs as much."""
    tree = LexborHTMLParser(html, options=_WITHOUT_EVENTS)
    if tree.root is None:
        return RawHtml()
    kinds: dict[str, list[LexborNode]] = {kind: [] for kind in _KINDS}
    places, inline = {tag: kinds[kind] for tag, kind in _KIND_OF.items()}, kinds["inline"]
    for node in tree.root.traverse():
        places.get(node.tag, inline).append(node)
    root = tree.root.attributes
    reading = RawHtml(
        title=kinds["title"][0].text() if kinds["title"] else "",
        language=root.get("lang") or root.get("xml:lang") or "",
        metas=_metas(kinds["meta"]),
        linked_data=_linked_data(kinds["script"]),
        headings=[node.text()[: 2 * MAX_HEADING_CHARS] for node in kinds["heading"][:MAX_HEADINGS]],
    )
    _read_head(reading, kinds)
    worded = _read_links(reading, kinds["link"], 2 * max_links)
    _flatten(kinds, worded)  # last: it rearranges the tree
    tree.merge_text_nodes()
    reading.text = tree.body.text(separator=BREAK, skip_empty=True) if tree.body is not None else ""
    return reading


def _read_head(reading: RawHtml, kinds: dict[str, list[LexborNode]]) -> None:
    """What single elements name: the base of links, other forms of the page, times."""
    bases = (node.attributes for node in kinds["base"])
    reading.base = next((values["href"] or "" for values in bases if "href" in values), None)
    for values in (node.attributes for node in kinds["named"]):
        if "href" not in values:
            continue
        rels, href = (values.get("rel") or "").lower().split(), values["href"] or ""
        if "canonical" in rels and reading.canonical is None:
            reading.canonical = href
        if "alternate" in rels and "type" in values and len(reading.alternates) < MAX_ALTERNATES:
            reading.alternates.append((values["type"] or "", href))
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
        text = node.text()
        reading.links.append((values["href"] or "", text[: 2 * MAX_ANCHOR_CHARS], values.get("rel") or ""))
        if text:
            worded.append(node)
    return worded


def _flatten(kinds: dict[str, list[LexborNode]], links: list[LexborNode]) -> None:
    """Leave in the body the text that people see, with the marks of crawl/content/boilerplate.py, and no elements but
    those that end a line: texts that are then neighbours are one piece. Outer elements go before inner ones, so each
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


def _metas(nodes: list[LexborNode]) -> list[tuple[str, str]]:
    all_ = (node.attributes for node in nodes)
    found = islice((v for v in all_ if "name" in v or "property" in v or "itemprop" in v), _MAX_METAS)
    names = ("name", "property", "itemprop")
    return [(next(filter(None, map(v.get, names)), "").lower(), v.get("content") or "") for v in found]


def _linked_data(scripts: list[LexborNode]) -> str:
    found = [node for node in scripts if node.attributes.get("type") == LINKED_DATA_TYPE][:_MAX_SCRIPTS]
    return "".join(node.text() for node in found)[:MAX_LINKED_CHARS]


def _plain(task: ParseTask, text: str, charset: str) -> ParseResult:
    """Read a text/plain page; its first line is the best title that it has."""
    lines = _lines(text.split("\n"), task.max_text_chars)
    title = lines.partition("\n")[0][:MAX_TITLE_CHARS]
    return ParseResult(
        charset=charset,
        language=guess_language("", lines),
        title=title,
        headings=(),
        text=lines,
        links=(),
        fingerprint=fingerprint(title, lines, lines),
        signature=signature(lines),
    )


def _pdf(task: ParseTask) -> ParseResult:
    """Read a PDF file; its first line is the best title where it has none."""
    reading, published_at, modified_at = read_pdf(
        task.body, task.max_text_chars, MAX_PAGES if task.engine == "lexbor" else FEW_PAGES
    )
    text = _lines(reading.text.split(BREAK), task.max_text_chars)
    title = " ".join(reading.title.split()) or text.partition("\n")[0]
    return ParseResult(
        charset="",
        language=guess_language("", text),
        title=title[:MAX_TITLE_CHARS],
        headings=(),
        text=text,
        links=(),
        fingerprint=fingerprint(title, text, text),
        signature=signature(text),
        published_at=published_at,
        modified_at=modified_at,
    )


def _parsed(task: ParseTask, reading: RawHtml, charset: str) -> ParseResult:
    """Judge what an engine found: bounds, canonical URLs, directives for robots."""
    texts = read_texts(reading.text, task.max_text_chars)
    title = " ".join(reading.title.split())[:MAX_TITLE_CHARS]
    base = (find_url(reading.base, task.url) if reading.base else None) or task.url
    published_at, modified_at = find_dates(reading.linked_data, (*reading.metas, *reading.times))
    canonical = find_url(reading.canonical, base) if reading.canonical else None
    return ParseResult(
        charset=charset,
        language=guess_language(reading.language, texts.main),
        title=title,
        headings=tuple(h for h in (" ".join(raw.split())[:MAX_HEADING_CHARS] for raw in reading.headings) if h),
        text=texts.main,
        boilerplate=texts.boilerplate,
        links=_links(reading.links, base, task),
        directives=meta_directives(reading.metas, task.agent),
        fingerprint=fingerprint(title, f"{texts.main}\n{texts.boilerplate}", texts.steady),
        signature=signature(texts.main),
        description=_description(reading.metas),
        published_at=published_at,
        modified_at=modified_at,
        canonical=canonical if canonical and canonical != task.url else "",
        feeds=feeds_of(reading.alternates, base),
    )


def _description(metas: list[tuple[str, str]]) -> str:
    """Return what the page says of itself in one paragraph."""
    said = dict(reversed(metas))  # of several the first
    text = said.get("description") or said.get("og:description") or ""
    return " ".join(text.split())[:MAX_DESCRIPTION_CHARS]


def _links(found: Iterable[tuple[str, str, str]], base: str, task: ParseTask) -> tuple[Link, ...]:
    """List each target once, in order, with the first anchor text that is not empty; followed if any link may be."""
    links: dict[str, Link] = {}
    urls: dict[str, str | None] = {}  # by reference: one in three stands twice, or differs by its fragment
    for reference, raw, rel in found:
        href = reference.partition("#")[0]
        if not href and reference:
            continue
        if href not in urls:
            urls[href] = find_url(href, base)
        url = urls[href]
        known = links.get(url) if url is not None else None
        if url is None or url == task.url or (known is None and len(links) >= task.max_links):
            continue
        if known is None:
            links[url] = Link(url, " ".join(raw.split())[:MAX_ANCHOR_CHARS], bool(rel) and is_unendorsed(rel))
        elif not known.anchor or known.nofollow:
            anchor = known.anchor or " ".join(raw.split())[:MAX_ANCHOR_CHARS]
            links[url] = Link(url, anchor, known.nofollow and is_unendorsed(rel))
    return tuple(links.values())


def _lines(raws: Iterable[str], max_chars: int) -> str:
    """Collapse white space, drop empty lines, and cut at a bound."""
    lines = [line for raw in raws if (line := " ".join(raw.split()))]
    return "\n".join(lines)[:max_chars]
