"""A node is known by an Ed25519 key pair: this file keeps it, signs with it and shares secrets with peers.

The node id is the first 160 bits of SHA-256(public key). Every signature covers a domain, so that bytes signed as
one thing never pass as another. Two nodes share a key by X25519 over the same key pairs (static to static), which
authenticates datagrams without a session. Sources: RFC 8032; RFC 7748; libsodium, "Ed25519 to Curve25519".

Bytes are sealed for one reader: nobody else can read them, and a changed or misplaced one does not open.

XChaCha20-Poly1305 under the key that two nodes share. `about` is what the bytes belong to; it is not sent and must
be the same when they are opened. There is no session, so a thief of a node's key can also read recorded traffic of
before. TLS does not have this weakness, and carries all large messages. Source: RFC 8439; libsodium.
"""

import os
import threading
from functools import lru_cache
from hashlib import blake2b, sha256
from pathlib import Path

from nacl import bindings
from nacl.exceptions import BadSignatureError, CryptoError

from dht.errors import BadIdentity, BadSignature
from dht.identity.private_file import others_may_read, write_secret_whole
from dht.keys import KEY_BYTES, NodeId
from dht.rate_limit import remember

HEADER = "dse-node identity 1"
SHARED_LIMIT = 8192  # twice the members that a node remembers
VERIFIED_LIMIT = 8192  # 1 MB; what comes again comes within a minute, and 20 nodes send some 2,000 in that

_verified: dict[bytes, None] = {}
_verified_lock = threading.Lock()  # the store verifies on its own threads


@lru_cache(maxsize=8192)  # as many peers as a node knows, twice
def node_id_of(public_key: bytes) -> NodeId:
    """Return the id of the node that holds this public key."""
    return NodeId(sha256(public_key).digest()[:KEY_BYTES])


def verify(domain: bytes, public_key: bytes, message: bytes, signature: bytes) -> bool:
    """Tell whether the key signed the message in this domain. Good answers are remembered, since gossip repeats."""
    if len(public_key) != 32 or len(signature) != 64:
        return False
    signed = _framed(domain, message)
    memory = blake2b(public_key + signature + signed, digest_size=32).digest()
    if memory in _verified:
        return True
    try:
        bindings.crypto_sign_open(signature + signed, public_key)
    except (BadSignatureError, CryptoError):
        return False
    with _verified_lock:
        remember(_verified, memory, None, VERIFIED_LIMIT)
    return True


class Identity:
    """Holds the key pair of this node."""

    def __init__(self, seed: bytes) -> None:
        """`seed`: 32 secret bytes, the Ed25519 private key of RFC 8032."""
        self._seed = seed
        self.public_key, self._secret = bindings.crypto_sign_seed_keypair(seed)
        self.node_id = node_id_of(self.public_key)
        self._curve_secret = bindings.crypto_sign_ed25519_sk_to_curve25519(self._secret)
        self._shared: dict[bytes, bytes] = {}

    @classmethod
    def generate(cls) -> "Identity":
        """Make a new identity from the system's randomness."""
        return cls(os.urandom(32))

    @classmethod
    def load(cls, path: Path) -> "Identity":
        """Read a key file; raises BadIdentity where it cannot be read, is damaged, or other users may read it."""
        try:
            mode, text = path.stat().st_mode, path.read_text("ascii")
        except OSError as error:
            remedy = "give this user read access to it, or restore it from a backup"
            raise BadIdentity(str(path), f"cannot be read ({error.strerror})", remedy) from error
        except UnicodeDecodeError as error:
            raise _damaged(path) from error
        if others_may_read(path):
            raise BadIdentity(str(path), f"other users may read it (mode {mode & 0o777:o})", f"run: chmod 600 {path}")
        try:
            header, seed, public_key = text.split("\n")[:3]
            identity = cls(bytes.fromhex(seed))
            if header != HEADER or identity.public_key != bytes.fromhex(public_key):
                raise _damaged(path)
        except (ValueError, TypeError, CryptoError) as error:
            raise _damaged(path) from error
        return identity

    def save(self, path: Path) -> None:
        """Write the key file: whole or not at all, mode 0600, never over another file. Raises BadIdentity."""
        text = f"{HEADER}\n{self._seed.hex()}\n{self.public_key.hex()}\n"
        try:
            write_secret_whole(path, text)
        except OSError as error:
            remedy = "check the folder's permissions and free space, and that no key file lies there yet"
            raise BadIdentity(str(path), f"cannot be written ({error.strerror})", remedy) from error

    def sign(self, domain: bytes, message: bytes) -> bytes:
        """Return 64 bytes of signature. Sign a digest of large messages: Ed25519 reads its input twice, 4 ms a MiB."""
        return bindings.crypto_sign(_framed(domain, message), self._secret)[:64]

    def has_shared(self, public_key: bytes) -> bool:
        """Tell whether the shared key with a peer is remembered, so that `shared_key` costs no arithmetic."""
        return public_key in self._shared

    def shared_key(self, public_key: bytes) -> bytes:
        """Return 32 secret bytes that only this node and the holder of `public_key` can compute. Remembered for the
        last 8,192 peers. Raises BadSignature where the bytes are no key."""
        key = self._shared.get(public_key)
        if key is None:
            try:
                point = bindings.crypto_sign_ed25519_pk_to_curve25519(public_key)
                secret = bindings.crypto_scalarmult(self._curve_secret, point)
            except (CryptoError, ValueError, TypeError) as error:
                raise BadSignature("public key", f"{public_key.hex()} is none") from error
            both = b"".join(sorted((self.public_key, public_key)))
            key = blake2b(both, key=secret, digest_size=32, person=b"dse-node shared").digest()
            remember(self._shared, public_key, key, SHARED_LIMIT)
        return key

    def private_bytes(self) -> bytes:
        """Return the 32-byte private key, for the certificate of the TLS server and for backups."""
        return self._seed


def _framed(domain: bytes, message: bytes) -> bytes:
    return b"dse-node 1\0" + len(domain).to_bytes(1, "big") + domain + message


def _damaged(path: Path) -> BadIdentity:
    remedy = "restore it from a backup, or move it away to start as a new node"
    return BadIdentity(str(path), "is damaged or no identity file", remedy)


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
