"""Bytes are sealed for one reader: nobody else can read them, and a changed or misplaced one does not open.

XChaCha20-Poly1305 under the key that two nodes share. `about` is what the bytes belong to; it is not sent and must
be the same when they are opened. There is no session, so whoever steals a node's key can also read what was recorded
before; TLS does not have this weakness, and carries whatever is not small. Source: RFC 8439; libsodium.
"""

from hashlib import blake2b

from nacl import bindings
from nacl.exceptions import CryptoError

from dht.errors import BadSignature

NONCE_BYTES = bindings.crypto_aead_xchacha20poly1305_ietf_NPUBBYTES  # 24: random ones never repeat
SEAL_BYTES = NONCE_BYTES + bindings.crypto_aead_xchacha20poly1305_ietf_ABYTES


def seal(shared: bytes, about: bytes, text: bytes) -> bytes:
    """Return the nonce and the sealed text, SEAL_BYTES longer than `text`."""
    nonce: bytes = bindings.randombytes(NONCE_BYTES)
    return nonce + bindings.crypto_aead_xchacha20poly1305_ietf_encrypt(text, about, nonce, _key(shared))


def unseal(shared: bytes, about: bytes, sealed: bytes) -> bytes:
    """Return the text; raises BadSignature where it was not sealed under this key for this purpose."""
    nonce, rest = sealed[:NONCE_BYTES], sealed[NONCE_BYTES:]
    try:
        text: bytes = bindings.crypto_aead_xchacha20poly1305_ietf_decrypt(rest, about, nonce, _key(shared))
    except (CryptoError, ValueError) as error:
        raise BadSignature("sealed message", "it does not open") from error
    return text


def _key(shared: bytes) -> bytes:
    """A key of its own, so that MACs of packets and seals never meet under one."""
    return blake2b(key=shared, digest_size=32, person=b"dse-node sealed").digest()
