"""Asks a node for commands, and gives its answers types. It blocks.

    for answer in ApiClient("http://127.0.0.1:8090").answers("opening hours", limit=100):
        print([result.url for result in answer.results])

Fields are named as in the HTTP API (`docs/client-author.md`). A field that a node of another version does not send is
empty; a field that is unknown here is left out.
"""

from collections.abc import Iterator
from typing import Any, Literal, TypeVar

import msgspec

from node.cli.http_client import HttpClient
from node.errors import NotRunning
from node.views.lenient_json import Json, tables

Typed = TypeVar("Typed")


class WebResult(msgspec.Struct, frozen=True):
    """One result of a search. Its texts are what strangers wrote: escape them where you show them."""

    url: str
    title: str = ""
    heading: str = ""
    snippet: str = ""
    score: float = 0.0
    id: str = ""
    language: str = ""
    fetched_at: float | None = None  # Unix seconds
    date: float | None = None  # by the page's own word, Unix seconds


class WebDefinition(msgspec.Struct, frozen=True):
    """Holds a sentence that says what a term is, and the page that says it."""

    term: str
    text: str
    url: str
    title: str = ""


class Answer(msgspec.Struct, frozen=True):
    """Holds a node's answer to a search: a page of results, and how sure the node is of it."""

    results: list[WebResult]
    total: int = 0
    total_is: Literal["exact", "about", "at_least"] = "about"
    exact: bool = False
    whole: bool = False
    partial: bool = False
    took_ms: float = 0.0
    next_cursor: str | None = None
    definition: WebDefinition | None = None
    related: list[str] = []
    suggestions: list[str] = []
    corrections: list[str] = []


class ApiClient(HttpClient):
    """Asks one node, given the base URL of its web listener, and the owner's token where an order needs it.

    Every method raises NotRunning where no node answers, and RefusedByNode where it refuses what was asked."""

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        cursor: str = "",
        lang: str = "",
        site: str = "",
        sort: Literal["relevance", "date"] = "relevance",
        deadline_ms: int = 2000,
    ) -> Answer:
        """Search the network: one page of results."""
        wanted = {"q": query, "limit": limit, "cursor": cursor, "lang": lang, "site": site, "sort": sort}
        body = self.get("/api/v1/search", {**wanted, "deadline_ms": deadline_ms})
        return self._typed({**body, "results": [_dated(result) for result in tables(body, "results")]}, Answer)

    def answers(self, query: str, **wanted: Any) -> Iterator[Answer]:
        """Search page after page, to the last one; `wanted` is what `search` takes."""
        answer = self.search(query, **wanted)
        yield answer
        while answer.next_cursor:
            answer = self.search(query, **{**wanted, "cursor": answer.next_cursor})
            yield answer

    def _typed(self, body: object, kind: type[Typed]) -> Typed:
        try:
            return msgspec.convert(body, kind)
        except msgspec.ValidationError as error:
            raise NotRunning(self.url, f"an answer of another kind ({error})", "ask a node, or a newer one") from None


def _dated(result: Json) -> Json:
    """Leave out a date that is none, as a page may have it."""
    return {
        name: value
        for name, value in result.items()
        if name not in ("fetched_at", "date") or isinstance(value, int | float)
    }
