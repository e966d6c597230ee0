"""Judges URLs of network files: https, or http where nobody on the way can put another network there.

That is where the machine is this one, or where the URL says which network it must be: `http://…/dse.toml#ID`. Pure.
"""

import ipaddress
import re
from urllib.parse import urlsplit

ID = re.compile("[0-9a-f]{40}")


def is_url(text: str) -> bool:
    """Tell whether a text means a URL and no file."""
    return text.startswith(("http://", "https://"))


def url_flaw(url: str) -> str:
    """Say why a seed URL may not be fetched; "" where it may."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError as error:
        return str(error)
    if parts.scheme not in ("http", "https") or not host:
        return "is not an http or https URL"
    if parts.fragment and not ID.fullmatch(parts.fragment):
        return "does not end in a network's id, 40 hex digits"
    if parts.scheme == "http" and not parts.fragment and not _is_here(host):
        return "is http, which anybody on the way may change"
    return ""


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
