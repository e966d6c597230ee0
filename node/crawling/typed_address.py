"""Reads the address of a page as people type it, and says what to write where it is none.

Pure: texts in, texts out.
"""

import re

from crawl import BadUrl

_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?", re.IGNORECASE)


def with_scheme(text: str) -> str:
    """Put https:// before an address that was typed without it. A word without a dot stays as it is, and is no
    address: `wiki` may be a host of somebody's own network, or a mistake."""
    host, _, port = text.partition("/")[0].partition(":")
    is_host = "." in host or port.isdecimal() or host == "localhost"
    return f"https://{text}" if is_host and "://" not in text else text


def bad_url_text(text: str, error: BadUrl) -> str:
    """Say why a text is no address, and what to write instead."""
    if _LABEL.fullmatch(text.rstrip("/")):
        return f"its host has no dot; write http://{text.rstrip('/')}/ if it is a host of your own network"
    return f"{error.reason}; give an http or https URL such as https://example.org/"
