"""Makes spider traps and awkward pages: endless calendars, depths, facets, a login wall, a gzip bomb, endless bodies.

Pure: a path and a query in, a page out; no page here is real and no host of the bundled web has them.
"""

import functools
import html
import re
import zlib
from urllib.parse import quote, urlencode

from node.extras.demo.sample_reply import HTML, SampleReply, page, redirect, reply

# Where a page of a host links into each of its traps.
ENTRANCES = {
    "calendar": "/calendar/2026/11/",
    "hatchline": "/hatchline/",
    "facets": "/shop?page=1",
    "login": "/account/",
    "huge": "/huge.html",
    "drip": "/drip.html",
    "bomb": "/bomb.html",
}
FIRST_PARTS = {"shop": "facets", "account": "login"}
BOMB_BYTES = 200 << 20  # about 200 kB once packed


def trap_at(path: str) -> str:
    """Return the name of the trap that a path would belong to."""
    first = path.strip("/").split("/")[0]
    return FIRST_PARTS.get(first, first.removesuffix(".html"))


def spring(kind: str, path: str, query: dict[str, list[str]]) -> SampleReply:
    """Answer one request into a trap."""
    parts = path.strip("/").split("/")
    match kind:
        case "calendar":
            return _calendar(parts)
        case "hatchline":
            return page("Hatchline", f'Depth {len(parts)}. <a href="hatchline/">deeper</a> <a href="./">here</a>')
        case "facets":
            return _facets(query)
        case "login":
            return _login(parts)
        case "bomb":
            return reply(200, HTML, _bomb(), Content_Encoding="gzip")
        case _:
            return SampleReply(200, {"Content-Type": HTML}, {"": b""}, stream=kind)


def _calendar(parts: list[str]) -> SampleReply:
    """Make one of endless months, each with its days."""
    year, month = (int(part) if part.isdecimal() and len(part) < 9 else 1 for part in [*parts[1:3], "1", "1"][:2])
    links = [(f"{year + month // 12}/{month % 12 + 1}/", "next"), (f"{year - 1}/{month}/", "last year")]
    links += [(f"{year}/{month}/{day}", str(day)) for day in range(1, 29)]
    body = "".join(f'<a href="/calendar/{target}">{word}</a> ' for target, word in links)
    return page(f"Events {'/'.join(parts[1:])}", body)


def _facets(query: dict[str, list[str]]) -> SampleReply:
    """Make one of endless combinations of a query string."""
    following = int("0" + re.sub("[^0-9]", "", query.get("page", ["1"])[0])[:9]) + 1
    facets = {"colour": ["red", "blue"], "size": ["s", "m", "l"], "sort": ["price", "new"], "page": [str(following)]}
    links = [
        f'<a href="/shop?{html.escape(urlencode(query | {name: [value]}, doseq=True))}">{value}</a>'
        for name, values in facets.items()
        for value in values
    ]
    return page("Shop", "Four hundred items match. " + " ".join(links))


def _login(parts: list[str]) -> SampleReply:
    """Lead every path to one form, each time with another query and a cookie."""
    if parts[0] == "login":
        form = "<form method=post><input name=user><input type=password name=password></form>"
        return page("Sign in", form)
    return redirect(302, f"/login?next=/{quote('/'.join(parts))}", Set_Cookie="visitor=1")


@functools.cache
def _bomb() -> bytes:
    """Pack zeros that unpack to BOMB_BYTES."""
    return zlib.compress(bytes(BOMB_BYTES), 9, 31)
