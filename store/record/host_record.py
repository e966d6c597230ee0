"""Says all that the network knows of a host: one record, in the slot in which its site lies unless it is spread.

Pure: values and their codec. Like every body it begins with a canonical URL, that of the site's root, from which id and
key follow. Its key is that of the site unspread, whatever its depth. The holder of that slot alone writes it, and the
version of its lease wins, as with visits. Fields are added at the end only.
"""

from math import isfinite
from typing import Annotated

import msgspec
from msgspec import Meta

from dht import MALFORMED, MAX_SPREAD, DocumentId, Key, document_id, placement_key, site_of, split_url

SINCE_WITHIN_S = 120.0  # what a record says happened before it was written, clocks apart
Depth = Annotated[int, Meta(ge=0, le=MAX_SPREAD)]


class HostAlias(msgspec.Struct, frozen=True, array_like=True):
    """Says that a site, under one of its two schemes, is another name of `target`, a root URL, since a Unix second.

    `how`: 0 its pages are those of the target byte for byte, 1 it redirects everything."""

    is_secure: bool
    target: Annotated[str, Meta(max_length=300)]
    since: float = 0.0
    how: Annotated[int, Meta(ge=0, le=1)] = 0


class HostRecord(msgspec.Struct, frozen=True, array_like=True):
    """Says that a site lies in 2**depth places, and until `since` (Unix seconds) lay in 2**before."""

    url: Annotated[str, Meta(max_length=2048)]
    depth: Depth = 0
    before: Depth = 0
    since: float = 0.0
    aliases: Annotated[tuple[HostAlias, ...], Meta(max_length=2)] = ()


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(HostRecord)


def encode_host(host: HostRecord) -> bytes:
    """Encode the body of a HOST record."""
    return _encoder.encode(host)


def decode_host(body: bytes) -> HostRecord:
    """Decode the body of a HOST record; raises ValueError."""
    return _decoder.decode(body)


def host_url(site: str) -> str:
    """Return the canonical URL under which a site's record is kept, whichever of the two schemes its pages have."""
    return f"{'http' if site.endswith(':443') else 'https'}://{site}/"


def host_name(site: str) -> tuple[DocumentId, Key]:
    """Return the id and the key of a site's record."""
    url = host_url(site)
    return document_id(url), placement_key(url)


def host_flaw(body: bytes, key: bytes, written_at: float) -> str:
    """Say why the body of a HOST record is none, "" where it is one. `written_at`: the instant of its version."""
    try:
        host = decode_host(body)
        site = site_of(host.url)
    except (ValueError, *MALFORMED) as error:
        return str(error)
    if not site or host.url != host_url(site):
        return f"{host.url[:80]!a} is no site's root"
    if key != placement_key(host.url):
        return "a host's record lies where its site would lie unspread"
    if not _is_past(host.since, written_at) or host.depth < host.before:
        return f"depth {host.depth}, before {host.before}, since {host.since}"
    return next(filter(None, (_alias_flaw(site, alias, written_at) for alias in host.aliases)), "")


def _alias_flaw(site: str, alias: HostAlias, written_at: float) -> str:
    try:
        parts = split_url(alias.target)
    except (ValueError, *MALFORMED) as error:
        return str(error)
    own = f"{'https' if alias.is_secure else 'http'}://{site}/"
    is_root = parts.scheme in ("http", "https") and parts.site and alias.target == f"{parts.scheme}://{parts.site}/"
    if not is_root or alias.target == own:
        return f"{alias.target[:80]!a} is no site's root, or the alias itself"
    return "" if _is_past(alias.since, written_at) else f"alias since {alias.since}"


def _is_past(at: float, written_at: float) -> bool:
    """Tell whether an instant lies before the record was written, clocks apart."""
    return isfinite(at) and at <= written_at + SINCE_WITHIN_S
