"""A page's text, title, headings and links.

Pure: text in, values out; runs in parser processes. Blocks become lines, so that words do not run together across
paragraphs and inline markup does not cut words apart. Scripts, styles and hidden templates are dropped; navigation
stays, as boilerplate apart from the main text (maintext.py).
"""

from collections.abc import Iterable

from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawl.dates import find_dates
from crawl.decode import decode_text
from crawl.extract_lxml import read_lxml
from crawl.extract_pdf import FEW_PAGES, MAX_PAGES, read_pdf
from crawl.feeds import feeds_of
from crawl.fingerprint import fingerprint
from crawl.language import guess_language
from crawl.maintext import CLOSE, LINK, OPEN, read_texts
from crawl.page import Link
from crawl.parsed import Parsed, Task
from crawl.reading import BLOCKS, BOILERPLATE, BREAK, HIDDEN, MAX_ALTERNATES, MAX_LINKED_CHARS, Reading, time_of
from crawl.similarity import signature
from crawl.urls import find_url
from crawl.wishes import is_unendorsed, meta_wishes

MAX_TITLE_CHARS = 512
MAX_HEADINGS = 200
MAX_HEADING_CHARS = 300
MAX_ANCHOR_CHARS = 200
MAX_DESCRIPTION_CHARS = 500
PDF_TYPE = "application/pdf"
HTML_TYPES = frozenset(("text/html", "application/xhtml+xml"))
_BLOCKS_CSS, _HIDDEN_CSS, _BOILERPLATE_CSS = ",".join(BLOCKS), ",".join(HIDDEN), ",".join(BOILERPLATE)
_LINKED_DATA_CSS = 'script[type="application/ld+json"]'
_WITHOUT_EVENTS = 1  # lexbor: no mutation callbacks


def extract(task: Task) -> Parsed:
    """Read one page with the engine that the task names; the caller guards against stalls and crashes."""
    if task.media_type == PDF_TYPE:
        return _pdf(task)
    text, charset = decode_text(task.body, task.header_charset)
    if task.media_type not in HTML_TYPES:
        return _plain(task, text, charset)
    reading = read_lxml(text, task.max_links) if task.engine == "lxml" else read_lexbor(text, task.max_links)
    return _parsed(task, reading, charset)


def read_lexbor(html: str, max_links: int) -> Reading:
    """What lexbor finds, before any judgement."""
    tree = LexborHTMLParser(html, options=_WITHOUT_EVENTS)
    root = tree.root
    if root is None:
        return Reading()
    base = tree.css_first("base[href]")
    title = tree.css_first("title")
    metas = [_meta(node) for node in tree.css("meta[name],meta[property],meta[itemprop]")[:200]]
    headings = [node.text()[: 2 * MAX_HEADING_CHARS] for node in tree.css("h1,h2,h3,h4,h5,h6")[:MAX_HEADINGS]]
    links = [_anchor(node) for node in tree.css("a[href],area[href]")[: 2 * max_links]]  # from here on links are marked
    times = tree.css("time[datetime]")[:20]
    named = tree.css_first("link[rel~=canonical i][href]")
    alternates = tree.css("link[rel~=alternate i][type][href]")[:MAX_ALTERNATES]
    html_node = tree.css_first("html")
    reading = Reading(
        title=title.text() if title else "",
        base=_attribute(base, "href") if base is not None else None,
        language=_attribute(html_node, "lang") or _attribute(html_node, "xml:lang"),
        canonical=_attribute(named, "href") if named is not None else None,
        metas=metas,
        alternates=[(_attribute(node, "type"), _attribute(node, "href")) for node in alternates],
        times=[time_of(_attribute(node, "itemprop"), _attribute(node, "datetime")) for node in times],
        linked_data="".join(node.text() for node in tree.css(_LINKED_DATA_CSS)[:10])[:MAX_LINKED_CHARS],
        links=links,
        headings=headings,
    )
    reading.text = _body_text(tree)  # last: it rearranges the tree
    return reading


def _body_text(tree: LexborHTMLParser) -> str:
    body = tree.body
    if body is None:
        return ""
    for node in body.css(_HIDDEN_CSS):
        node.decompose()
    for node in body.css(_BLOCKS_CSS):
        node.insert_before(BREAK)
        if node.tag not in ("br", "hr"):
            node.insert_child(BREAK)
    for node in body.css(_BOILERPLATE_CSS):
        node.insert_before(OPEN)
        node.insert_child(CLOSE)
    return body.text()


def _attribute(node: LexborNode | None, name: str) -> str:
    return (node.attributes.get(name) or "") if node is not None else ""


def _meta(node: LexborNode) -> tuple[str, str]:
    values = node.attributes
    name = values.get("name") or values.get("property") or values.get("itemprop") or ""
    return name.lower(), values.get("content") or ""


def _anchor(node: LexborNode) -> tuple[str, str, str]:
    values = node.attributes
    text = node.text()
    if text:
        node.insert_before(LINK)
        node.insert_child(LINK)
    return values.get("href") or "", text[: 2 * MAX_ANCHOR_CHARS], values.get("rel") or ""


def _plain(task: Task, text: str, charset: str) -> Parsed:
    """A text/plain page: its first line is the best title that it has."""
    lines = _lines(text.split("\n"), task.max_text_chars)
    title = lines.partition("\n")[0][:MAX_TITLE_CHARS]
    return Parsed(
        charset=charset,
        language=guess_language("", lines),
        title=title,
        headings=(),
        text=lines,
        links=(),
        fingerprint=fingerprint(title, lines, lines),
        signature=signature(lines),
    )


def _pdf(task: Task) -> Parsed:
    """A PDF file; its first line is the best title where it has none."""
    reading, published_at, modified_at = read_pdf(
        task.body, task.max_text_chars, MAX_PAGES if task.engine == "lexbor" else FEW_PAGES
    )
    text = _lines(reading.text.split(BREAK), task.max_text_chars)
    title = " ".join(reading.title.split()) or text.partition("\n")[0]
    return Parsed(
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


def _parsed(task: Task, reading: Reading, charset: str) -> Parsed:
    """Judge what an engine found: bounds, canonical URLs, the page's wishes."""
    texts = read_texts(reading.text, task.max_text_chars)
    title = " ".join(reading.title.split())[:MAX_TITLE_CHARS]
    base = (find_url(reading.base, task.url) if reading.base else None) or task.url
    published_at, modified_at = find_dates(reading.linked_data, (*reading.metas, *reading.times))
    canonical = find_url(reading.canonical, base) if reading.canonical else None
    return Parsed(
        charset=charset,
        language=guess_language(reading.language, texts.main),
        title=title,
        headings=tuple(h for h in (" ".join(raw.split())[:MAX_HEADING_CHARS] for raw in reading.headings) if h),
        text=texts.main,
        boilerplate=texts.boilerplate,
        links=_links(reading.links, base, task),
        wishes=meta_wishes(reading.metas, task.agent),
        fingerprint=fingerprint(title, f"{texts.main}\n{texts.boilerplate}", texts.steady),
        signature=signature(texts.main),
        description=_description(reading.metas),
        published_at=published_at,
        modified_at=modified_at,
        canonical=canonical if canonical and canonical != task.url else "",
        feeds=feeds_of(reading.alternates, base),
    )


def _description(metas: list[tuple[str, str]]) -> str:
    """What the page says of itself in one paragraph."""
    said = dict(reversed(metas))  # of several the first
    text = said.get("description") or said.get("og:description") or ""
    return " ".join(text.split())[:MAX_DESCRIPTION_CHARS]


def _links(found: Iterable[tuple[str, str, str]], base: str, task: Task) -> tuple[Link, ...]:
    """Each target once, in order; the first anchor text that is not empty; followed if any link to it may be."""
    links: dict[str, Link] = {}
    for href, anchor, rel in found:
        if href.startswith("#"):
            continue
        url = find_url(href, base)
        if url is None or url == task.url or (url not in links and len(links) >= task.max_links):
            continue
        link = Link(url, " ".join(anchor.split())[:MAX_ANCHOR_CHARS], is_unendorsed(rel))
        known = links.get(url)
        links[url] = Link(url, known.anchor or link.anchor, known.nofollow and link.nofollow) if known else link
    return tuple(links.values())


def _lines(raws: Iterable[str], max_chars: int) -> str:
    """White space collapsed, empty lines dropped, cut at a bound."""
    lines = [line for raw in raws if (line := " ".join(raw.split()))]
    return "\n".join(lines)[:max_chars]
