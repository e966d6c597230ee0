"""Answers Memento clients (RFC 7089): which versions of a page there are, and which was current at a date.

The version itself is `/cache?url=&at=&view=page`. Of a URL, the versions at both schemes are told, as CDX servers do.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime
from urllib.parse import quote, unquote, urlencode

from aiohttp import web

from crawl import BadUrl
from node.captures.capture import Capture, instant
from node.captures.network_reader import ReadBounds
from node.captures.scope import FIRST, Wish, wish_of
from node.service.service import Service
from node.web.requests.own_origin import own_origin
from node.web.requests.parameters import read_parameters
from node.web.requests.problems import BadParameter
from node.web.requests.route_table import route

MOST = ReadBounds(1000, 64 << 20, 10.0)  # versions of one page
_UNITS = {8: "days", 10: "hours", 12: "minutes", 14: "seconds"}  # by the digits of an instant
_WITH_HYPHENS = re.compile(r"\d{4}-\d\d(-\d\d)?", re.ASCII)
LINK_FORMAT = "application/link-format"
_IN_LINKS = "%/:=&?~#+!$,;'@()*[]"  # what a canonical URL may hold, without < > and quotation marks


class Memento:
    """Holds the handlers of TimeGate and TimeMap, named as in the table of routes."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def timegate(self, request: web.Request) -> web.Response:
        """Answer GET /timegate/URL: lead to the version nearest to Accept-Datetime, or the newest."""
        url = _original(request, "timegate")
        found = await versions(self._service, url)
        headers = {"Vary": "accept-datetime", "Link": _links(request, url, ())}
        at = _accepted(request.headers.get("Accept-Datetime", ""))
        if not found:
            return web.Response(status=404, text="No version of this page is stored.\n", headers=headers)
        chosen = nearest(found, at)
        headers["Location"] = _memento_url(request, chosen)
        return web.Response(status=302, headers=headers | {"Link": _links(request, url, (chosen,), found)})

    async def timemap(self, request: web.Request) -> web.Response:
        """Answer GET /timemap/link/URL: all versions, oldest first."""
        url = _original(request, "timemap")
        found = await versions(self._service, url)
        if not found:
            return web.Response(status=404, text="No version of this page is stored.\n")
        links = _links(request, url, found, found, own=f"{own_origin(request)}/timemap/link/{url}")
        body = links.replace(", <", ",\n<") + "\n"
        return web.Response(text=body, content_type=LINK_FORMAT)


async def versions(service: Service, url: str) -> list[Capture]:
    """Return the versions of a page that may be shown, without their contents, oldest first; none of what is no URL."""
    try:
        wish = replace(wish_of(url, "exact"), all_versions=True)
    except BadUrl:
        return []
    part = await service.archive(wish, FIRST, MOST, content=False)
    return sorted(part.captures, key=lambda capture: capture.captured_at)


async def whole(service: Service, version: Capture) -> Capture | None:
    """Return a version of a page with its content, None where it is not there any more."""
    wish = Wish(urls=(version.url,), at=version.captured_at)
    part = await service.archive(wish, FIRST, MOST, content=True)
    return next((found for found in part.captures if found.captured_at == version.captured_at), None)


def nearest(captures: Sequence[Capture], at: float | None) -> Capture:
    """Return the version nearest to an instant, of two as near the earlier; the newest where none is named."""
    if at is None:
        return captures[-1]
    return min(captures, key=lambda capture: (abs(capture.captured_at - at), capture.captured_at))


def timestamp_of(text: str, name: str = "at") -> float | None:
    """Read an instant of 4 to 14 digits, year first, as archives write it, or a day with hyphens; None for "". Raises
    BadParameter, which calls it by its name."""
    return _begin_of(_digits(text), name).timestamp() if text else None


def last_instant(text: str, name: str = "at") -> float | None:
    """Return the end of the year, month, day or less that such a text names; None for "". Raises BadParameter."""
    if not text:
        return None
    begin, digits = _begin_of(_digits(text), name), len(_digits(text))
    try:
        if digits == 4:
            end = begin.replace(year=begin.year + 1)
        elif digits == 6:
            end = (begin + timedelta(days=31)).replace(day=1)
        else:
            end = begin + timedelta(**{_UNITS[digits]: 1})
    except (ValueError, OverflowError):  # dates end with the year 9999
        end = datetime.max.replace(tzinfo=UTC)
    return end.timestamp() - 1e-6


def _digits(text: str) -> str:
    return text.replace("-", "") if _WITH_HYPHENS.fullmatch(text) else text


def _begin_of(text: str, name: str) -> datetime:
    try:
        if not (text.isascii() and text.isdecimal() and 4 <= len(text) <= 14 and len(text) % 2 == 0):
            raise ValueError(text)
        return datetime.strptime(text + "00000101000000"[len(text) :], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        wanted = "write 20261124, 2026-11-24, or 20261124103000"
        raise BadParameter(name, f"{text!r} is no date; {wanted}") from None


def memento_headers(request: web.Request, capture: Capture) -> Mapping[str, str]:
    """Return the headers that say of an answer which version of which page it is."""
    return {"Memento-Datetime": _http_date(capture.captured_at), "Link": _links(request, capture.url, ())}


def _links(
    request: web.Request, url: str, named: Sequence[Capture], all_: Sequence[Capture] = (), own: str = ""
) -> str:
    """Write the links between a page, its TimeGate, its TimeMap and some of its versions."""
    origin = own_origin(request)
    timemap = f'<{_safe(own or f"{origin}/timemap/link/{url}")}>; rel="{"self" if own else "timemap"}"'
    timemap += f'; type="{LINK_FORMAT}"'
    if own:
        timemap += f'; from="{_http_date(all_[0].captured_at)}"; until="{_http_date(all_[-1].captured_at)}"'
    links = [f'<{_safe(url)}>; rel="original"', f'<{_safe(f"{origin}/timegate/{url}")}>; rel="timegate"', timemap]
    for capture in named:
        place = "first " * (capture is all_[0]) + "last " * (capture is all_[-1])
        date = _http_date(capture.captured_at)
        links.append(f'<{_safe(_memento_url(request, capture))}>; rel="{place}memento"; datetime="{date}"')
    return ", ".join(links)


def _memento_url(request: web.Request, capture: Capture) -> str:
    at = instant(capture.captured_at).strftime("%Y%m%d%H%M%S")
    return f"{own_origin(request)}/cache?{urlencode({'url': capture.url, 'at': at, 'view': 'page'})}"


def _original(request: web.Request, name: str) -> str:
    """The URL in a path, with its own query, whether it is percent-encoded as a whole or not. Raises BadParameter."""
    given = request.raw_path.removeprefix(route(name).path.partition("{")[0])
    given = given if "://" in given else unquote(given)
    url = read_parameters(route(name), [("url", given)]).text("url")
    try:
        return wish_of(url, "exact").url
    except BadUrl as error:
        raise BadParameter("url", str(error)) from None


def _accepted(text: str) -> float | None:
    """The instant in an Accept-Datetime header, None where there is none. Raises BadParameter."""
    if not text:
        return None
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, OverflowError):
        raise BadParameter("Accept-Datetime", "is no date as RFC 9110 writes it") from None


def _http_date(at: float) -> str:
    return format_datetime(instant(at), usegmt=True)


def _safe(url: str) -> str:
    return quote(url, safe=_IN_LINKS)
