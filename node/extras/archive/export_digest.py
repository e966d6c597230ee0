"""The digest of an export: what the file is, what is in it and what is not, signed by the node that made it.

Pure: values in, values out.
"""

import msgspec

from dht import Identity, verify

DOMAIN = b"dse-node export 1"


class ExportDigest(msgspec.Struct, frozen=True, kw_only=True):
    """Describes an exported file. Signed are all fields but the signature, as JSON with sorted names."""

    file: str
    bytes: int
    sha256: str  # hexadecimal, as are key and signature
    captures: int
    content_bytes: int
    left_out: dict[str, int]  # pages that are there and not in the file, by the reason why
    unread: list[dict[str, object]]  # parts of the network that nobody answered for
    asked: dict[str, str]
    made_at: float  # Unix seconds
    public_key: str = ""  # "": made away from its node's key, and signed by nobody
    signature: str = ""


def signed_digest(digest: ExportDigest, identity: Identity) -> ExportDigest:
    """Return a digest with a node's key and signature."""
    named = msgspec.structs.replace(digest, public_key=identity.public_key.hex(), signature="")
    return msgspec.structs.replace(named, signature=identity.sign(DOMAIN, _signed_bytes(named)).hex())


def is_signed(digest: ExportDigest) -> bool:
    """Tell whether the key that a digest names has signed it."""
    try:
        key, signature = bytes.fromhex(digest.public_key), bytes.fromhex(digest.signature)
    except ValueError:
        return False
    return len(key) == 32 and len(signature) == 64 and verify(DOMAIN, key, _signed_bytes(digest), signature)


def _signed_bytes(digest: ExportDigest) -> bytes:
    return msgspec.json.encode(msgspec.structs.replace(digest, signature=""), order="sorted")
