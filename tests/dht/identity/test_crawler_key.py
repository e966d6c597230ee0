"""The key that signs requests to sites: every peer computes its public half, any library verifies it, no peer takes it
for the node's own."""

import re
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from dht.identity.crawler_key import CrawlerKey, crawler_key_of
from dht.identity.node_key import Identity, verify

PROTOCOL = Path(__file__).parents[3] / "PROTOCOL.md"
DOMAIN = b"heartbeat\0"


def test_all_versions_compute_the_same_key() -> None:
    told = re.search(r"32 zero bytes of\s+private key is\n\n    ([0-9a-f]{64})\n", PROTOCOL.read_text())
    assert told is not None and CrawlerKey(Identity(bytes(32))).public_key == bytes.fromhex(told[1])


@pytest.mark.parametrize("seed", range(20))
def test_who_knows_a_node_verifies_what_its_crawler_signed(seed: int) -> None:
    node = Identity(bytes([seed]) * 32)
    key = CrawlerKey(node)
    message = bytes(range(seed * 10))
    public = crawler_key_of(node.public_key)
    assert public == key.public_key != node.public_key
    Ed25519PublicKey.from_public_bytes(public).verify(key.sign(message), message)
    with pytest.raises(InvalidSignature):
        Ed25519PublicKey.from_public_bytes(public).verify(key.sign(message), message + b"x")


def test_what_a_crawler_signs_is_never_the_word_of_its_node() -> None:
    node = Identity(bytes(32))
    key = CrawlerKey(node)
    heartbeat = b"a heartbeat that a site would like to have"
    framed = b"dse-node 1\0" + bytes([len(DOMAIN)]) + DOMAIN + heartbeat
    assert verify(DOMAIN, node.public_key, heartbeat, node.sign(DOMAIN, heartbeat)), "so it is framed"
    assert not verify(DOMAIN, node.public_key, heartbeat, key.sign(framed))


@pytest.mark.parametrize("bytes_", [b"", bytes(32), b"\1" + bytes(31), b"\xff" * 32, bytes(31), b"\2" + bytes(31)])
def test_bytes_that_are_no_honest_key_have_no_crawler_key(bytes_: bytes) -> None:
    assert crawler_key_of(bytes_) is None
