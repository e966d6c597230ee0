"""A node signs its requests to sites by a crawler key; whoever knows the node's public key computes the public half.

Pure: values only. The pair is the node's own, blinded: each half is multiplied by a number that follows from the public
key. So every peer's heartbeat tells its crawler key, too, and a node can list those of all members. What is signed is
plain Ed25519, which any library verifies. A signature by this key is none by the node's own: what a site makes a node
sign, in the URLs of its links, is never taken for the node's word to its peers. All arithmetic with secrets is
libsodium's. Sources: RFC 8032, 5.1.5 and 5.1.6; Tor, rend-spec-v3, appendix A.2 (key blinding).
"""

from functools import lru_cache
from hashlib import blake2b, sha512

from nacl import bindings
from nacl.exceptions import CryptoError

from dht.identity.node_key import Identity

FACTOR_PERSON = b"dse-node crawler"
NONCE_PERSON = b"dse-node crawl n"


class CrawlerKey:
    """Holds the pair that signs a node's requests to sites."""

    def __init__(self, identity: Identity) -> None:
        seed = identity.private_bytes()
        expanded = bytearray(sha512(seed).digest()[:32])
        expanded[0] &= 248
        expanded[31] = expanded[31] & 127 | 64
        self._scalar = bindings.crypto_core_ed25519_scalar_mul(bytes(expanded), _factor(identity.public_key))
        self._prefix = blake2b(key=seed, person=NONCE_PERSON).digest()
        self.public_key = bindings.crypto_scalarmult_ed25519_base_noclamp(self._scalar)

    def sign(self, message: bytes) -> bytes:
        """Return 64 bytes of Ed25519 signature, the same for the same message (RFC 8032, 5.1.6)."""
        nonce = _reduced(self._prefix, message)
        point = bindings.crypto_scalarmult_ed25519_base_noclamp(nonce)
        challenge = _reduced(point, self.public_key, message)
        product = bindings.crypto_core_ed25519_scalar_mul(challenge, self._scalar)
        return point + bindings.crypto_core_ed25519_scalar_add(nonce, product)


@lru_cache(maxsize=8192)  # as many peers as a node knows, twice; each costs some 100 us
def crawler_key_of(public_key: bytes) -> bytes | None:
    """Return the public crawler key of the node with this public key, None where the bytes are no honest key."""
    try:
        return bindings.crypto_scalarmult_ed25519_noclamp(_factor(public_key), public_key)
    except (CryptoError, ValueError, TypeError):
        return None


def _factor(public_key: bytes) -> bytes:
    digest = blake2b(public_key, person=FACTOR_PERSON).digest()
    return bindings.crypto_core_ed25519_scalar_reduce(digest)


def _reduced(*parts: bytes) -> bytes:
    return bindings.crypto_core_ed25519_scalar_reduce(sha512(b"".join(parts)).digest())
