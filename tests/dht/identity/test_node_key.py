""""""

import contextlib
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dht.errors import BadIdentity, BadSignature
from dht.identity.node_key import SEAL_BYTES, Identity, node_id_of, seal, unseal, verify

A, B = Identity(b"a" * 32), Identity(b"b" * 32)


def test_rfc_8032_key() -> None:
    seed = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
    public = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
    assert Identity(seed).public_key.hex() == public
    assert node_id_of(bytes.fromhex(public)) == sha256(bytes.fromhex(public)).digest()[:20]


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=300), st.binary(max_size=20), st.integers(0, 63), st.integers(1, 255))
def test_a_signature_holds_for_its_domain_key_and_message_only(
    message: bytes, domain: bytes, place: int, flip: int
) -> None:
    signature = A.sign(domain, message)
    for _ in range(2):  # the second answer comes from memory
        assert verify(domain, A.public_key, message, signature)
        assert not verify(domain + b"x", A.public_key, message, signature)
        assert not verify(domain, B.public_key, message, signature)
        assert not verify(domain, A.public_key, message + b"x", signature)
        bent = signature[:place] + bytes([signature[place] ^ flip]) + signature[place + 1 :]
        assert not verify(domain, A.public_key, message, bent)


def test_domain_and_message_do_not_run_together() -> None:
    assert not verify(b"ab", A.public_key, b"c", A.sign(b"a", b"bc"))


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=70), st.binary(max_size=70))
def test_no_bytes_raise(public_key: bytes, signature: bytes) -> None:
    assert not verify(b"d", public_key, b"m", signature)
    with contextlib.suppress(BadSignature):
        A.shared_key(public_key)


def test_two_nodes_share_a_key_that_a_third_has_not() -> None:
    third = Identity.generate()
    assert A.shared_key(B.public_key) == B.shared_key(A.public_key)
    assert A.shared_key(third.public_key) != A.shared_key(B.public_key)


def test_a_saved_identity_comes_back_and_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "identity"
    A.save(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert Identity.load(path).node_id == A.node_id
    with pytest.raises(BadIdentity, match="no key file lies there yet"):
        B.save(path)
    assert Identity.load(path).private_bytes() == A.private_bytes()


@pytest.mark.parametrize("damage", ["", "dse-node identity 1\n", "x\n" * 3, "dse-node identity 1\nzz\nzz\n", "é"])
def test_a_damaged_file_is_named_with_a_remedy(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "identity"
    path.write_text(damage)
    path.chmod(0o600)
    with pytest.raises(BadIdentity, match=r"is damaged.*restore it from a backup"):
        Identity.load(path)


def test_a_flipped_digit_a_missing_file_and_open_permissions_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "identity"
    with pytest.raises(BadIdentity, match="cannot be read"):
        Identity.load(path)
    A.save(path)
    path.chmod(0o640)
    with pytest.raises(BadIdentity, match="chmod 600"):
        Identity.load(path)
    path.write_text(path.read_text().replace("61", "62", 1))
    path.chmod(0o600)
    with pytest.raises(BadIdentity, match="is damaged"):
        Identity.load(path)


ANN, BOB, CID = (Identity(bytes([n]) * 32) for n in (1, 2, 3))
KEY = ANN.shared_key(BOB.public_key)


def test_the_other_holder_of_the_key_reads_it_and_nobody_else() -> None:
    sealed = seal(KEY, b"about", b"words that somebody looks for")
    assert b"words" not in sealed and len(sealed) == len(b"words that somebody looks for") + SEAL_BYTES
    assert unseal(BOB.shared_key(ANN.public_key), b"about", sealed) == b"words that somebody looks for"
    for key, about in ((KEY, b"else"), (CID.shared_key(ANN.public_key), b"about")):
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
