"""A report holds nothing that may not leave this machine."""

import json

import pytest

from node.views.redaction import Redaction

TOKEN = "Zk3pQ9-x_yT2aB7cD8eF0gH1iJ4kL5mN6oP7qR8sT9u"
NODE_ID = "40d871cb704d6fc8c295bd65dac2680c50de4a84"


@pytest.mark.parametrize(
    "secret",
    [
        "192.168.1.7", "203.0.113.9", "fd12:3456::7", "2001:db8::1", "fe80::1", "::ffff:10.0.0.9", "10.0.0.9:8091",
        "https://example.org/secret?q=illness", "http://10.0.0.9/x", TOKEN, "a1" * 32, "anns-laptop",
    ],
)  # fmt: skip
@pytest.mark.parametrize("frame", ["{}", "peer {} is away", "[{}]", "at={}, and", "({})"])
def test_nothing_of_the_owner_stays_wherever_it_stands(secret: str, frame: str) -> None:
    redaction = Redaction([("anns-laptop", "MACHINE")])
    text = frame.format(secret)
    said = json.dumps(redaction.of({"a": [text, {text: 1}], "warnings": [text]}))
    bare = secret.split(":")[0] if secret.count(":") == 1 and secret[0] == "1" else secret
    assert bare not in said


def test_fields_that_hold_secrets_are_left_out_whatever_is_in_them() -> None:
    said = Redaction().of(
        {"token": "abc", "Query": ["my illness"], "invitation": {"words": "x"}, "voucher": "", "n": 1}
    )
    assert said == {"token": "(left out)", "Query": "(left out)", "invitation": "(left out)", "voucher": "", "n": 1}


def test_what_belongs_together_can_still_be_seen() -> None:
    redaction = Redaction()
    assert redaction.text("10.0.0.9 and 93.184.216.34, then 10.0.0.9 again") == (
        "(private IPv4 address 1) and (IPv4 address 2), then (private IPv4 address 1) again"
    )


@pytest.mark.parametrize(
    "harmless", [NODE_ID, "127.0.0.1:8090", "0.0.0.0", "1.2.3", "12:30:45", "version 0.1.0", "22:00-07:00", "a::b::c"]
)
def test_what_helps_stays(harmless: str) -> None:
    assert Redaction([("root", "USER"), ("", "X")]).text(harmless) == harmless


def test_addresses_stay_where_the_owner_says_so_and_secrets_never() -> None:
    redaction = Redaction([(TOKEN, "(left out)")], keeps_addresses=True)
    assert (
        redaction.text(f"10.0.0.9 http://a.org/ {TOKEN} {'a1' * 32}") == "10.0.0.9 http://a.org/ (left out) (left out)"
    )
