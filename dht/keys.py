"""The key space: document ids, placement keys, slots and the XOR metric.

Pure: bytes in, bytes out. A document id names a document, and a placement key its place: 80 bits of H(site ‖ shard),
then 80 bits of H(path?query). So a site stays together, and its pages keep an order inside it. A slot is one of
2**slot_bits equal ranges of placement keys. H is SHA-256. The golden vectors of `tests/data/keys.json` pin all of it: a
change here moves every stored byte of a network.
Sources: Maymounkov & Mazières 2002 (metric); He Shuqing et al. 2008 (host finds, path places).
"""

import re
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple, NewType
from urllib.parse import urlsplit

KEY_BYTES = 20
KEY_BITS = KEY_BYTES * 8
MAX_SLOT_BITS = 16
MAX_SPREAD = 8  # a site lies in 2**8 places at most
SITE_BYTES = KEY_BYTES // 2  # of a placement key, that say which site and shard; the others say which path
_REMEMBERED = 8192  # URLs: each is looked at a dozen times between its discovery and its outcome; some 4 MB

# What nearly every canonical URL looks like; others, and all that is none, are left to the library.
_PLAIN = re.compile(r"(https?)://(([a-z0-9._-]+)(?::[0-9]+)?)(/[!->@-~]*)?(?:\?([!-~]*))?", re.ASCII)

Key = NewType("Key", bytes)  # 20 bytes: a point in the key space (a placement key, a slot's start)
NodeId = NewType("NodeId", bytes)  # 20 bytes: first 160 bits of SHA-256(public key)
DocumentId = NewType("DocumentId", bytes)  # 20 bytes: first 160 bits of SHA-256(canonical URL)
Slot = NewType("Slot", int)  # 0 … 2**slot_bits - 1


class UrlParts(NamedTuple):
    """A canonical URL taken apart. `site`: host, and port where it is not the scheme's default."""

    scheme: str
    site: str
    host: str
    path: str
    query: str


@lru_cache(_REMEMBERED)
def split_url(url: str) -> UrlParts:
    """Take a canonical URL apart; raises ValueError where it cannot be split."""
    plain = _PLAIN.fullmatch(url)
    if plain is not None and "#" not in url:
        return UrlParts(plain[1], plain[2], plain[3], plain[4] or "", plain[5] or "")
    parts = urlsplit(url)
    return UrlParts(parts.scheme, parts.netloc, parts.hostname or "", parts.path, parts.query)


@lru_cache(_REMEMBERED)
def document_id(url: str) -> DocumentId:
    """Return the id of the document at a canonical URL; it never changes."""
    return DocumentId(sha256(url.encode()).digest()[:KEY_BYTES])


def site_of(url: str) -> str:
    """Return the site of a canonical URL: host, and port where it is not the scheme's default; both schemes share
    it."""
    return split_url(url).site


def host_of(url: str) -> str:
    """Return the host of a canonical URL."""
    return split_url(url).host


@lru_cache(_REMEMBERED)
def placement_key(url: str, spread: int = 0) -> Key:
    """Return the key under which the document of a canonical URL lives.

    `spread` d ≥ 0 splits a big site into 2**d shards by the top d bits of H(path?query). Shard 0 hashes as the
    unsharded site, so a site that begins to spread keeps that part of its pages in place."""
    parts = split_url(url)
    path = parts.path + ("?" + parts.query if parts.query else "")
    path_hash = sha256(b"path\0" + path.encode()).digest()
    shard = int.from_bytes(path_hash[:4], "big") >> (32 - spread) if spread else 0
    return Key(shard_prefix(parts.site, shard) + path_hash[:SITE_BYTES])


def shard_prefix(site: str, shard: int) -> bytes:
    """Return the first 10 bytes of all placement keys of a site's shard."""
    suffix = b"\0" + shard.to_bytes(4, "big") if shard else b""
    return sha256(b"site\0" + site.encode() + suffix).digest()[:SITE_BYTES]


def slot_of(key: bytes, slot_bits: int) -> Slot:
    """Return the slot that a placement key falls into."""
    return Slot(int.from_bytes(key[:4], "big") >> (32 - slot_bits))


def slot_start(slot: Slot, slot_bits: int) -> Key:
    """Return the first key of a slot; owners are weighed by it, so the even child of a doubled slot keeps its
    owners."""
    return Key((slot << (KEY_BITS - slot_bits)).to_bytes(KEY_BYTES, "big"))


def slot_range(slot: Slot, slot_bits: int) -> tuple[Key, Key]:
    """Return the first and the last key of a slot."""
    first = slot_start(slot, slot_bits)
    return first, Key((int.from_bytes(first, "big") | ((1 << (KEY_BITS - slot_bits)) - 1)).to_bytes(KEY_BYTES, "big"))


def distance(a: bytes, b: bytes) -> int:
    """Return the XOR distance of two keys or ids."""
    return int.from_bytes(a, "big") ^ int.from_bytes(b, "big")
