"""Answers programs that read stored documents in bulk: those of a slot, a site or the network, part by part; and takes
pages that the node's operator imports."""

import re
from dataclasses import replace

from aiohttp import web

from crawl import BadUrl
from dht import MAX_SLOT_BITS, Key, Slot
from node.api.documents import DocumentsRead, Imported, ImportOrder
from node.captures.network_reader import ReadBounds
from node.captures.scope import FIRST, Wish, wish_of
from node.service.service import Service, known_url
from node.web.requests.api import json_response, parameters, read_body
from node.web.requests.parameters import Values
from node.web.requests.problems import BadParameter
from node.web.stored.memento import last_instant

MAX_CONTENT_BYTES = 8 << 20  # of contents, texts and links in one answer, and one batch of pages beyond
READ_S = 10.0  # then an answer ends with what there is, a third of the time that a request may take
MAX_IMPORT_BYTES = 32 << 20  # of such a request: a page of 16 MiB in Base64, with its head
_CURSOR = re.compile("[0-9a-f]{40}")


class Documents:
    """Holds the handlers that read and take many documents, named as in the table of routes."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def documents(self, request: web.Request) -> web.Response:
        """Answer GET /api/v1/documents."""
        values = parameters(request, "documents")
        bounds = ReadBounds(values.count("limit"), MAX_CONTENT_BYTES, READ_S)
        content = values.flag("content")
        part = await self._service.archive(_wish(values), cursor(values), bounds, content=content)
        following = part.next.hex() if part.next is not None else None
        return json_response(
            DocumentsRead(
                documents=part.captures,
                next_cursor=following,
                unread=part.unread,
                left_out=part.left_out,
                lifetimes=part.lifetimes,
            )
        )

    async def take_pages(self, request: web.Request) -> web.Response:
        """Answer POST /api/v1/import. Only the operator's programs come so far: no stranger sends so much."""
        large = request.clone(client_max_size=MAX_IMPORT_BYTES)
        assert isinstance(large, web.Request)
        order = await read_body(large, ImportOrder)
        pages = await self._service.take_pages(order.pages, order.file, dry_run=order.dry_run, crawl=order.crawl)
        return json_response(Imported(pages=list(pages)))


def cursor(values: Values) -> Key:
    """Return where a reading goes on, by the parameter `cursor`."""
    text = values.text("cursor")
    if text and not _CURSOR.fullmatch(text):
        raise BadParameter("cursor", "is none that this network gave")
    return Key(bytes.fromhex(text)) if text else FIRST


def _wish(values: Values) -> Wish:
    slot, site, prefix = values.text("slot"), values.text("site"), values.text("prefix")
    urls = tuple(url for text in values.texts("url") if (url := known_url(text)))
    if sum(map(bool, (site, prefix, urls))) > 1:
        raise BadParameter("site", "excludes prefix and url")
    number = None
    if slot:
        if not (slot.isascii() and slot.isdecimal()) or int(slot) >= 1 << MAX_SLOT_BITS:
            raise BadParameter("slot", f"is no number below {1 << MAX_SLOT_BITS}")
        number = Slot(int(slot))
    wish = Wish(urls=urls)
    try:
        if site or prefix:
            wish = wish_of(site or prefix, "domain" if site else "prefix")
    except BadUrl as error:
        raise BadParameter("site" if site else "prefix", str(error)) from None
    at, all_versions = last_instant(values.text("at")), values.flag("all_versions")
    if at is not None and all_versions:
        raise BadParameter("at", "excludes all_versions")
    return replace(
        wish,
        slot=number,
        at=at,
        all_versions=all_versions,
        links=values.flag("links"),
        lifetimes=values.flag("lifetimes"),
    )
