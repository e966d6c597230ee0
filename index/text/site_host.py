"""The host that a page lies at, as results are counted by it, and whether a page is that host's front.

Pure: strings in, strings and bytes out.
"""

from functools import lru_cache
from hashlib import blake2b
from urllib.parse import urlsplit

_FRONT_PATHS = frozenset(("", "/", "/index.html", "/index.htm", "/index.php"))
HOST_BYTES = 8  # nobody finds another host with the digest of a given one


def host_of(url: str) -> str:
    """Return the host of a URL with its port where it has one; "" where a stranger signed what is no URL."""
    try:
        return urlsplit(url).netloc
    except ValueError:
        return ""


def front_name(url: str) -> str:
    """Return the name of the host, without its port, whose front page is at a URL; "" where that is another page."""
    try:
        parts = urlsplit(url)
        return (parts.hostname or "") if parts.path in _FRONT_PATHS and not parts.query else ""
    except ValueError:
        return ""


@lru_cache(1 << 14)
def digest_of_host(host: str) -> bytes:
    """Return the 8 bytes by which answers name a host."""
    return blake2b(host.encode("utf-8", "replace"), digest_size=HOST_BYTES).digest()


def name_of_host(digest: bytes) -> str:
    """Write a host's digest as the name by which an index finds the pages of exactly this host; no host looks so."""
    return f"={digest.hex()}"
