"""Answers what archives' programs ask: an index of what is stored, as CDX servers give it."""

from dataclasses import replace
from math import inf

import msgspec
from aiohttp import web

from crawl import BadUrl
from node.captures.capture import Capture
from node.captures.network_reader import ReadBounds
from node.captures.scope import Wish, wish_of
from node.extras.archive.cdxj import cdxj_fields, cdxj_line, surt_key, timestamp14
from node.service.service import Service
from node.web.requests.api import parameters
from node.web.requests.parameters import Values
from node.web.requests.problems import BadParameter
from node.web.stored.documents import MAX_CONTENT_BYTES, READ_S, cursor
from node.web.stored.memento import last_instant, timestamp_of


class Cdx:
    """Holds the handler of the index."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def cdx(self, request: web.Request) -> web.Response:
        """Answer GET /cdx: a line for each version, in the order of keys; the header Link names what follows."""
        values = parameters(request, "cdx")
        since, until = timestamp_of(values.text("from"), "from"), last_instant(values.text("to"), "to")
        bounds = ReadBounds(values.count("limit"), MAX_CONTENT_BYTES, READ_S)
        part = await self._service.archive(_matching(values), cursor(values), bounds, content=False)
        found = [c for c in part.captures if (since or 0.0) <= c.captured_at <= (until or inf)]
        line = cdxj_line if values.text("output") == "text" else _json_line
        headers = {}
        if part.next is not None:
            following = request.rel_url.update_query(cursor=part.next.hex())
            headers["Link"] = f'<{following.raw_path_qs}>; rel="next"'
        if part.unread:
            headers["X-Unread-Slots"] = ", ".join(str(unread.slot) for unread in part.unread[:64])
        text = "".join(f"{each}\n" for each in sorted(map(line, found)))
        return web.Response(text=text, content_type="text/plain", headers=headers)


def _matching(values: Values) -> Wish:
    try:
        return replace(wish_of(values.text("url"), values.text("matchType")), all_versions=True)
    except (BadUrl, ValueError) as error:
        raise BadParameter("url", str(error)) from None


def _json_line(capture: Capture) -> str:
    key, at = surt_key(capture.url), timestamp14(capture.captured_at)
    return msgspec.json.encode({"urlkey": key, "timestamp": at, **cdxj_fields(capture)}).decode()
