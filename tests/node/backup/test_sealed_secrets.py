"""Secrets open with their pass phrase, beside what they were closed with, and not otherwise."""

import pytest

from node.backup.sealed_secrets import seal, unseal

SECRETS = {"identity.key": b"secret", "keys/campus/online.key": b"another"}
WORDS = "correct horse battery"


def test_they_open_with_the_pass_phrase_alone() -> None:
    sealed = seal(SECRETS, WORDS, b"node")
    assert b"secret" not in sealed and sealed != seal(SECRETS, WORDS, b"node")
    assert unseal(sealed, WORDS, b"node") == SECRETS
    assert unseal(sealed, WORDS + " ", b"node") is unseal(sealed, WORDS, b"other") is None
    for place in (1, 20, 40, len(sealed) - 1):
        changed = sealed[:place] + bytes([sealed[place] ^ 1]) + sealed[place + 1 :]
        assert unseal(changed, WORDS, b"node") is None
    assert unseal(sealed[:30], WORDS, b"node") is unseal(sealed[:-1], WORDS, b"node") is None
    with pytest.raises(ValueError, match="in a way"):
        unseal(b"\x02" + sealed[1:], WORDS, b"node")
