"""Reads a query that is nothing but a host or a URL: the canonical URLs that it may mean.

Pure: strings in, strings out. Somebody who types an address wants that page: with or without its scheme and "www.".
"""

import re

_ADDRESS = re.compile(
    r"(?:(?P<scheme>https?)://)?(?P<host>[^\s/?#@:\"'()]{1,253})(?::(?P<port>\d{1,5}))?(?P<rest>[/?][^\s#]*)?(?:#\S*)?",
    re.IGNORECASE,
)
_DOTTED = re.compile(r".+\.[^\W\d_][\w-]+")  # a host that is typed without a scheme has a top label
_DEFAULT_PORTS = {"http": "80", "https": "443"}
WWW = "www."


def typed_urls(typed: str) -> tuple[str, ...]:
    """Return the canonical URLs that an address may mean, the likeliest first, none where the text is no address. A
    host alone means its front page."""
    found = _ADDRESS.fullmatch(typed.strip())
    if found is None or not (found["scheme"] or _DOTTED.fullmatch(found["host"])):
        return ()
    try:
        host = found["host"].encode("idna").decode().lower()
    except UnicodeError:
        return ()
    said, rest, port = (found["scheme"] or "https").lower(), found["rest"] or "/", found["port"]
    path = rest if rest.startswith("/") else f"/{rest}"
    schemes = (said, "http" if said == "https" else "https")
    hosts = (host, host.removeprefix(WWW) if host.startswith(WWW) else f"{WWW}{host}")
    ports = {each: f":{port}" if port and port != _DEFAULT_PORTS[each] else "" for each in schemes}
    return tuple(f"{each}://{name}{ports[each]}{path}" for name in hosts for each in schemes)
