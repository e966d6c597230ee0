"""Packages: the records of one flush, signed together, each with its own proof.

Pure: values and bytes. A leaf covers kind, id, key, version and expiry day, and the version's digest covers body and
content. So a record proves itself with its content withheld, and keeps its author's proof wherever it travels. At
another place of its site it also names the key under which it was signed. On the wire a package is a zstd frame of a
msgpack array of records. `open_package` bounds count, bytes, path depth and every field. It turns any input into
records or BadReplica, nothing else.
Source: Li Wei 2006 (many small objects per package); Merkle 1987 (one signature, many proofs).
"""

import struct
from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from typing import Annotated, Protocol

import msgspec
from msgspec import Meta

from dht import MAX_SPREAD, DocumentId, Key, placement_key, verify
from store.errors import BadReplica
from store.record.merkle import Proven, leaf, tree
from store.record.record import Draft, Kind, Proof, Record, Version, digest_of
from store.record.zstd import expand, squeeze

MAX_RECORDS = 1024  # in one package
MAX_PACKAGE_BYTES = 15 << 19  # 7.5 MiB before compression: fits a message of 8 MiB even when nothing compresses
MAX_RECORD_BYTES = 13 << 19  # 6.5 MiB of body and content: one record with its proof always fits a package
MAX_DEPTH = 10  # of a path: 2**10 = MAX_RECORDS
MAX_EPOCH = 1 << 48
MAX_AT_MS = 1 << 48
DOMAIN = b"dse-node package root 1"

_Id = Annotated[bytes, Meta(min_length=20, max_length=20)]
_Hash = Annotated[bytes, Meta(min_length=32, max_length=32)]
_NOTHING = sha256(b"").digest()
_LEAF = struct.Struct(">B20s20sQQI32s")


class Signer(Protocol):
    """Signs packages: what this package needs of an identity."""

    @property
    def public_key(self) -> bytes:
        """The Ed25519 key that signatures are checked with, 32 bytes."""

    def sign(self, domain: bytes, message: bytes) -> bytes:
        """Sign a message for one purpose, its domain; 64 bytes."""


class _Wire(msgspec.Struct, frozen=True, array_like=True):
    """A record on the wire and, without its content, on disk. `signed_key`: the key that its author signed, where the
    record was moved since."""

    kind: Kind
    id: _Id
    key: _Id
    epoch: Annotated[int, Meta(ge=0, lt=MAX_EPOCH)]
    at_ms: Annotated[int, Meta(ge=0, lt=MAX_AT_MS)]
    digest: _Hash
    expires_day: Annotated[int, Meta(ge=0, lt=1 << 32)]
    body: bytes
    content_digest: _Hash
    author: _Hash
    signature: Annotated[bytes, Meta(min_length=64, max_length=64)]
    index: Annotated[int, Meta(ge=0, lt=MAX_RECORDS)]
    path: Annotated[tuple[_Hash, ...], Meta(max_length=MAX_DEPTH)]
    content: bytes | None = None
    signed_key: Annotated[bytes, Meta(max_length=20)] = b""


class _Headed(msgspec.Struct, array_like=True):
    """The start of every body, whatever its kind: the canonical URL that it is about."""

    url: str


_encoder = msgspec.msgpack.Encoder()
_record = msgspec.msgpack.Decoder(_Wire)
_records = msgspec.msgpack.Decoder(Annotated[list[_Wire], Meta(max_length=MAX_RECORDS)])
_split = msgspec.msgpack.Decoder(list[msgspec.Raw])
_headed = msgspec.msgpack.Decoder(_Headed)


def sign_package(drafts: Sequence[Draft], signer: Signer) -> list[Record]:
    """Turn 1 … MAX_RECORDS drafts into records, in order, under one signature."""
    digests = [_content_digest(draft) for draft in drafts]
    versions = [Version(d.epoch, d.at_ms, digest_of(d.body, digest)) for d, digest in zip(drafts, digests, strict=True)]
    leaves = [leaf_of(d.kind, d.id, d.key, version, d.expires_day) for d, version in zip(drafts, versions, strict=True)]
    root, paths = tree(leaves)
    author, signature = signer.public_key, signer.sign(DOMAIN, root)
    return [
        Record(d.kind, d.id, d.key, version, d.expires_day, d.body, d.content, digest,
               Proof(author, signature, index, path))
        for index, (d, version, digest, path) in enumerate(zip(drafts, versions, digests, paths, strict=True))
    ]  # fmt: skip


def _content_digest(draft: Draft) -> bytes:
    return (draft.content_digest or sha256(draft.content).digest()) if draft.content else _NOTHING


def forgeries(records: Sequence[Record]) -> list[str]:
    """Say of each record why its proof is none, "" where it proves itself.

    A signature is checked once per package root, and what the paths of its records share is hashed once."""
    trees: dict[tuple[bytes, bytes, int], Proven] = {}
    return [_forged(record, trees) for record in records]


def url_of(record: Record) -> str:
    """Return the canonical URL that a record is about; raises ValueError where its body is none."""
    return url_in(record.body)


def url_in(body: bytes) -> str:
    """Return the canonical URL that a body is about; raises ValueError where it is none."""
    return _headed.decode(body).url


def depth_of(url: str, key: bytes) -> int:
    """Return the depth (2**depth places) to which its site was spread when a URL's key was made, -1 where none fits."""
    if placement_key(url) == key:  # nearly always
        return 0
    return next((depth for depth in range(1, MAX_SPREAD + 1) if placement_key(url, depth) == key), -1)


def pack(records: Sequence[Record]) -> bytes:
    """Encode up to MAX_RECORDS records and MAX_PACKAGE_BYTES for the wire; `size_of` tells what fits."""
    return squeeze(_encoder.encode([_to_wire(record, record.content) for record in records]))


def open_package(data: bytes, limit: int = MAX_PACKAGE_BYTES) -> list[Record]:
    """Decode a package of up to `limit` bytes; raises BadReplica for anything that `pack` does not make. Proofs are not
    checked here."""
    try:
        return [_from_wire(wire) for wire in _records.decode(expand(data, limit))]
    except (ValueError, RecursionError) as error:  # msgspec's errors are ValueErrors
        raise BadReplica("package", str(error)) from error


def split_records(data: bytes) -> list[bytes]:
    """Return the records of a package that was expanded, each as `decode_head` takes it; raises ValueError."""
    return [bytes(raw) for raw in _split.decode(data)]


def size_of(record: Record) -> int:
    """Return the most bytes that a record takes in a package before compression."""
    return len(record.body) + len(record.content or b"") + 32 * len(record.proof.path) + 344


def encode_head(record: Record) -> bytes:
    """Encode a record without its content, for a segment."""
    return _encoder.encode(_to_wire(record, None))


def decode_head(data: bytes) -> Record:
    """Decode what `encode_head` made, or a record of a package; raises ValueError."""
    return _from_wire(_record.decode(data))


def _to_wire(r: Record, content: bytes | None) -> _Wire:
    return _Wire(
        r.kind, r.id, r.key, r.version.epoch, r.version.at_ms, r.version.digest, r.expires_day, r.body,
        r.content_digest, r.proof.author, r.proof.signature, r.proof.index, r.proof.path, content, r.proof.key,
    )  # fmt: skip


def _from_wire(w: _Wire) -> Record:
    return Record(
        w.kind, DocumentId(w.id), Key(w.key), Version(w.epoch, w.at_ms, w.digest), w.expires_day, w.body, w.content,
        w.content_digest, Proof(w.author, w.signature, w.index, w.path, w.signed_key),
    )  # fmt: skip


def leaf_of(kind: Kind, id: DocumentId, key: Key, version: Version, expires_day: int) -> bytes:
    """Hash what stands for a record in its package's tree."""
    return leaf(_LEAF.pack(kind, id, key, version.epoch, version.at_ms, expires_day, version.digest))


def _forged(r: Record, trees: dict[tuple[bytes, bytes, int], Proven]) -> str:
    proof = r.proof
    if proof.index >> len(proof.path):
        return "index does not fit its path"
    seal = (proof.author, proof.signature, len(proof.path))
    if (proven := trees.get(seal)) is None:
        proven = trees[seal] = Proven()
    leaf_hash = leaf_of(r.kind, r.id, Key(r.signed_key), r.version, r.expires_day)
    is_proved = proven.proves(leaf_hash, proof.index, proof.path, partial(_is_signed, proof))
    return "" if is_proved else "signature does not verify"


def _is_signed(proof: Proof, root: bytes) -> bool:
    return verify(DOMAIN, proof.author, root, proof.signature)
