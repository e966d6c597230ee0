"""Traps of the sample web never end, and stay what they are."""

import re
import zlib
from urllib.parse import parse_qs, urljoin, urlsplit

import pytest

from node.extras.demo.sample_traps import BOMB_BYTES, ENTRANCES, spring, trap_at


@pytest.mark.parametrize("kind", ["calendar", "hatchline", "facets"])
def test_spider_traps_always_lead_on(kind: str) -> None:
    """From the entrance, a hundred steps by the first link each find a URL never seen before."""
    url, seen = ENTRANCES[kind], set()
    for _ in range(100):
        seen.add(url)
        assert trap_at(urlsplit(url).path) == kind
        made = spring(kind, urlsplit(url).path, parse_qs(urlsplit(url).query))
        links = [
            urljoin(url, link.replace("&amp;", "&")) for link in re.findall('href="([^"]*)"', made.bodies[""].decode())
        ]
        url = next(link for link in links if link not in seen)


def test_odd_requests_into_traps_are_answered() -> None:
    """Nothing that a crawler may ask for makes a trap fail."""
    for path in ("/calendar", "/calendar/x/y", "/calendar/²/1", "/shop", "/account", "/login", "/hatchline"):
        assert spring(trap_at(path), path, {"page": ["no number"]}).status in (
            200,
            302,
        )


def test_bomb_unpacks_to_much_and_bodies_without_end_are_streamed() -> None:
    """The bomb is small on the wire; huge and drip leave their body to the server."""
    bomb = spring("bomb", "/bomb.html", {})
    packed = bomb.bodies[""]
    assert len(packed) < 1 << 20 and bomb.headers["Content-Encoding"] == "gzip"
    unpack, size = zlib.decompressobj(31), 0
    while chunk := unpack.decompress(packed, 1 << 24):
        size, packed = size + len(chunk), unpack.unconsumed_tail
    assert size == BOMB_BYTES
    assert [spring(kind, f"/{kind}.html", {}).stream for kind in ("huge", "drip")] == ["huge", "drip"]
