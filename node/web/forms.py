"""Reads the forms of the pages: small, urlencoded, and from pages of this very node where that matters."""

from collections.abc import Mapping
from urllib.parse import parse_qsl, urlsplit

from aiohttp import web

from node.web.problems import BadParameter
from node.web.routes import FORM

MAX_FIELDS = 32


async def read_form(request: web.Request) -> Mapping[str, str]:
    """Return the fields of a form, the last of those with one name; raises BadParameter. Nothing is put on the disk, as
    the web library does with files."""
    if request.content_type != FORM:
        raise BadParameter("Content-Type", f"is not {FORM}")
    try:
        return dict(parse_qsl((await request.read()).decode(), keep_blank_values=True, max_num_fields=MAX_FIELDS))
    except ValueError as error:
        raise BadParameter("body", str(error)) from None


def is_own_page(request: web.Request) -> bool:
    """Tell whether a request was sent by a page of this very host and port (RFC 6454)."""
    try:
        return urlsplit(request.headers.get("Origin", "")).netloc == request.host
    except ValueError:
        return False
