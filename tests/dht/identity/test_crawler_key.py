"""The key that signs requests to sites: every peer computes its public half, any library verifies it, no peer takes it
for the node's own.
"""

import base64
import re
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from dht.identity.crawler_key import CrawlerKey, crawler_key_of, json_web_key, signature_fields, thumbprint
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


RFC_9421_SECRET = base64.b64decode("n4Ni+HpISpVObnQMW0wOhCKROaIKqKtW/2ZYb2p9KcU=")  # B.1.4, an example for everybody
RFC_8037_KEY = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"  # A.2


def test_the_example_of_rfc_9421_b_2_6() -> None:
    components = [
        ('"date"', "Tue, 20 Apr 2021 02:07:55 GMT"),
        ('"@method"', "POST"),
        ('"@path"', "/foo"),
        ('"@authority"', "example.com"),
        ('"content-type"', "application/json"),
        ('"content-length"', "18"),
    ]
    stated = {"created": 1618884473, "keyid": "test-key-ed25519"}
    sign = Ed25519PrivateKey.from_private_bytes(RFC_9421_SECRET).sign
    signature = "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw=="
    assert signature_fields("sig-b26", components, stated, sign) == {
        "Signature-Input": 'sig-b26=("date" "@method" "@path" "@authority" "content-type" "content-length")'
        ';created=1618884473;keyid="test-key-ed25519"',
        "Signature": f"sig-b26=:{signature}:",
    }


def test_the_example_of_web_bot_auth() -> None:
    """That of draft-ietf-webbotauth-httpsig-protocol with Ed25519, by the key of RFC 9421."""
    keyid = thumbprint(Ed25519PrivateKey.from_private_bytes(RFC_9421_SECRET).public_key().public_bytes_raw())
    nonce = "n9p433xm+NJ3ph3upfBIGmsuwHw387YV7Q/F+6BSpGCVjYCqQw6rznNA8PVVLySrAWsv0hQtFioQb6E1YsauiA=="
    components = [('"@authority"', "example.com"), ('"signature-agent";key="agent2"', '"https://signature-agent.test"')]
    times = {"expires": 4889289600, "nonce": nonce, "tag": "web-bot-auth"}
    stated = {"created": 1735689600, "keyid": keyid, "alg": "ed25519", **times}
    fields = signature_fields("sig2", components, stated, Ed25519PrivateKey.from_private_bytes(RFC_9421_SECRET).sign)
    signature = "RdNFx5Bj6au3YgAMQL/RzmUlZE8QZLIaXGRpw985hWnwPfMxT228NMk6ehRS1PSl4e8PhbNZACSanGdhEwYCCg=="
    assert keyid == "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U"
    assert fields["Signature"] == f"sig2=:{signature}:"


def test_the_thumbprint_of_rfc_8037_a_3() -> None:
    key = base64.urlsafe_b64decode(f"{RFC_8037_KEY}=")
    assert thumbprint(key) == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"
    named = {"kty": "OKP", "crv": "Ed25519", "x": RFC_8037_KEY, "kid": thumbprint(key)}
    assert json_web_key(key) == {**named, "use": "sig"}
