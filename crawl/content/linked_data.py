"""The dates that a page's JSON-LD gives for the page itself.

Pure: text in, values out. Articles count before pages, and pages before other things. Works that a page is about
(books, films) and comments below it have dates of their own, which say nothing about the page. JSON that is broken is
searched for the two properties. Sources: JSON-LD 1.1; schema.org.
"""

import json
import re
from collections.abc import Iterable, Iterator
from html import unescape
from typing import Any

_TYPE = "application/ld+json"
_PROPERTIES = ("datePublished", "dateModified", "dateCreated")
_BELOW = ("@graph", "mainEntity", "mainEntityOfPage")  # properties that lead on to what the page is
_MAX_NODES = 500
_ARTICLES, _PAGES = ("article", "posting", "report"), ("page", "recipe", "howto", "question")
_NOT_THE_PAGE = frozenset(
    (
        *("answer", "audioobject", "book", "comment", "imageobject", "movie", "musicalbum", "musicrecording"),
        *("organization", "person", "tvepisode", "tvseries", "videogame", "website"),
    )
)
_COMMA = re.compile(r",(?=\s*[\]}])")
_ALONE = re.compile(r'"(?:[\w:/.]*[:/])?(datePublished|dateModified)"\s*:\s*"((?:[^"\\]|\\.){4,64})"')


def is_linked_data(media_type: str | None) -> bool:
    """Tell whether a script of this type is JSON-LD; parameters and letter case say nothing."""
    return media_type is not None and media_type.partition(";")[0].strip().lower() == _TYPE


def linked_dates(pieces: Iterable[str]) -> list[tuple[str, str]]:
    """List the dates in JSON-LD as (lower-case property, text), those that say most of the page first."""
    found: list[tuple[int, str, str]] = []
    for piece in pieces:
        value = _parsed(piece)
        if value is None:
            found += ((1, match[1].lower(), _unescaped(match[2])) for match in _ALONE.finditer(piece))
            continue
        for node in _nodes(value):
            rank = _rank(_texts(node.get("@type")))
            dates = ((name, text) for name in _PROPERTIES for text in _texts(_property(node, name))[:1])
            found += ((rank, name.lower(), text) for name, text in dates if rank < len(_RANKS))
    return [(name, text) for _, name, text in sorted(found, key=lambda each: each[0])]


def _parsed(piece: str) -> Any:
    """Read JSON as strangers write it: in comments, with commas too many, escaped as HTML; None where it is none."""
    start = min((at for at in (piece.find("{"), piece.find("[")) if at >= 0), default=0)
    bare = piece[start : max(piece.rfind("}"), piece.rfind("]")) + 1]
    for text in (bare, _COMMA.sub("", bare), unescape(bare)):
        try:
            return json.loads(text, strict=False)
        except (ValueError, RecursionError):
            continue
    return None


def _nodes(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the things that a document describes at its top, a bounded number."""
    waiting = [value]
    for _ in range(_MAX_NODES):
        if not waiting:
            return
        each = waiting.pop(0)
        if isinstance(each, list):
            waiting = each[:_MAX_NODES] + waiting
        elif isinstance(each, dict):
            yield each
            waiting += (each[name] for name in _BELOW if name in each)


def _property(node: dict[str, Any], name: str) -> Any:
    return next((node[key] for key in (name, f"schema:{name}", f"http://schema.org/{name}") if key in node), None)


def _texts(value: Any) -> list[str]:
    """List the texts of a value: one, several, or typed ones."""
    values = value if isinstance(value, list) else [value]
    inner = (each.get("@value") if isinstance(each, dict) else each for each in values)
    return [str(each) for each in inner if isinstance(each, str | int) and not isinstance(each, bool)]


_RANKS = (_ARTICLES, _PAGES, ("",))


def _rank(types: list[str]) -> int:
    """Return how little things of these types say of the page; as many as there are ranks: nothing."""
    names = [re.split("[:/#]", each)[-1].lower() for each in types] or ["thing"]
    known = [name for name in names if name not in _NOT_THE_PAGE]
    return min((n for name in known for n, ends in enumerate(_RANKS) if name.endswith(ends)), default=len(_RANKS))


def _unescaped(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return text
