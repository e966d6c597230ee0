"""What is sealed opens for its reader and its purpose only."""

import pytest

from dht.errors import BadSignature
from dht.identity.node_key import Identity
from dht.identity.sealing import SEAL_BYTES, seal, unseal

A, B, C = (Identity(bytes([n]) * 32) for n in (1, 2, 3))
KEY = A.shared_key(B.public_key)


def test_the_other_holder_of_the_key_reads_it_and_nobody_else() -> None:
    sealed = seal(KEY, b"about", b"words that somebody looks for")
    assert b"words" not in sealed and len(sealed) == len(b"words that somebody looks for") + SEAL_BYTES
    assert unseal(B.shared_key(A.public_key), b"about", sealed) == b"words that somebody looks for"
    for key, about in ((KEY, b"else"), (C.shared_key(A.public_key), b"about")):
        with pytest.raises(BadSignature):
            unseal(key, about, sealed)


def test_the_same_text_is_never_sealed_alike() -> None:
    assert len({seal(KEY, b"", b"text") for _ in range(100)}) == 100


@pytest.mark.parametrize("sealed", [b"", bytes(10), bytes(SEAL_BYTES), bytes(200)])
def test_bytes_that_are_no_seal_are_refused(sealed: bytes) -> None:
    with pytest.raises(BadSignature):
        unseal(KEY, b"", sealed)


def test_every_changed_byte_is_found() -> None:
    sealed = seal(KEY, b"", b"text")
    for n in range(len(sealed)):
        with pytest.raises(BadSignature):
            unseal(KEY, b"", sealed[:n] + bytes([sealed[n] ^ 1]) + sealed[n + 1 :])
