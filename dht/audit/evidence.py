"""Evidence: a node fetched a page again, twice, and both times its text had nothing in common with the author's.

Pure: values and their codec. A piece of evidence shows the signed head of the author's version, so that nobody can
accuse a node of a page that it did not sign. It shows signatures of texts, not texts (`crawl/content/fingerprint.py`).
A finder signs its pieces as small records (`dht/wire/value_record.py`), one at each point of evidence of the network.
So one finder alone can show pages of enough registrable domains. Nothing follows by itself: publishers of the strategy
read it, fetch the pages again, and may block the author.
"""

from collections.abc import Iterable
from hashlib import sha256
from typing import Annotated

import msgspec
from msgspec import Meta

from dht.keys import KEY_BYTES, Key

# How many pieces of evidence a point holds: one a finder, those of older members first.
EVIDENCE_AT_POINT = 256
MAX_EVIDENCE_BYTES = 800  # of a piece in its record of 1,000; the rest is the record's signature, key and author
EVIDENCE_KEPT, EVIDENCE_KEPT_S = 64, 90 * 86_400.0  # pieces that a finder keeps on its own disk, and for how long
DOMAINS_NEEDED = 3  # registrable domains from which on the evidence against an author counts
LOOK_AGAIN_S = 600.0  # between the two looks
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


_piece = msgspec.msgpack.Decoder(Evidence)
_pieces: msgspec.msgpack.Decoder[tuple[Evidence, ...]] = msgspec.msgpack.Decoder(
    Annotated[tuple[Evidence, ...], Meta(max_length=EVIDENCE_KEPT)]
)


def evidence_points(network: bytes) -> list[Key]:
    """Return the points of the key space where the evidence of a network (20 bytes) lies."""
    hashes = (sha256(_POINT + network + bytes([number])).digest() for number in range(DOMAINS_NEEDED))
    return [Key(each[:KEY_BYTES]) for each in hashes]


def encode_piece(piece: Evidence) -> bytes:
    """Encode a piece for a record; it is too long where that is more than MAX_EVIDENCE_BYTES."""
    return _encoder.encode(piece)


def decode_piece(value: bytes) -> Evidence | None:
    """Decode the value of a record; None where it is no piece of evidence."""
    try:
        return _piece.decode(value) if len(value) <= MAX_EVIDENCE_BYTES else None
    except (ValueError, RecursionError):
        return None


def encode_pieces(pieces: Iterable[Evidence]) -> bytes:
    """Encode the pieces that a finder keeps on its own disk."""
    return _encoder.encode(tuple(pieces))


def decode_pieces(data: bytes) -> tuple[Evidence, ...]:
    """Decode what `encode_pieces` made; none where it is nothing of the kind."""
    try:
        return _pieces.decode(data)
    except (ValueError, RecursionError):
        return ()
