"""Where a page lies: its host, as results are counted by it, its port and folders, and whether it is the host's front.

Pure: strings in, strings and bytes out.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from hashlib import blake2b
from itertools import accumulate
from urllib.parse import quote, unquote_to_bytes, urlsplit

_FRONT_PATHS = frozenset(("", "/", "/index.html", "/index.htm", "/index.php"))
MAX_FOLDERS = 4  # segments of a path, by which a page is found
_PLAIN_PATH = re.compile(r"[\w.~/-]*", re.ASCII)
_LABEL, _WORD = re.compile(r"[^.-]+"), re.compile(r"[^\W_]+")
_LEFT_OUT = "ql", "sql", "js", "db", "lang", "project", "docs", "wiki", "hq"  # endings of names: people say "postgres"
LEAST_NAME, MAX_NAMES = 3, 2  # letters of a shorter name, and how many of them a front page has
HOST_BYTES = 8  # nobody finds another host with the digest of a given one


def host_of(url: str) -> str:
    """Return the host of a URL with its port where it has one; "" where a stranger signed what is no URL."""
    try:
        return urlsplit(url).netloc
    except ValueError:
        return ""


def is_plainer(url: str, other: str) -> bool:
    """Tell whether the first of two addresses of one page is the plainer one. That is the beginning of the other one,
    as / is of /index.html, and the one of the host above: `www.` counts as the domain itself."""
    host, beside = (host_of(each).removeprefix("www.") for each in (url, other))
    if host == beside:
        return len(url) < len(other) and other.startswith(url)
    return bool(host) and beside.endswith(f".{host}")


def front_name(url: str) -> str:
    """Return the name of the host, without its port, whose front page is at a URL; "" where that is another page."""
    try:
        parts = urlsplit(url)
        return (parts.hostname or "") if parts.path in _FRONT_PATHS and not parts.query else ""
    except ValueError:
        return ""


def shorter_names(host: str, title: str) -> list[str]:
    """Return what people call a site ("django" for djangoproject.com). These are words of its front page's title that
    begin a label of its host, and labels without an ending that is left out ("postgres" for postgresql.org)."""
    labels = _LABEL.findall(host.lower())
    said = (word for word in _WORD.findall(title.lower()) if any(_begins(label, word) for label in labels))
    cut = (label.removesuffix(ending) for label in labels for ending in _LEFT_OUT)
    names = dict.fromkeys(name for name in (*said, *cut) if len(name) >= LEAST_NAME and name not in labels)
    return list(names)[:MAX_NAMES]


def _begins(label: str, word: str) -> bool:
    """Tell whether a label goes on after a word by a letter; elsewhere the analyzer cuts it."""
    return label.startswith(word) and label[len(word) : len(word) + 1].isalpha()


@lru_cache(1 << 14)
def digest_of_host(host: str) -> bytes:
    """Return the 8 bytes by which answers name a host."""
    return blake2b(host.encode("utf-8", "replace"), digest_size=HOST_BYTES).digest()


def name_of_host(digest: bytes) -> str:
    """Write a host's digest as the name by which an index finds the pages of exactly this host; no host looks so."""
    return f"={digest.hex()}"


def place_tags(url: str) -> Iterator[str]:
    """Yield a tag for the port of a URL, and one for each folder that it is in or names, up to MAX_FOLDERS."""
    try:
        parts = urlsplit(url)
        yield port_tag(parts.port or (443 if parts.scheme == "https" else 80))
        yield from folder_tags(parts.path)
    except ValueError:  # a stranger signed it
        return


def port_tag(port: int) -> str:
    """Return the tag of pages of a port, that of their scheme where they name none."""
    return f"port:{port}"


def folder_tags(path: str) -> Iterator[str]:
    """Yield the tags of the first segments of a path, each with those before it."""
    if not _PLAIN_PATH.fullmatch(path):  # one text for all ways to escape it
        path = "/".join(quote(unquote_to_bytes(segment)).replace("/", "%2F") for segment in path.split("/"))
    segments = path.removesuffix("/").split("/", MAX_FOLDERS + 1)[1 : MAX_FOLDERS + 1]
    return (f"folder:{folder}" for folder in accumulate(segments, "{}/{}".format))
