"""Reads the forms of the pages: small, urlencoded, and from pages of this very node where that matters."""

from urllib.parse import parse_qsl, urlsplit

from aiohttp import BodyPartReader, web

from node.web.requests.own_origin import own_host
from node.web.requests.parameters import Values, read_fields
from node.web.requests.problems import BadParameter
from node.web.requests.route_table import route
from node.web.requests.routes import FILES, FORM

MAX_FORM_BYTES = 65_536  # the longest fields in percents
MAX_FIELDS = 32


async def read_form(request: web.Request, name: str) -> Values:
    """Return the fields of the form that a route takes; raises BadParameter. Nothing is put on the disk, as the web
    library does with files."""
    if request.content_type != FORM:
        raise BadParameter("Content-Type", f"is not {FORM}")
    body = await request.clone(client_max_size=MAX_FORM_BYTES).read()
    return read_fields(route(name), read_query("form", body, keeps_blank=True))


async def read_file(request: web.Request, name: str, most_bytes: int) -> bytes:
    """Return the file that a form sends as the only field of a route; raises BadParameter. It is kept in memory."""
    (field,) = route(name).form
    if request.content_type != FILES:
        raise BadParameter("Content-Type", f"is not {FILES}")
    try:
        part = await (await request.multipart()).next()
        if not isinstance(part, BodyPartReader) or part.name != field.name:
            raise BadParameter(field.name, f"is missing; it takes {field.about}")
        data = bytearray()
        while chunk := await part.read_chunk():
            data += chunk
            if len(data) > most_bytes:
                raise BadParameter(field.name, f"is longer than {most_bytes} bytes")
    except ValueError as error:
        raise BadParameter(field.name, f"is none as browsers send it: {error}") from None
    return bytes(data)


def read_query(name: str, text: str | bytes, *, keeps_blank: bool = False) -> list[tuple[str, str]]:
    """Take apart a query string that is the value of `name`; raises BadParameter."""
    try:
        text = text if isinstance(text, str) else text.decode()
        return parse_qsl(text, keep_blank_values=keeps_blank, max_num_fields=MAX_FIELDS)
    except ValueError as error:
        raise BadParameter(name, f"is none as browsers send it: {error}") from None


def is_own_page(request: web.Request) -> bool:
    """Tell whether a request was sent by a page of this very host and port (RFC 6454)."""
    try:
        return urlsplit(request.headers.get("Origin", "")).netloc == own_host(request)
    except ValueError:
        return False
