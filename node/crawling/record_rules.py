"""Tells the store what it cannot know by itself: which URLs are canonical, and what visits look like.

Pure: bodies in, reasons out.
"""

import re

from crawl import decode_visit, domain_of, is_canonical, visit_flaw
from dht import split_url
from store import SoundRecords

_PUNYCODE = re.compile(r"(?<=[/.])xn--[a-z0-9-]+")  # what such a label may hold changes with each version of Unicode


class RecordRules:
    """The `BodyRules` of every node's store."""

    sound = SoundRecords()  # one for all: what is so by these rules is so wherever they are asked

    def url_flaw(self, url: str) -> str:
        """Say why no record may be about a URL, "" where it is canonical."""
        scheme, separator, rest = url.partition("://")
        host, slash, path = rest.partition("/")
        plain = f"{scheme}{separator}{_PUNYCODE.sub('x', '/' + host)[1:]}{slash}{path}" if "xn--" in host else url
        return "" if is_canonical(plain) else f"{url[:80]!a} is no canonical URL"

    def visit_flaw(self, body: bytes, epoch: int, at_ms: int) -> str:
        """Say why a body is no visit of this version; raises ValueError or RecursionError where it is none at all."""
        return visit_flaw(decode_visit(body), epoch, at_ms)

    def domain_of(self, url: str) -> str:
        """Return the registrable domain of a URL; raises ValueError where it is none."""
        return domain_of(split_url(url).host)
