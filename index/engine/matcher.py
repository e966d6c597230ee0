"""Decides whether one document matches a query.

Pure: the definition that engines, with their sets and counts, must agree with.
"""

from index.change_feed import Text
from index.engine.protocol import host_names
from index.query.parser import LanguageFilter, QueryGroup, QueryNode, SiteFilter, TagFilter
from index.query.scoring import occurrences
from index.text.forward_index import ForwardRecord
from index.text.site_host import digest_of_host, host_of, name_of_host
from index.text.tags import bears


def matches(node: QueryNode, text: Text, forward: ForwardRecord) -> bool:
    """Tell whether the document belongs to the answer; `forward` is its forward record."""
    if isinstance(node, QueryGroup):
        enough = sum(matches(child, text, forward) for child in node.children) >= node.minimum
        return enough and not any(matches(child, text, forward) for child in node.without)
    if isinstance(node, SiteFilter):
        return node.host in (*host_names(text.url), name_of_host(digest_of_host(host_of(text.url))))
    if isinstance(node, LanguageFilter):
        return text.language.lower() == node.code
    if isinstance(node, TagFilter):
        return bears(text, node.tag)
    return bool(occurrences(forward, node))
