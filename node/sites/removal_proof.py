"""Reads a site owner's proof of a removal: a text file at the site that names the URLs to be removed.

Pure: URLs and pages in, removals out. A request is a page like any other: the file at an address that names one
beginning of URLs. So it reaches the keepers of the site's pages, its fetcher signs it, anybody can check it by a fetch,
and it is fetched again at times. Where the file no longer names it, or is gone, the removal ends.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import quote, unquote

from crawl import canonical_url
from dht import placement_key, split_url
from store import PROOF_PATH, Document

NAME = "dse-node-removal:"  # begins the file; what follows are beginnings of paths
MAX_PREFIX_CHARS = 512
MAX_TRIES = 1 << 14  # to find an address in each place of a spread site; 256 places take some 1,600
_QUERY = re.compile(r"prefix=([^&]+)&place=\d+")


class Removal(NamedTuple):
    """Names the URLs that the owner of a site wants gone: all whose path and query begin so."""

    site: str
    prefix: str


def proof_urls(url: str, depth: int) -> list[str]:
    """Return the addresses of the proof for all URLs that begin as a canonical one does: one in each of the 2**depth
    places in which the site lies."""
    parts = split_url(url)
    prefix = quote(f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}", safe="/")
    found: dict[bytes, str] = {}
    for number in range(MAX_TRIES):
        proof = canonical_url(f"{parts.scheme}://{parts.site}{PROOF_PATH}?prefix={prefix}&place={number}")
        found.setdefault(placement_key(proof, depth)[:10], proof)
        if len(found) == 1 << depth:
            break
    return list(found.values())


def removal_of(url: str) -> Removal | None:
    """Return the removal that the proof at a canonical URL would be for; None where it is no such address."""
    parts = split_url(url)
    asked = _QUERY.fullmatch(parts.query) if parts.path == PROOF_PATH else None
    prefix = unquote(asked[1]) if asked else ""
    return Removal(parts.site, prefix) if prefix.startswith("/") and len(prefix) <= MAX_PREFIX_CHARS else None


def proves(words: Sequence[str], prefix: str) -> bool:
    """Tell whether a file of these words names a beginning, or one that it begins with."""
    if NAME not in words:
        return False
    return any(word.startswith("/") and prefix.startswith(word) for word in words[words.index(NAME) + 1 :])


def proved(document: Document) -> Removal | None:
    """Return the removal that a stored page proves, None where it proves none."""
    is_file = document.status == 200 and not document.gone and document.media_type == "text/plain"
    removal = removal_of(document.url) if is_file else None
    words = f"{document.text} {document.boilerplate}".split()
    return removal if removal is not None and proves(words, removal.prefix) else None
