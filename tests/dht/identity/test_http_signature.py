"""Signatures of HTTP messages and names of keys come out as the standards' own examples have them."""

import base64

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from dht.identity.http_signature import json_web_key, signature_fields, thumbprint

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
