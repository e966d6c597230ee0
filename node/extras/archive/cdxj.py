"""CDXJ: a sorted line for each capture, by which archives find a page and a date.

Pure. A line is the address as a sort key (SURT: `org,example)/path`), the instant as 14 digits, and the rest as JSON.
The key leaves out what rarely tells pages apart: scheme, `www.`, capitals, the order of a query's parts, session ids.
Source: the canonical form of the Internet Archive and pywb, as the package `surt` computes it; tests compare both.
"""

import re
from urllib.parse import quote_from_bytes, unquote_to_bytes

import msgspec

from node.captures.capture import Capture, instant
from node.extras.archive.archive_output import digest_text

_URL = re.compile(r"https?://(?:[^/?#@]*@)?(\[[^/?#\]]*\]|[^/?#:]*)(?::(\d*))?([^?#]*)(?:\?([^#]*))?", re.I)
_WWW = re.compile(r"www\d*\.")
_PLAIN = re.compile(r"[a-z0-9_./~!$'()*,;:@&=+-]*")
_KEPT = b"!\"$&'()*+,-./:;<=>?@[\\]^_`{|}~"
_MOST_UNESCAPED = 8  # times that "%25" may hide a percent sign
_PATH_SESSIONS = (
    re.compile(r"^(.*/)(\((?:[a-z]\([0-9a-z]{24}\))+\)/)([^?]+\.aspx.*)$", re.S),
    re.compile(r"^(.*/)(\([0-9a-z]{24}\)/)([^?]+\.aspx.*)$", re.S),
)
_QUERY_SESSIONS = tuple(
    re.compile(rf"^(.*){name}(?:&(.*))?$", re.S)
    for name in (
        "(?:jsessionid=[0-9a-z]{32})", "(?:phpsessid=[0-9a-z]{32})", "(?:sid=[0-9a-z]{32})",
        "(?:aspsessionid[a-z]{8}=[a-z]{24})", "(?:cfid=[^&]+&cftoken=[^&]+)",
    )
)  # fmt: skip


def surt_key(url: str) -> str:
    """Return the sort key of an address; one that is not of the web is its own."""
    found = _URL.match(url.strip())
    if not found:
        return url
    host, port, path, query = found.groups()
    default = "443" if url[:5].lower() == "https" else "80"
    own_port = f":{port}" if port and port != default else ""
    name = _WWW.sub("", host.lower().strip("."), count=1) if host[:3].lower() == "www" else host.lower().strip(".")
    key = f"{','.join(reversed(name.split('.')))}{own_port}){_path(path)}"
    parts = _query(query) if query else ""
    return f"{key}?{parts}" if parts else key


def timestamp14(at: float) -> str:
    """Return an instant as archives name it: year to second, UTC."""
    return instant(at).strftime("%Y%m%d%H%M%S")


def cdxj_fields(capture: Capture) -> dict[str, str]:
    """Return what an index says of a capture besides key and instant."""
    return {
        "url": capture.url,
        "mime": capture.media_type or "unk",
        "status": f"{capture.status}",
        "digest": digest_text(capture.content_digest),
    }


def cdxj_line(capture: Capture, place: tuple[str, int, int] | None = None) -> str:
    """Return a capture's line, without its end. `place`: the WARC with its record, where in it, and how many bytes."""
    fields = cdxj_fields(capture)
    if place:
        filename, offset, length = place
        fields |= {"length": f"{length}", "offset": f"{offset}", "filename": filename}
    rest = msgspec.json.encode(fields).decode()
    return f"{surt_key(capture.url)} {timestamp14(capture.captured_at)} {rest}"


def _path(path: str) -> str:
    path = path.lower() if _PLAIN.fullmatch(path.lower()) else _escaped(path).lower()
    kept: list[str] = []
    for part in path.split("/")[1:]:
        if part == ".." and kept:
            kept.pop()
        elif part != ".":
            kept.append(part)
    last = kept.pop() if kept else ""
    path = "".join(("/", *(f"{part}/" for part in kept if part), last))
    for pattern in _PATH_SESSIONS:
        if "(" in path and (found := pattern.match(path)):
            path = found[1] + found[3]
    return path.removesuffix("/") or "/"


def _query(query: str) -> str:
    query = (query if _PLAIN.fullmatch(query.lower()) else _escaped(query)).lower()
    for pattern in _QUERY_SESSIONS:
        if "id=" in query and (found := pattern.match(query)):
            query = found[1] + (found[2] or "")
    return "&".join("=".join(pair) for pair in sorted(tuple(part.split("=", 1)) for part in query.split("&")))


def _escaped(text: str) -> str:
    """Undo percent-encoding as often as it was done, and do it once where it must be."""
    data = text.encode("utf-8", "replace")
    for _ in range(_MOST_UNESCAPED):
        if (plain := unquote_to_bytes(data)) == data:
            break
        data = plain
    return quote_from_bytes(data, safe=_KEPT)
