"""Evidence: a node fetched a page again, twice, and both times its text had nothing in common with the publisher's.

Pure: values and their codec. A piece of evidence shows the signed head of the publisher's version, so that nobody can
accuse a node of a page that it did not sign. It shows signatures of texts, not texts (`crawl/content/similarity.py`).
The pieces of one finder lie in one small record (`dht/wire/value_record.py`), signed by the finder, at one point of the
network. Evidence convicts nobody: publishers of the strategy read it, fetch the pages again, and may block the author.
"""

from collections.abc import Iterable
from hashlib import sha256
from typing import Annotated

import msgspec
from msgspec import Meta

from dht.keys import KEY_BYTES, Key

RECORDS_AT_POINT = 256  # of evidence at the network's point: one a finder, those of older members first
MAX_BYTES = 800  # of the pieces in one record of 1,000; the rest is its signature, key and author
KEPT, KEPT_S = 64, 90 * 86_400.0  # pieces that a finder keeps on its own disk, and for how long
DOMAINS_NEEDED = 3  # registrable domains from which on the evidence against an author counts
AGAIN_S = 600.0  # between the two looks
NO_VOTES_S = 7 * 86_400.0  # so long an owner votes for no author that its own second looks contradict
UNLIKE_BITS = 52  # of 128: texts with nothing in common differ in 64 ± 6, those with half of it in 32 ± 5
ALIKE_BITS = 32  # two looks that differ in no more showed the same text

_POINT = b"dse evidence\0"
_encoder = msgspec.msgpack.Encoder()


class Look(msgspec.Struct, frozen=True, array_like=True):
    """One look at a page: the signature of its main text, and when (Unix seconds)."""

    text: Annotated[bytes, Meta(min_length=16, max_length=16)]
    at: Annotated[int, Meta(ge=0, lt=1 << 40)]


class Evidence(msgspec.Struct, frozen=True, array_like=True):
    """One piece of evidence against the author of a page.

    `head`: the version that the author signed (`store/record/signed_head.py`).
    `site`: host and port of the page.
    """

    head: Annotated[bytes, Meta(max_length=640)]
    site: Annotated[str, Meta(min_length=1, max_length=260)]
    first: Look
    second: Look


_pieces: msgspec.msgpack.Decoder[tuple[Evidence, ...]] = msgspec.msgpack.Decoder(
    Annotated[tuple[Evidence, ...], Meta(max_length=KEPT)]
)


def evidence_point(network: bytes) -> Key:
    """Return the point of the key space where the evidence of a network (20 bytes) lies."""
    return Key(sha256(_POINT + network).digest()[:KEY_BYTES])


def encode_pieces(pieces: Iterable[Evidence], most_bytes: int = MAX_BYTES) -> bytes:
    """Encode the first pieces, as many as fit; one that alone does not fit is left out."""
    chosen = list[Evidence]()
    for piece in pieces:
        if len(_encoder.encode([*chosen, piece])) <= most_bytes:
            chosen.append(piece)
    return _encoder.encode(chosen)


def decode_pieces(value: bytes) -> tuple[Evidence, ...]:
    """Decode what `encode_pieces` made; none where it is nothing of the kind."""
    try:
        return _pieces.decode(value)
    except (ValueError, RecursionError):
        return ()
