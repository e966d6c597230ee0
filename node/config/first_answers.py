"""Reads what an owner answers when a node is made: the network, its limits, the first site.

Pure: texts in, values out. `dse-node init` asks at a terminal (`node/cli/first_questions.py`), the page /owner/welcome
in a browser.
"""

import re
import shlex
from dataclasses import dataclass

from crawl import BadUrl, FetchHours, canonical_url
from node.crawling.typed_address import bad_url_text, with_scheme
from node.errors import ConfigError

_BYTES = {"kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_AMOUNT = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,3})?) ?([kmgt]b)(/s)?", re.I)


@dataclass(frozen=True, slots=True)
class FirstAnswers:
    """Holds what was answered, as options of `init`: "" and () where the default was taken."""

    network: str = ""
    invitation: str = ""
    settings: tuple[str, ...] = ()
    site: str = ""


def network_of(text: str) -> tuple[str, str]:
    """Return a network's file or URL, and the words of an invitation behind it."""
    try:
        name, *words = shlex.split(text) or [""]
    except ValueError as error:
        raise ConfigError(text, str(error).lower(), 'put a file\'s name in quotes, such as "my campus.toml"') from None
    return name, " ".join(words)


def site_named(text: str, option: str = "") -> str:
    """Return the address of a site, "" for none, with https:// where a person left it out. Raises ConfigError, which
    names the `option` of a command line that has the text."""
    if not text:
        return ""
    url = with_scheme(text)
    try:
        canonical_url(url)
    except BadUrl as error:
        raise ConfigError(f"{option} {text}".strip(), f"is not a web address: {bad_url_text(text, error)}") from None
    return url


def amount_of(text: str) -> int | None:
    """Return how many bytes, or bytes a second, a text such as 50 GB or 500 kB/s means; None where it is none."""
    found = _AMOUNT.fullmatch(text)
    return int(float(found[1]) * _BYTES[found[2].lower()]) if found else None


def limits_of(text: str) -> tuple[str, ...]:
    """Return settings for amounts between commas: bytes of disk, bytes a second, hours of the day."""
    settings, hours = list[str](), list[str]()
    for part in filter(None, map(str.strip, text.split(","))):
        if (amount := amount_of(part)) is not None:
            settings.append(f"{'crawl.max_bytes_s' if part.lower().endswith('/s') else 'store.quota_bytes'}={amount}")
        else:
            hours.append(part)
    if hours:
        try:
            FetchHours.parse(", ".join(hours))
        except ValueError as error:
            remedy = "write disk, line and hours, such as 50 GB, 500 kB/s, 22:00-07:00"
            why = f": {error}" if ":" in hours[0] else ""
            raise ConfigError(", ".join(hours), f"is not a size, rate or time range{why}", remedy) from None
        settings.append(f'crawl.hours="{", ".join(hours)}"')
    return tuple(settings)
