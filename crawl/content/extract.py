"""A page's text, title, headings and links: what an engine found, judged, bounded and in canonical form.

Pure: bytes in, values out; runs in parser processes. Navigation stays, apart from the main text (boilerplate.py).
"""

import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping
from html import unescape

from msgspec.structs import replace

from crawl.canonical_url import find_url, literal_url
from crawl.content.article import settle_article
from crawl.content.boilerplate import read_texts
from crawl.content.dates import date_of_path, find_dates
from crawl.content.decode import decode_text
from crawl.content.extract_lexbor import read_lexbor
from crawl.content.extract_pdf import FEW_PAGES, MAX_PAGES, read_pdf
from crawl.content.fingerprint import fingerprint, signature
from crawl.content.images import settle_images
from crawl.content.language import guess_language
from crawl.content.linked_data import linked_dates
from crawl.content.page import Link, ParseResult, ParseTask
from crawl.content.printed_date import date_by_title, printed_dates
from crawl.content.raw_html import BREAK, LINK, MAX_ANCHOR_CHARS, MAX_HEADING_CHARS, RawHtml
from crawl.content.rendering import join_hyphens
from crawl.content.robots_directives import is_unendorsed, meta_directives
from crawl.content.scripts import needs_script, script_move
from crawl.content.xhtml import html_of
from crawl.fetch.link_header import MOVES_WITHIN_S, feeds_of, parse_refresh
from crawl.fetch.response import HTML_TYPES, PDF_TYPE, XHTML_TYPE
from dht import site_of

MAX_TITLE_CHARS = 512
MAX_DESCRIPTION_CHARS = 500
NO_TITLES = frozenset(  # what editors and frameworks put there, in lower case
    (
        *("untitled", "untitled document", "untitled page", "untitled 1", "new page", "new page 1", "new page 2"),
        *("document", "no title", "title", "insert title here", "page title", "react app", "vite app", "sans titre"),
        *("document sans titre", "documento sin título", "documento senza titolo", "documento sem título"),
        *("unbenanntes dokument", "документ без названия", "无标题文档", "無標題文件", "無題ドキュメント", "제목 없음"),
    )
)
_NAMES = ("og:title", "twitter:title", "dc.title", "citation_title")
_BESIDE_LINK = re.compile(f"{LINK}(?=[0-9]{{0,3}}{LINK})")  # between two links, and before the number of a note
_ESCAPED = re.compile(r"&(?:amp|quot|apos|#\d{2,5}|#[xX][0-9a-fA-F]{2,4});")


def extract(task: ParseTask) -> ParseResult:
    """Read one page with the engine that the task names; the caller guards against stalls and crashes."""
    if task.media_type == PDF_TYPE:
        return _pdf(task)
    text, charset = decode_text(task.body, task.header_charset)
    if task.media_type not in HTML_TYPES:
        return _plain(task, text, charset)
    as_html = html_of(text) if task.media_type == XHTML_TYPE else None
    text = text if as_html is None else as_html
    if task.engine == "lxml":
        from crawl.content.extract_lxml import read_lxml  # 1 MB, for one page in thousands

        return _parsed(task, read_lxml(text, task.max_links), charset, text)
    is_utf8 = charset == "utf-8" and as_html is None and "\ufffd" not in text and not task.body.startswith(BOM_UTF8)
    return _parsed(task, read_lexbor(task.body if is_utf8 else text, task.max_links), charset, text)


def _plain(task: ParseTask, text: str, charset: str) -> ParseResult:
    """Read a text/plain page; its first line is the best title that it has."""
    lines = _lines(join_hyphens(text).split("\n"), task.max_text_chars)
    return without_markup(charset, lines.partition("\n")[0][:MAX_TITLE_CHARS], lines)


def _pdf(task: ParseTask) -> ParseResult:
    """Read a PDF file; its first line is the best title where it has none."""
    max_pages = MAX_PAGES if task.engine == "lexbor" else FEW_PAGES
    reading, published_at, modified_at = read_pdf(task.body, task.max_text_chars, max_pages)
    text = _lines(join_hyphens(reading.text.replace(BREAK, "\n")).split("\n"), task.max_text_chars)
    page = without_markup("", " ".join(reading.title.split()) or text.partition("\n")[0], text)
    return replace(page, published_at=published_at, modified_at=modified_at)


def without_markup(charset: str, title: str, text: str, language: str = "") -> ParseResult:
    """Return the page that a text without markup is. `language`: as the file declares it."""
    language, said, signed = guess_language(language, text), fingerprint(title, text, text), signature(text)
    return ParseResult(charset, language, title[:MAX_TITLE_CHARS], (), text, (), fingerprint=said, signature=signed)


def _parsed(task: ParseTask, reading: RawHtml, charset: str, source: str) -> ParseResult:
    """Judge what an engine found in a source: bounds, canonical URLs, directives for robots."""
    if charset != "utf-8":
        reading.encode_queries(charset)
    reading.text = _BESIDE_LINK.sub(f" {LINK}", reading.text)
    texts = read_texts(settle_article(reading.text), task.max_text_chars)
    title = _title(reading, is_front=task.url.count("/") == 3 and task.url[-1] == "/")
    base = (find_url(reading.base, task.url) if reading.base else None) or task.url
    published_at, modified_at = find_dates((*linked_dates(reading.linked_data), *reading.metas, *reading.times))
    if not published_at and not modified_at and not (published_at := date_of_path(task.url)):
        printed = printed_dates(texts.main)
        published_at, modified_at = printed if any(printed) else printed_dates(texts.boilerplate)
        published_at = published_at or date_by_title(reading.text, reading.headings, title)
    canonical = find_url(reading.canonical, base) if reading.canonical else None
    has_text = bool(texts.main or texts.boilerplate) and not reading.shows_all
    moved_to, moved_by = _refresh(reading, base, has_text=has_text) if reading.refreshes else "", "a meta refresh"
    if not moved_to and (reference := script_move(source)):
        target, moved_by = literal_url(reference, base), "a script"
        moved_to = target if target and target != task.url else ""
    return ParseResult(
        charset=charset,
        language=guess_language(reading.language, texts.main),
        title=title,
        headings=tuple(h for h in (" ".join(raw.split())[:MAX_HEADING_CHARS] for raw in reading.headings) if h),
        text=texts.main,
        boilerplate=texts.boilerplate,
        links=canonical_links((*_frames(reading.frames, base, task.url), *reading.links), reading.names, base, task),
        directives=meta_directives(reading.metas, task.agent),
        fingerprint=fingerprint(title, f"{texts.main}\n{texts.boilerplate}", texts.steady),
        signature=signature(texts.main),
        description=_description(reading.metas),
        published_at=published_at,
        modified_at=modified_at,
        canonical=canonical if canonical and canonical != task.url else "",
        feeds=feeds_of(reading.alternates, base),
        moved_to=moved_to,
        moved_by=moved_by if moved_to else "",
        needs_script=needs_script(source, len(texts.main) + len(texts.boilerplate)),
        images=settle_images(reading.images, base) if reading.images else (),
    )


def _refresh(reading: RawHtml, base: str, *, has_text: bool) -> str:
    """Return where the first refresh for all readers moves them at once, "" where none does. One that waits becomes a
    link, and so does one for readers without scripts, where there is nothing else to read."""
    said = [(parse_refresh(content), is_fallback) for content, is_fallback in reading.refreshes]
    first = [found for found, is_fallback in said if found and not is_fallback][:1]
    fallbacks = [found for found, is_fallback in said if found and is_fallback and not has_text]
    if first and first[0][0] <= MOVES_WITHIN_S and first[0][1] and (target := literal_url(first[0][1], base)):
        return target
    reading.links[:0] = [(reference, "", "") for _, reference in (*first, *fallbacks) if reference]
    return ""


def _title(reading: RawHtml, *, is_front: bool) -> str:
    """Return the title of the document, else what it calls itself elsewhere, else a heading.

    A title that an editor put there says nothing. One that only names its site counts less than all of these, except on
    the site's front page: scripts set titles later."""
    sites = [" ".join(text.split()) for name, text in reading.metas if name == "og:site_name"]
    title = _name(reading.title)
    if title and title not in sites and title.casefold() not in NO_TITLES:
        return title
    said = dict(reversed(reading.metas))  # of several the first
    own = (name for each in _NAMES if (name := _name(said.get(each, ""))) and name not in sites)
    headings = () if title in sites and is_front else map(_name, (reading.first_heading, *reading.headings))
    return next(filter(None, (*own, *headings, title)), "")


def _name(raw: str) -> str:
    """Return a title in one line. Apostrophes and the like that an editor has escaped twice are readable again."""
    name = " ".join(raw.split())[:MAX_TITLE_CHARS]
    return _ESCAPED.sub(lambda found: unescape(found[0]), name) if "&" in name else name


def _frames(found: list[tuple[str, str]], base: str, own: str) -> Iterator[tuple[str, str, str]]:
    """Yield the pages of the same site that are shown inside this one, as links; of others they are advertisements."""
    for reference, title in found:
        if (url := find_url(reference, base)) and site_of(url) == site_of(own):
            yield url, title, ""


def _description(metas: list[tuple[str, str]]) -> str:
    """Return what the page says of itself in one paragraph."""
    said = dict(reversed(metas))  # of several the first
    text = said.get("description") or said.get("og:description") or ""
    return " ".join(text.split())[:MAX_DESCRIPTION_CHARS]


def canonical_links(
    found: Iterable[tuple[str, str, str]], names: Mapping[str, str], base: str, task: ParseTask
) -> tuple[Link, ...]:
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
    for reference, name in names.items():  # what images say counts less than words
        url = urls.get(reference.partition("#")[0])
        if url is not None and url in links and not links[url].anchor:
            links[url] = Link(url, " ".join(name.split())[:MAX_ANCHOR_CHARS], links[url].nofollow)
    return tuple(links.values())


def _lines(raws: Iterable[str], max_chars: int) -> str:
    """Collapse white space, drop empty lines, and cut at a bound."""
    lines = [line for raw in raws if (line := " ".join(raw.split()))]
    return "\n".join(lines)[:max_chars]
