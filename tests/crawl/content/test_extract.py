"""Both engines read the same content from pages, and nothing breaks them."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from selectolax.lexbor import LexborHTMLParser

from crawl import ParseTask
from crawl.canonical_url import is_canonical
from crawl.content.boilerplate import blocks_of
from crawl.content.extract import MAX_DESCRIPTION_CHARS, MAX_TITLE_CHARS, extract
from crawl.content.extract_lexbor import read_lexbor
from crawl.content.page import Link
from crawl.content.raw_html import (
    BOILERPLATE,
    BREAK,
    CLOSE,
    LINK,
    MAX_ANCHOR_CHARS,
    MAX_HEADING_CHARS,
    MAX_HEADINGS,
    OPEN,
    RawHtml,
    without_marks,
)
from crawl.content.rendering import BLOCKS, BOXES, HIDDEN, REPLACED

PAGE = b"""<!doctype html><html lang="en-GB"><head><title> A  title </title><base href="/sub/">
<meta name=robots content="nofollow, NOINDEX"><link rel=canonical href="/real">
<style>p {}</style><script>var hidden = 1</script></head><body><h1>Head <b>line</b></h1><p>One<p>T<i>w</i>o
<a href="x#f"> to x </a><a href="x" rel=nofollow>again</a><a href="/n" rel="ugc NoFollow">n</a>
<a href="javascript:alert(1)">js</a><a href="mailto:a@b.c">m</a><a href="#top">top</a>
<a href="http://other.test">other</a></body></html>"""


def task(body: bytes, engine: str = "lexbor", media_type: str = "text/html", charset: str = "") -> ParseTask:
    return ParseTask("http://a.test/page", body, media_type, charset, 100, 10_000, engine)  # type: ignore[arg-type]


@pytest.mark.parametrize("engine", ["lexbor", "lxml"])
def test_a_page_says_what_people_see(engine: str) -> None:
    parsed = extract(task(PAGE, engine))
    assert (parsed.title, parsed.headings, parsed.language) == ("A title", ("Head line",), "en")
    assert parsed.text.split("\n") == ["Head line", "One", "Two to x again n js m top other"]
    assert "hidden" not in parsed.text
    assert (parsed.directives.noindex, parsed.directives.nofollow, parsed.canonical) == (
        True,
        True,
        "http://a.test/real",
    )
    assert parsed.links == (
        Link("http://a.test/sub/x", "to x", False),
        Link("http://a.test/n", "n", True),
        Link("http://other.test/", "other", False),
    )


@pytest.mark.parametrize("engine", ["lexbor", "lxml"])
def test_a_chinese_page_with_a_lying_header_is_read(engine: str) -> None:
    text = "分布式网页搜索引擎的抓取程序按照礼貌规则访问每一个网站，并且把链接交给它们的负责者。" * 3
    body = f'<meta charset="gb2312"><title>搜索</title><p>{text}</p>'.encode("gb18030")
    parsed = extract(task(body, engine, charset="utf-8"))
    assert (parsed.title, parsed.charset, parsed.language) == ("搜索", "gb18030", "zh")
    assert parsed.text == text


SELF = b"""<title>t</title><meta property="og:description" content="other"><meta name=Description content=" What
it says "><meta name=description content=later><meta name=dse-node content=noindex>
<script type="application/ld+json">{"datePublished": "2024-05-06", "x": 1}</script><meta itemprop=dateModified
content="2024-05-07T00:00:00Z"><p>by <time datetime="2023-01-01">then</time> <a href=/u rel="ugc">u</a>
<a href=/s rel="noopener Sponsored">s</a><a href=/k rel=next>k</a>"""


@pytest.mark.parametrize("engine", ["lexbor", "lxml"])
def test_what_a_page_says_of_itself(engine: str) -> None:
    parsed = extract(replace(task(SELF, engine), agent="DSE-node"))
    assert parsed.description == "What it says"
    assert (parsed.published_at, parsed.modified_at) == (1_714_953_600.0, 1_715_040_000.0)
    assert (parsed.directives.noindex, parsed.directives.nofollow) == (True, False)
    assert not extract(task(SELF, engine)).directives.noindex
    assert [link.nofollow for link in parsed.links] == [True, True, False]


def test_plain_text_has_its_first_line_as_title() -> None:
    parsed = extract(task(b"First\nsecond <b>", media_type="text/plain"))
    assert (parsed.title, parsed.text, parsed.links) == ("First", "First\nsecond <b>", ())


@pytest.mark.parametrize("engine", ["lexbor", "lxml"])
@pytest.mark.parametrize(
    ("head", "target"),
    [
        ("<base href=/one/><base href=/two/>", "http://a.test/one/x"),  # the first counts
        ("<base target=_top><base href=/two/>", "http://a.test/two/x"),  # the first that has an address
        ("<base href=''><base href=/two/>", "http://a.test/x"),  # and be it an empty one
        ("<base href='http://b.test'>", "http://b.test/x"),
        ("<base href='data:text/html,'>", "http://a.test/x"),  # such a base is none
        ("<base href='javascript:x'>", "http://a.test/x"),
    ],
)
def test_the_base_of_links_is_that_of_the_html_standard(engine: str, head: str, target: str) -> None:
    parsed = extract(task(f"{head}<link rel='x Canonical' href=x><a href=x>x</a>".encode(), engine))
    assert [link.url for link in parsed.links] == [target] and parsed.canonical == target


UNASKED = (  # what pages with them are read as, test_rendering.py and test_links_elsewhere.py say
    *("<div hidden", "<span data", "<iframe", "<b style", "<template shadow", "<math", "<dialog", "<pre", "<noscript"),
    *("<rt", "<svg", "<img", "<frameset"),
)
PIECES = (
    *(
        f"<{n}>"
        for n in ("a href=x", "p", "/p", "title", "svg", "table", "td", "base href=//", "nav", "/nav", "/a", "h1", "br")
    ),
    *(f"<{n}>" for n in ("br", "area href=y", "noscript", "/noscript", "template", "/template", "aside", "a name=x")),
    '<meta name=robots content="a:,;unavailable_after:1">',
    '<script type="application/ld+json">{"datePublished":"',
    '<time datetime="99999-',
    *("<div hidden>", "<span data-nosnippet>", "</span>", "<img alt=i>", "<rt>", "<dialog>", "<button>", "<pre>in-\n"),
    *(
        "<iframe src=z>",
        "<b style=display:block>",
        "<template shadowrootmode=open>",
        "<frameset>",
        "<math><annotation>",
    ),
    '<link rel="canonical alternate" type="application/rss+xml" href="//[">',
    "<html lang='",
    *("&#0;", "&#xd800;", "&#1;", "\0\1\2\3", "x", "é", "<!--", "<a href='", "' rel=\"", "词语", "word " * 60),
)
PLAIN = tuple(piece for piece in PIECES if not piece.startswith(UNASKED))
SOUP = st.lists(st.sampled_from(PIECES), max_size=40).map("".join).map(str.encode)
PLAIN_SOUP = st.lists(st.sampled_from(PLAIN), max_size=40).map("".join).map(str.encode)
TYPES = st.sampled_from(("text/html", "text/plain", "application/xhtml+xml"))


@settings(max_examples=150, deadline=None)
@given(
    st.binary(max_size=400) | SOUP,
    st.sampled_from(("lexbor", "lxml")),
    TYPES,
    st.text(max_size=20),
    st.sampled_from((0, 1, 90)),
)
def test_nothing_breaks_it_and_all_is_bounded(body: bytes, engine: str, kind: str, charset: str, most: int) -> None:
    given_ = replace(task(body, engine, kind, charset), max_links=most, max_text_chars=most)
    parsed = extract(given_)
    msgspec.msgpack.encode(parsed)  # no lone surrogates anywhere
    assert len(parsed.text) + len(parsed.boilerplate) <= most and len(parsed.links) <= most
    assert len(parsed.title) <= MAX_TITLE_CHARS and len(parsed.description) <= MAX_DESCRIPTION_CHARS
    assert len(parsed.headings) <= MAX_HEADINGS and all(len(each) <= MAX_HEADING_CHARS for each in parsed.headings)
    assert all(len(link.anchor) <= MAX_ANCHOR_CHARS for link in parsed.links)
    for url in (*(link.url for link in parsed.links), *parsed.feeds, parsed.canonical):
        assert not url or is_canonical(url)
    assert len(parsed.language) in (0, 2) and len(parsed.charset) < 40
    assert len(parsed.fingerprint) == 16 and len(parsed.signature) in (0, 16)


def asked(html: str, most: int) -> RawHtml:
    """The same by a query for each kind of element: the slow oracle."""
    tree = LexborHTMLParser(html)
    said = [[node.attributes for node in tree.css(query)] for query in ("base[href]", "meta", "html")]
    links = tree.css("a[href],area[href]")[:most]
    reading = RawHtml(
        title=(tree.css_first("title") or tree.create_node("p")).text(),
        base=next((values["href"] or "" for values in said[0]), None),
        language=next((values.get("lang") or "" for values in said[2]), ""),
        metas=[((v["name"] or "").lower(), v.get("content") or "") for v in said[1] if "name" in v],
        linked_data=[node.text() for node in tree.css('script[type="application/ld+json"]')],
    )
    for node in tree.css("link[rel][href]"):
        if "canonical" in (node.attributes["rel"] or "").split():
            reading.canonical = reading.canonical or node.attributes["href"] or ""
            reading.alternates.append((node.attributes["type"] or "", node.attributes["href"] or ""))
    for tags, before, after in ((BLOCKS, BREAK, BREAK), (BOILERPLATE, OPEN, CLOSE), (BOXES, " ", " ")):
        for node in tree.css(",".join(tags)):
            node.insert_before(before)
            node.insert_child(after if node.tag not in ("br", "hr") else "")
    headings = tree.css("h1")
    for node in tree.css(",".join((*HIDDEN, *REPLACED))):
        if node.tag in REPLACED:
            node.insert_before(" ")
        headings = [each for each in headings if each.mem_id not in {inner.mem_id for inner in node.css("h1")}]
        node.decompose(recursive=False)
    for node in links:
        reading.links.append(
            (node.attributes["href"] or "", without_marks(node.text()), node.attributes.get("rel") or "")
        )
        if node.text():
            node.insert_before(LINK)
            node.insert_child(LINK)
    reading.headings = [without_marks(node.text()) for node in headings]
    reading.text = tree.body.text()
    return reading


def words(text: str) -> str:
    return " ".join(without_marks(text).split())  # a page may have signs that are marks to us


@settings(max_examples=150, deadline=None)
@given(PLAIN_SOUP, st.sampled_from((0, 2, 180)))
def test_one_walk_finds_what_queries_find(body: bytes, most: int) -> None:
    walked, queried = read_lexbor(body.decode(), most // 2, shows_all=True), asked(body.decode(), most)
    for reading in (walked, queried):
        reading.links = [(href, words(text)[:MAX_ANCHOR_CHARS], rel) for href, text, rel in reading.links]
        reading.headings = [line[:MAX_HEADING_CHARS] for text in reading.headings if (line := words(text))]
    assert blocks_of(walked.text) == blocks_of(queried.text)
    walked.text = queried.text = walked.first_heading = ""
    walked.times, walked.shows_all = queried.times, False  # test_titles_and_dates.py
    assert walked == queried
