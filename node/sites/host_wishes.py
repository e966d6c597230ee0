"""Reads and writes an owner's wishes of single hosts: this node asks them nothing for now, or fetches them for nobody.

Pure: values and texts. A wish is for a host with all its ports; it changes nothing that is stored.
"""

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from crawl import BadUrl, canonical_url
from dht import InputError, split_url

Wish = Literal["", "held", "refused"]

MAX_HOSTS = 1000  # of each kind, as many as crawl.refuse takes
MAX_HOST_CHARS = 255


@dataclass(eq=False)
class BadHostWish(InputError):
    """Says why a wish of the owner is none that can be kept."""

    host: str
    problem: str
    remedy: str

    def __str__(self) -> str:
        return f"host: {self.host!r} {self.problem}; {self.remedy}"


class HostWishes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Holds the hosts that wait until the owner says otherwise, and those that this node fetches for nobody."""

    held: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()

    def of(self, host: str) -> Wish:
        """Return what is wished of a host, "" where nothing is."""
        return "refused" if host in self.refused else "held" if host in self.held else ""

    def with_wish(self, host: str, wish: Wish) -> "HostWishes":
        """Return these wishes with another one for a host; raises BadHostWish where there are too many."""
        held, refused = ({*hosts} - {host} for hosts in (self.held, self.refused))
        if wish:
            (held if wish == "held" else refused).add(host)
        if max(len(held), len(refused)) > MAX_HOSTS:
            remedy = "take others back first, or name a whole domain in crawl.refuse of config.toml"
            raise BadHostWish(host, f"would be more than {MAX_HOSTS} hosts", remedy)
        return HostWishes(tuple(sorted(held)), tuple(sorted(refused)))

    def beginning(self, start: str) -> Sequence[tuple[str, Wish]]:
        """List the hosts that begin so, with their wishes, by name."""
        wished: dict[str, Wish] = dict.fromkeys(self.held, "held")
        wished |= dict.fromkeys(self.refused, "refused")
        return sorted((host, wish) for host, wish in wished.items() if host.startswith(start))


def read_wishes(data: bytes) -> HostWishes:
    """Read what `write_wishes` wrote; raises ValueError."""
    read = msgspec.json.decode(data, type=HostWishes)
    for host in (*read.held, *read.refused):
        if host != host_named(host):
            raise ValueError(f"{host!r} is not a host")
    return HostWishes(tuple(sorted({*read.held})), tuple(sorted({*read.refused})))


def write_wishes(wishes: HostWishes) -> bytes:
    """Write wishes as JSON."""
    return msgspec.json.format(msgspec.json.encode(wishes), indent=1) + b"\n"


def host_named(text: str) -> str:
    """Return the host that somebody names, be it as a URL, with a port, or in capitals; raises BadHostWish."""
    text = text.strip()
    try:
        if len(text) > 8 * MAX_HOST_CHARS:
            raise BadUrl(text[:60], "is too long")
        host = split_url(canonical_url(text if "://" in text else f"http://{_bracketed(text)}/")).host
    except (BadUrl, ValueError):
        host = ""
    if not 0 < len(host) <= MAX_HOST_CHARS:
        raise BadHostWish(text[:60], "is not a host", "write one such as example.org")
    return host


def _bracketed(text: str) -> str:
    try:
        return f"[{text}]" if ipaddress.ip_address(text).version == 6 else text
    except ValueError:
        return text
