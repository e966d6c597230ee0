"""Closes a node's secrets with a passphrase, and opens them again.

AES-256-GCM under a key that scrypt makes of the passphrase: each guess costs 64 MiB of memory and a tenth of a second.
The bytes are a version, the salt, the nonce, and the encrypted msgpack map of names and contents; they open only beside
what they were closed with (`about`).
"""

import os
from collections.abc import Mapping

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

VERSION = b"\x01"
SALT_BYTES, NONCE_BYTES = 16, 12
COST, BLOCK = 1 << 16, 8  # 64 MiB
LEAST_CHARS = 12

_decoder = msgspec.msgpack.Decoder(dict[str, bytes])


def seal(secrets: Mapping[str, bytes], pass_phrase: str, about: bytes) -> bytes:
    """Close secrets with a passphrase."""
    salt, nonce = os.urandom(SALT_BYTES), os.urandom(NONCE_BYTES)
    closed = AESGCM(_key(pass_phrase, salt)).encrypt(nonce, msgspec.msgpack.encode(dict(secrets)), VERSION + about)
    return VERSION + salt + nonce + closed


def unseal(sealed: bytes, pass_phrase: str, about: bytes) -> dict[str, bytes] | None:
    """Open secrets; None where the passphrase is another, or the bytes were changed. Raises ValueError for bytes of
    another version."""
    if not sealed.startswith(VERSION):
        raise ValueError("its secrets are closed in a way that this version does not know")
    salt, rest = sealed[1 : 1 + SALT_BYTES], sealed[1 + SALT_BYTES :]
    try:
        key = AESGCM(_key(pass_phrase, salt))
        return _decoder.decode(key.decrypt(rest[:NONCE_BYTES], rest[NONCE_BYTES:], VERSION + about))
    except (InvalidTag, ValueError, msgspec.DecodeError):
        return None


def _key(pass_phrase: str, salt: bytes) -> bytes:
    return Scrypt(salt=salt, length=32, n=COST, r=BLOCK, p=1).derive(pass_phrase.encode())
