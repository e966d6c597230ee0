"""Asks a node of dse-node by its HTTP API: search, crawl, jobs, status and stored pages. Standard library only.

    for result in Client("http://127.0.0.1:8090").results("opening hours", most=50):
        print(result["title"], result["url"])

Answers are the JSON of the API, whose fields docs/client-author.md lists. Every method raises NodeError where no node
answers or it refuses. Texts of results and pages are what strangers wrote: escape them where you show them.
"""

import json
import time
from collections.abc import Iterator, Sequence
from http.client import HTTPException
from typing import Any, NamedTuple, TypedDict, cast
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

__all__ = ["Answer", "Client", "NodeError", "Outcome", "Result"]

Json = dict[str, Any]
MAX_ANSWER_BYTES = 128 << 20  # the longest answer of a node, of stored pages with their contents
MOST_FOLLOWED = 250  # addresses that one question about a crawl may name
LOADED_AT_ONCE = 20


class NodeError(Exception):
    """Says that a node did not answer, or refused the request; its text names the remedy where the node knows one.

    `status`: of HTTP, None where no node answered. `retry_after_s`: ask again after so many seconds, None: at will.
    """

    def __init__(self, message: str, status: int | None = None, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.status, self.retry_after_s = status, retry_after_s


class Result(TypedDict, total=False):
    """One result of a search."""

    url: str
    title: str
    heading: str
    snippet: str
    score: float
    id: str
    language: str
    fetched_at: float  # Unix seconds
    date: float | None  # as the page states it, Unix seconds


class Answer(TypedDict, total=False):
    """One page of results, and how sure the node is of it."""

    results: list[Result]
    total: int
    total_is: str  # exact, about or at_least
    whole: bool
    exact: bool
    partial: bool
    why: list[Json]
    next_cursor: str | None
    took_ms: float


class Outcome(NamedTuple):
    """The end of one address of a crawl."""

    state: str
    url: str
    reason: str


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        """Follow nothing: a node does not redirect programs, and nobody else may get the token."""


class Client:
    """Asks one node. `token`: the content of admin.token, for orders; `timeout_s`: how long the node may be silent."""

    def __init__(self, url: str = "http://127.0.0.1:8090", token: str = "", timeout_s: float = 30.0) -> None:
        self._url, self._token, self._timeout_s = url.rstrip("/"), token.strip(), timeout_s
        self._opener = build_opener(ProxyHandler({}), _NoRedirect)  # a node is asked without a proxy between

    def search(self, query: str, *, limit: int = 10, cursor: str = "", **more: object) -> Answer:
        """Search the network: one page of results. `more`: lang, site, sort, verbatim, deadline_ms and others."""
        return cast(Answer, self.get("/api/v1/search", q=query, limit=limit, cursor=cursor, **more))

    def results(self, query: str, *, most: int | None = None, **more: object) -> Iterator[Result]:
        """Yield all results page after page, best first, or the first `most`."""
        cursor, left = "", most
        while left is None or left > 0:
            answer = self.search(query, limit=100 if left is None else min(left, 100), cursor=cursor, **more)
            yield from answer["results"]
            left = None if left is None else left - len(answer["results"])
            cursor = answer.get("next_cursor") or ""
            if not cursor:
                return

    def page(self, url: str) -> Json | None:
        """Return the stored document of an address, None where the network has none."""
        return cast(Json | None, self.get("/api/v1/document", url=url)["documents"][0])

    def pages(self, **scope: object) -> Iterator[Json]:
        """Yield stored documents in the order of the key space. `scope`: slot, site, prefix, url, content, links."""
        cursor = ""
        while True:
            answer = self.get("/api/v1/documents", cursor=cursor, **scope)
            yield from answer["documents"]
            cursor = answer.get("next_cursor") or ""
            if not cursor:
                return

    def texts(self, urls: Sequence[str]) -> dict[str, str]:
        """Return the texts of those pages that are stored and may be shown, by their addresses."""
        found: dict[str, str] = {}
        for start in range(0, len(urls), LOADED_AT_ONCE):
            body = {"urls": list(urls[start : start + LOADED_AT_ONCE])}
            for page in cast(list[Json], self._ask("/clients/open-webui/load", body, list)):
                found[page["metadata"]["source"]] = page["page_content"]
        return found

    def status(self) -> Json:
        """Return the state of the node and its network."""
        return self.get("/api/v1/status")

    def jobs(self) -> list[Json]:
        """Return the crawl jobs of the node; needs the token."""
        return cast(list[Json], self.get("/api/v1/jobs")["jobs"])

    def crawl(self, *urls: str, depth: int = 0, scope: str = "host", **more: object) -> Json:
        """Submit addresses; the answer has `seeds` and `refused`. Needs the token. `more`: sitemaps, every, dry_run."""
        return self.post("/api/v1/crawl", {"urls": urls, "depth": depth, "scope": scope, **more})

    def follow(self, seeds: Sequence[Json], depth: int = 0, pause_s: float = 0.5) -> Iterator[Outcome]:
        """Yield the outcome of each of the `seeds` that `crawl` returned and of all that they led to, until none waits.

        Needs the token."""
        waiting = {seed["url"]: {"url": seed["url"], "depth": depth, "scope": seed["scope"]} for seed in seeds}
        known = set(waiting)
        while waiting:
            asked = list(waiting.values())[:MOST_FOLLOWED]
            for told in self.post("/api/v1/crawl/progress", {"urls": asked})["urls"]:
                entry = waiting.pop(told["url"])
                if told["state"] in ("waiting", "unknown"):
                    waiting[told["url"]] = entry  # at the end, so that the others have their turn
                else:
                    yield Outcome(told["state"], told["url"], told["reason"])
                waiting |= {found["url"]: found for found in told["found"] if found["url"] not in known}
                known |= waiting.keys()
            time.sleep(pause_s if waiting else 0)

    def get(self, path: str, **query: object) -> Json:
        """Read any route of the API; empty values are left out, lists are repeated."""
        named = {
            name: str(value).lower() if isinstance(value, bool) else value
            for name, value in query.items()
            if value not in ("", None)
        }
        text = urlencode(named, doseq=True, errors="replace")
        return cast(Json, self._ask(f"{path}?{text}" if text else path))

    def post(self, path: str, body: Json) -> Json:
        """Send JSON to any route of the API."""
        return cast(Json, self._ask(path, body))

    def _ask(self, target: str, body: Json | None = None, kind: type = dict) -> Any:
        if not self._url.startswith(("http://", "https://")):
            raise NodeError(f"{self._url!r} is no address of a node: write one such as http://127.0.0.1:8090")
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        try:
            request = Request(self._url + target, None if body is None else json.dumps(body).encode(), headers)
            with self._opener.open(request, timeout=self._timeout_s) as answer:
                data = answer.read(MAX_ANSWER_BYTES)
        except HTTPError as error:
            with error:
                raise _refusal(error) from None
        except (OSError, HTTPException, ValueError) as error:  # ValueError: of what is no URL
            reason = str(getattr(error, "reason", error)).strip()
            raise NodeError(f"no node answers at {self._url}: {reason}") from None
        try:
            found = json.loads(data)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, kind):
            raise NodeError(f"{self._url} answers, but not as a node: {data[:40]!r}")
        return found


def _refusal(error: HTTPError) -> NodeError:
    try:
        detail = str(json.loads(error.read(1 << 20))["detail"])  # RFC 9457
    except (OSError, HTTPException, ValueError, LookupError, TypeError):
        detail = f"status {error.code} {error.headers.get('Location', '')}".rstrip()
    after = error.headers.get("Retry-After", "")
    return NodeError(detail, error.code, float(after) if after.isdecimal() else None)
