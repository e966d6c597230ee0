"""Records, which the store keeps: of a few kinds, each the newest signed version of something.

Pure: values only. A record is addressed by (kind, id) and lives where its placement key says. Its body is small and
always travels; its content (a page's bytes) may be withheld in an answer. The digest covers both apart, so a reader can
verify the part that it got. The highest version wins everywhere: epoch, then at_ms, then digest. A record of kind VISIT
that only reports a found URL has epoch 0, and the URL's reach as at_ms (`crawl/schedule/url_state.py`). So finding a
URL again changes nothing, and an outcome always beats it.
"""

from enum import IntEnum
from hashlib import sha256
from typing import NamedTuple

import msgspec

from dht import DocumentId, Key

MOST_KIND = 255  # one byte in leaves, marks and groups
SHORT_BYTES = 8  # of a digest; it only decides between versions of the same millisecond and lease


class Kind(IntEnum):
    """The subject of a record; the number is on the wire and on disk.

    Numbers up to MOST_KIND that are not named here are kinds of newer releases. Their records are kept, proved, copied
    and handed out like any others, byte for byte, but never read."""

    DOCUMENT = 1  # body: store.record.document.Document; content: the fetched bytes
    VISIT = 2  # body: crawl.visits.Visit; no content
    HOST = 3  # body: store.record.host_record.HostRecord; no content; always in its site's home slot
    FORMER = 4  # body: store.record.former_page.FormerBody; content: that of the page in it; nobody signs it

    @classmethod
    def _missing_(cls, value: object) -> "Kind | None":
        if not isinstance(value, int) or not 0 < value <= MOST_KIND:
            return None
        kind = int.__new__(cls, value)
        kind._name_, kind._value_ = f"KIND_{value}", value
        return cls._value2member_map_.setdefault(value, kind)  # type: ignore[return-value]


class Version(NamedTuple):
    """One version of a record; of several the greatest wins. `epoch` is the lease epoch it was written under."""

    epoch: int
    at_ms: int
    digest: bytes  # 32 bytes, see `digest_of`

    @property
    def short(self) -> "ShortVersion":
        """The short form of this version, in the index and between peers."""
        return ShortVersion(self.epoch, self.at_ms, self.digest[:SHORT_BYTES])


class ShortVersion(NamedTuple):
    """A version as the index and peers compare it; it orders as versions do.

    Two versions of one instant that look alike here take 2**32 tries of whoever writes them both, and give no more than
    a later version would: it would win outright.
    """

    epoch: int
    at_ms: int
    digest: bytes  # the first SHORT_BYTES of it


class Proof(msgspec.Struct, frozen=True):
    """Proves who wrote a version: a signature of the package's Merkle root and the path from this record to it."""

    author: bytes  # Ed25519 public key, 32 bytes
    signature: bytes  # 64 bytes, over the domain-separated root
    index: int  # the record's place in its package
    path: tuple[bytes, ...]  # 32-byte siblings, leaf to root
    key: bytes = b""  # that its author signed, where the record was moved to another place of its site since


class Draft(msgspec.Struct, frozen=True):
    """A record that this node wants to write; the replicator signs it as part of a package.

    Every body is a msgpack array that starts with the canonical URL that id and key follow from.
    """

    kind: Kind
    id: DocumentId
    key: Key
    epoch: int
    at_ms: int
    expires_day: int  # days since 1970; dropped one day later
    body: bytes
    content: bytes = b""
    content_digest: bytes = b""  # its SHA-256, where whoever made it has it


class Record(msgspec.Struct, frozen=True):
    """A signed version. `content` is None where it was withheld; `content_digest` always stands."""

    kind: Kind
    id: DocumentId
    key: Key
    version: Version
    expires_day: int
    body: bytes
    content: bytes | None
    content_digest: bytes  # SHA-256 of the content, 32 bytes
    proof: Proof

    @property
    def signed_key(self) -> bytes:
        """The key under which its author wrote it: another one where its site was spread further since."""
        return self.proof.key or self.key

    def without_content(self) -> "Record":
        """Return this version with its content withheld."""
        return Record(
            self.kind, self.id, self.key, self.version, self.expires_day, self.body, None, self.content_digest,
            self.proof,
        )  # fmt: skip


def digest_of(body: bytes, content_digest: bytes) -> bytes:
    """Compute the digest that a version carries: SHA-256 over the digests of body and content."""
    return sha256(sha256(body).digest() + content_digest).digest()
