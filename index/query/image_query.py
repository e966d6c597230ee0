"""A query for images, made of one for text: each word that it looks for is to be one of an image's.

Pure: text in, text out. Filters, groups and exclusions stay what they are; common words are left out among others.
"""

from collections.abc import Collection, Iterator

from index.query.syntax import Filter, Group, Item, Words, read_syntax
from index.text.analyzer import words
from index.text.stop_words import stop_words


def image_query(text: str) -> str:
    """Return the query of pages with images that a query's words tell of."""
    syntax, _ = read_syntax(text)
    alone = [found[0] for each in _words(syntax) if len(found := words(each.text)) == 1]
    weak = stop_words(alone, "")
    return _written(syntax, () if weak.issuperset(alone) else weak) or text


def _words(group: Group) -> Iterator[Words]:
    for item in (item for items in group.alternatives for item in items):
        if isinstance(item.node, Group):
            yield from _words(item.node)
        elif isinstance(item.node, Words):
            yield item.node


def _written(group: Group, weak: Collection[str]) -> str:
    alternatives = (" ".join(filter(None, (_item(item, weak) for item in items))) for items in group.alternatives)
    return " OR ".join(filter(None, alternatives))


def _item(item: Item, weak: Collection[str]) -> str:
    """Return a member of a sequence as it is typed, "" where it looks for nothing."""
    node = item.node
    if isinstance(node, Group):
        inner = _written(node, weak)
        return f"{item.sign}({inner})" if inner else ""
    if isinstance(node, Filter):
        return f'{item.sign}{node.name}:"{node.value}"'
    found = words(node.text)
    return f'{item.sign}inimage:"{node.text}"' if found and not (len(found) == 1 and found[0] in weak) else ""
