"""A statement: one witness says that a version of a page has nothing in common with what its site showed it.

Pure: values and their codec. Statements lie as small records (`dht/wire/value_record.py`) at a point that follows from
the author of the page, one record a witness, whose signature it carries; in messages each is signed by itself. Texts
are compared by their signatures (`crawl/content/similarity.py`), so a statement shows nobody's text.
"""

from collections.abc import Sequence
from hashlib import sha256
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta

from crawl import different_bits
from dht import Identity, Key, NodeId, node_id_of, verify
from node.delegation.client_audit import LIE_BITS

DOMAIN = b"dse-node statement 1"
POINT = b"dse evidence\0"
ALIKE_BITS = 32  # two witnesses that differ in no more saw the same page
STATED_S = 7 * 86_400.0  # so long one counts, and beside others of that time as long as a verdict of then holds
MAX_STATEMENTS = 16
MAX_BOARD_BYTES = 800  # of a small record's 1,000; the rest is its signature, key and author

_Id = Annotated[bytes, Meta(min_length=20, max_length=20)]
_Text = Annotated[bytes, Meta(min_length=16, max_length=16)]


class Statement(msgspec.Struct, frozen=True, array_like=True):
    """Says what a witness read (`text`) at `at` (Unix seconds), where a version of a page (`claimed`) says something
    else. `block`: the /24 or /48 of the address that answered, b"" unknown. The author is said beside it."""

    key: _Id
    epoch: Annotated[int, Meta(ge=0, lt=1 << 48)]
    at_ms: Annotated[int, Meta(ge=0, lt=1 << 48)]
    digest: Annotated[bytes, Meta(min_length=8, max_length=8)]
    site: Annotated[str, Meta(min_length=1, max_length=260)]
    block: Annotated[bytes, Meta(max_length=6)]
    claimed: Annotated[bytes, Meta(max_length=16)]
    text: _Text
    at: Annotated[int, Meta(ge=0, lt=1 << 40)]

    @property
    def version(self) -> tuple[int, int, bytes]:
        """The version that it is about: epoch, at_ms, the first bytes of its digest."""
        return self.epoch, self.at_ms, self.digest

    @property
    def is_unlike(self) -> bool:
        """Whether the two texts have nothing in common."""
        return different_bits(self.claimed, self.text) > LIE_BITS


class SignedStatement(msgspec.Struct, frozen=True, array_like=True):
    """A statement in a message, with its witness's public key and signature."""

    statement: Statement
    witness: Annotated[bytes, Meta(min_length=32, max_length=32)]
    signature: Annotated[bytes, Meta(min_length=64, max_length=64)]


class Witnessed(NamedTuple):
    """A statement, and by whom, once that was verified."""

    witness: NodeId
    statement: Statement


_encoder = msgspec.msgpack.Encoder()
_Board = Annotated[tuple[Statement, ...], Meta(max_length=MAX_STATEMENTS)]
_board: msgspec.msgpack.Decoder[tuple[Statement, ...]] = msgspec.msgpack.Decoder(_Board)


def point_of(author: NodeId) -> Key:
    """Return the point of the key space where statements about an author lie."""
    return Key(sha256(POINT + author).digest()[:20])


def sign_statement(statement: Statement, identity: Identity, network: bytes, author: NodeId) -> SignedStatement:
    """Sign a statement about what an author wrote in a network (20 bytes)."""
    signature = identity.sign(DOMAIN, network + author + _encoder.encode(statement))
    return SignedStatement(statement, identity.public_key, signature)


def opened(signed: SignedStatement, network: bytes, author: NodeId) -> Witnessed | None:
    """Return what was said and by whom, None where the signature does not verify for this network and author."""
    message = network + author + _encoder.encode(signed.statement)
    if not verify(DOMAIN, signed.witness, message, signed.signature):
        return None
    return Witnessed(node_id_of(signed.witness), signed.statement)


def encode_board(statements: Sequence[Statement], now: float, within_s: float = STATED_S) -> bytes:
    """Encode one witness's statements about one author of so many seconds for a small record: one of each site and of
    each block, as many as fit. All witnesses choose alike, by hashes, or no three would show the same page."""
    chosen, seen = list[Statement](), set[str | bytes]()
    for said in sorted((s for s in statements if now - s.at <= within_s), key=_rank):
        fits = len(_encoder.encode([*chosen, said])) <= MAX_BOARD_BYTES and len(chosen) < MAX_STATEMENTS
        if fits and said.site not in seen and said.block not in seen:
            chosen.append(said)
            seen |= {said.site, said.block or said.site}
    return _encoder.encode(chosen)


def _rank(said: Statement) -> tuple[bytes, bytes, int]:
    return sha256(said.site.encode()).digest(), said.digest, said.at


def decode_board(value: bytes) -> tuple[Statement, ...]:
    """Decode what `encode_board` made; none where it is nothing of the kind."""
    try:
        return _board.decode(value)
    except (ValueError, RecursionError):
        return ()
