"""Translates between YaCy's search interface and ours: what a query asks for beside its words, and the JSON answer.

Pure: values in, values out. Shape and parameters: https://wiki.yacy.net/index.php/Dev:APIyacysearch. Its descriptions
are HTML with hits in <b>, and some clients put its titles into pages, too: neither may hold markup of a stranger's.
"""

from dataclasses import dataclass
from html import escape

from node.extras.clients.found import FoundAnswer, FoundPage
from node.views.lenient_json import Json

_DOMAINS = frozenset({"", "all", "text", "image"})
_ANGLES = str.maketrans("<>", "\u2039\u203a")


@dataclass(frozen=True, slots=True)
class YacyQuery:
    """Holds what a YaCy query asks for once its modifiers are taken out."""

    words: str
    language: str
    is_by_date: bool


def read_yacy_query(query: str, language: str) -> YacyQuery:
    """Take YaCy's modifiers out of a query: /date, RECENT, /language/xx and LANGUAGE:xx. `language`: as its parameter
    `lr` says it."""
    words, is_by_date, code = list[str](), False, language.removeprefix("lang_")
    for word in query.split():
        if word in ("/date", "RECENT"):
            is_by_date = True
        elif word.startswith(("/language/", "LANGUAGE:")):
            code = word.removeprefix("/language/").removeprefix("LANGUAGE:")
        else:
            words.append(word)
    return YacyQuery(" ".join(words), code, is_by_date)


def is_held(contentdom: str) -> bool:
    """Tell whether a content domain is what a node has: text and the words of images, neither sounds nor films."""
    return contentdom.lower() in _DOMAINS


def is_of_images(contentdom: str) -> bool:
    """Tell whether a content domain is that of images."""
    return contentdom.lower() == "image"


def yacy_json(found: FoundAnswer, page_address: str, count: int, *, has_images: bool = False) -> Json:
    """Write an answer as /yacysearch.json. `page_address`: of the same results as a page, `count`: how many were
    asked for. `has_images`: each page is told with its images, the best by itself."""
    searched = _unmarked(found.query)
    channel = {
        "title": f"{searched} – dse",
        "description": f"Search for {searched}",
        "link": page_address,
        "totalResults": str(found.total),
        "startIndex": str(found.start),
        "itemsPerPage": str(count),
        "searchTerms": searched,
        "items": [_item(page) | (_images(page) if has_images else {}) for page in found.pages],
        "navigation": [],
    }
    return {"channels": [channel]}


def _item(page: FoundPage) -> Json:
    folder, _, file = page.address.path.rpartition("/")
    item = {
        "title": _unmarked(page.title),
        "link": page.url,
        "description": "".join(f"<b>{escape(p.text)}</b>" if p.is_hit else escape(p.text) for p in page.snippet),
        "pubDate": page.day_rfc822,
        "guid": page.id,
        "urlhash": page.id,
        "host": page.address.hostname or "",
        "path": f"{folder}/",
        "file": file,
        "ranking": str(page.score),
    }
    return {name: value for name, value in item.items() if value or name != "pubDate"}  # clients parse what is there


def _images(page: FoundPage) -> Json:
    images = [
        {"image": each.url, "title": _unmarked(each.text), "width": each.width, "height": each.height}
        for each in page.images
    ]
    return {"url": page.url, "image": images[0]["image"] if images else "", "images": images}


def _unmarked(text: str) -> str:
    """Write a text that is the same to clients who read it as text and to those who read it as HTML: no tags."""
    return text.translate(_ANGLES)
