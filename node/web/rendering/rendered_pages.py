"""Keeps pages of results as they were written, for as long as the answers that they show are given again.

In memory alone, as the answers are (`node/service/query_desk.py`).
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from aiohttp import web

from node.api.body import Json

MAX_PAGES = 64  # of 40 kB each


@dataclass(frozen=True, slots=True)
class RenderedPage:
    """Holds a page in UTF-8, in the language `tongue`, and what it shows: the results of an answer, and warnings."""

    body: bytes
    tongue: str
    results: object
    warnings: Sequence[str]


class RenderedPages:
    """Holds the newest pages, by whatever decides what they show beside answer and warnings."""

    def __init__(self) -> None:
        self._pages: OrderedDict[tuple[object, ...], RenderedPage] = OrderedDict()

    def find(self, key: tuple[object, ...], answer: Json, warnings: Sequence[str]) -> RenderedPage | None:
        """Return the page that shows these warnings and this very answer, which was given before."""
        page = self._pages.get(key)
        if page is None or "age_s" not in answer or page.results is not answer["results"] or page.warnings != warnings:
            return None
        return page

    def keep(self, key: tuple[object, ...], page: web.Response, answer: Json, warnings: Sequence[str]) -> None:
        """Keep a page whose answer was given before, and so may be again."""
        if "age_s" not in answer or not isinstance(page.body, bytes):
            return
        self._pages[key] = RenderedPage(page.body, page.headers["Content-Language"], answer["results"], warnings)
        self._pages.move_to_end(key)
        if len(self._pages) > MAX_PAGES:
            self._pages.popitem(last=False)
