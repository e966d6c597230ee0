"""Marks the article of a page that lexbor parsed, see crawl/content/article.py, and reads nodes of lexbor for others.

Pure.
"""

from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawl.content.article import ARTICLE_BODY, SIGNS, Reach, declared_article, is_long, paragraphs_element
from crawl.content.images import ImageReach
from crawl.content.raw_html import ARTICLE, ARTICLE_END, BREAK, LINK, PARAGRAPHS, PARAGRAPHS_END

_BODY = f'[itemprop~="{ARTICLE_BODY}"]'
_SIGNS = tuple(sign.encode() for sign in SIGNS)
_MAX_ARTICLES = 100  # that are asked for a heading
_BODY_BYTES = ARTICLE_BODY.encode()


def mark_article(tree: LexborHTMLParser, source: bytes) -> None:
    """Put marks around the element that the page declares, and around the one that has its paragraphs."""
    if not any(map(source.__contains__, _SIGNS)):
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
    """Yield the elements around one, the innermost first."""
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
