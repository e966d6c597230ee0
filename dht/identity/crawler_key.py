"""A node signs its requests to sites by a crawler key; whoever knows the node's public key computes the public half.

Pure: values only. The pair is the node's own, blinded: each half is multiplied by a number that follows from the public
key. So every peer's heartbeat tells its crawler key, too, and a node can list those of all members. The signatures are
plain Ed25519, which any library verifies. A site can make a node sign text of its choice, by the URLs of its links.
Peers never accept such a signature as the node's own, because that needs the other key. All arithmetic with secrets is
libsodium's. Sources: RFC 8032, 5.1.5 and 5.1.6; Tor, rend-spec-v3, appendix A.2 (key blinding).

Writes signatures of HTTP messages and names keys as JSON Web Keys, so that any server's library verifies them.

Pure: values only. Sources: RFC 9421 (signature base and fields), RFC 8037 and RFC 7638 (Ed25519 keys, thumbprints).
"""

import base64
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b, sha256, sha512

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


Component = tuple[str, str]  # an identifier as RFC 9421 writes it, such as '"@method"', and its value


def signature_fields(
    label: str, components: Sequence[Component], parameters: Mapping[str, int | str], sign: Callable[[bytes], bytes]
) -> dict[str, str]:
    """Return the fields Signature-Input and Signature over some components. Values and texts of parameters are
    printable ASCII without quotes, as URLs and tokens are."""
    identifiers = " ".join([identifier for identifier, _ in components])
    stated = "".join([f";{name}={_bare(value)}" for name, value in parameters.items()])
    lines = [f"{identifier}: {value}\n" for identifier, value in components]
    base = f'{"".join(lines)}"@signature-params": ({identifiers}){stated}'
    signature = base64.b64encode(sign(base.encode("ascii"))).decode()
    return {"Signature-Input": f"{label}=({identifiers}){stated}", "Signature": f"{label}=:{signature}:"}


@lru_cache(maxsize=8192)
def thumbprint(public_key: bytes) -> str:
    """Return the name of an Ed25519 key: base64url SHA-256 of its required members in order (RFC 8037, A.3)."""
    text = f'{{"crv":"Ed25519","kty":"OKP","x":"{_base64url(public_key)}"}}'
    return _base64url(sha256(text.encode()).digest())


def json_web_key(public_key: bytes) -> dict[str, str]:
    """Return an Ed25519 key as a JSON Web Key, named by its thumbprint."""
    key = {"kty": "OKP", "crv": "Ed25519", "kid": thumbprint(public_key)}
    return {**key, "x": _base64url(public_key), "use": "sig"}


def _bare(value: int | str) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
