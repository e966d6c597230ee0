"""Marks the article of a page that lexbor parsed, and reads nodes of lexbor for others: see crawl/content/article.py,
dates.py and images.py.

Pure.
"""

from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawl.content.article import ARTICLE_BODY, Reach, declared_article, has_signs, is_long, paragraphs_element
from crawl.content.dates import Placed, place_of, time_name, times_of_head
from crawl.content.images import ImageReach
from crawl.content.raw_html import (
    ARTICLE,
    ARTICLE_END,
    BREAK,
    LINK,
    MAX_HEADINGS,
    MAX_TIMES,
    PARAGRAPHS,
    PARAGRAPHS_END,
)
from crawl.content.rendering import HEADINGS

_BODY = f'[itemprop~="{ARTICLE_BODY}"]'
_MAX_ARTICLES = 100  # that are asked for a heading
_BODY_BYTES = ARTICLE_BODY.encode()


def mark_article(tree: LexborHTMLParser, source: bytes) -> None:
    """Put marks around the element that the page declares, and around the one that has its paragraphs."""
    if not has_signs(source):
        return
    bodies = tree.css(_BODY) if _BODY_BYTES in source else []
    articles = tree.css("article")[:_MAX_ARTICLES] if b"<article" in source else []
    headed = [(node, len(articles) == 1 or node.css_first("h1") is not None) for node in articles]
    declared = declared_article(bodies, headed, _REACH)
    if declared is not None and not is_long(_text(declared)):
        declared = None
    scope = (tree if declared is None else declared).css("p")
    paragraphs = ((node, len(_text(node).strip())) for node in scope)
    inner = paragraphs_element(paragraphs, _REACH)
    for node, begin, end in ((declared, ARTICLE, ARTICLE_END), (inner, PARAGRAPHS, PARAGRAPHS_END)):
        if node is not None and is_long(_text(node)):
            node.insert_before(f"{BREAK}{begin}{BREAK}")
            node.insert_after(f"{BREAK}{end}{BREAK}")


def _text(node: LexborNode) -> str:
    return node.text().replace(LINK, "")


def parents_of(node: LexborNode) -> Iterator[LexborNode]:
    """Yield the elements that an element stands in, the innermost first."""
    parent = node.parent
    while parent is not None and parent.is_element_node:
        yield parent
        parent = parent.parent


_REACH: Reach[LexborNode] = Reach(parents_of, lambda node: node.tag or "", lambda node: node.mem_id)
IMAGE_REACH: ImageReach[LexborNode] = ImageReach(
    lambda node: node.tag or "",
    lambda node: node.attributes,
    parents_of,
    lambda node: node.iter(),
    lambda node: node.text(separator=" "),
    lambda node: node.mem_id,
)


def read_times(root: LexborNode) -> list[tuple[str, str]]:
    """Return the times that stand in the head of the article; a second walk, of pages that have time elements."""
    headings: list[Placed] = []
    times: list[Placed] = []
    chars = 0
    for node in root.traverse(include_text=True):
        tag = node.tag
        if node.is_text_node:
            chars += len((node.text_content or "").strip())
        elif tag in HEADINGS and len(headings) < MAX_HEADINGS:
            headings.append(_placed(node, chars, tag, ""))
        elif tag == "time" and len(times) < MAX_TIMES:
            values = node.attributes
            name = time_name(values.get("itemprop") or "", values.get("class") or "", is_pubdate="pubdate" in values)
            times.append(_placed(node, chars, name, values.get("datetime") or node.text()))
    return times_of_head(headings, times)


def _placed(node: LexborNode, at: int, name: str, text: str) -> Placed:
    parents = list(parents_of(node))
    articles = [parent.mem_id for parent in parents if parent.tag == "article"]
    return place_of([(parent.tag or "", parent.attributes) for parent in parents], articles, at, name, text)
