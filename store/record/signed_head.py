"""The signed head of a page's version: what its author signed, without text and content.

Pure: bytes and values. A head proves that its author wrote this version of this page, and shows nothing else of it.
"""

from typing import Annotated

import msgspec
from msgspec import Meta

from dht import DocumentId, Key, NodeId, node_id_of, verify
from store.record.merkle import root_of
from store.record.package import DOMAIN, MAX_AT_MS, MAX_DEPTH, MAX_EPOCH, MAX_RECORDS, leaf_of
from store.record.record import Kind, Record, ShortVersion, Version

_Id = Annotated[bytes, Meta(min_length=20, max_length=20)]
_Hash = Annotated[bytes, Meta(min_length=32, max_length=32)]


class SignedHead(msgspec.Struct, frozen=True, array_like=True):
    """The signed part of a DOCUMENT, with its proof. `key`: the placement key that its author signed."""

    id: _Id
    key: _Id
    epoch: Annotated[int, Meta(ge=0, lt=MAX_EPOCH)]
    at_ms: Annotated[int, Meta(ge=0, lt=MAX_AT_MS)]
    digest: _Hash
    expires_day: Annotated[int, Meta(ge=0, lt=1 << 32)]
    public_key: _Hash
    signature: Annotated[bytes, Meta(min_length=64, max_length=64)]
    index: Annotated[int, Meta(ge=0, lt=MAX_RECORDS)]
    path: Annotated[tuple[_Hash, ...], Meta(max_length=MAX_DEPTH)]

    @property
    def author(self) -> NodeId:
        """The node that signed it."""
        return node_id_of(self.public_key)

    @property
    def version(self) -> ShortVersion:
        """The version, as peers compare versions."""
        return Version(self.epoch, self.at_ms, self.digest).short


_encoder = msgspec.msgpack.Encoder()
_head = msgspec.msgpack.Decoder(SignedHead)


def encode_signed_head(record: Record) -> bytes:
    """Encode the signed head of a DOCUMENT."""
    version, proof = record.version, record.proof
    fields = (record.id, record.signed_key, version.epoch, version.at_ms, version.digest, record.expires_day)
    return _encoder.encode(SignedHead(*fields, proof.author, proof.signature, proof.index, proof.path))


def open_signed_head(data: bytes) -> SignedHead | None:
    """Decode a signed head and verify its signature; None where it is none."""
    try:
        head = _head.decode(data)
    except (ValueError, RecursionError):
        return None
    version = Version(head.epoch, head.at_ms, head.digest)
    leaf = leaf_of(Kind.DOCUMENT, DocumentId(head.id), Key(head.key), version, head.expires_day)
    root = root_of(leaf, head.index, head.path)
    return head if root and verify(DOMAIN, head.public_key, root, head.signature) else None
