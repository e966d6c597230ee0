"""A strategy must pass its bounds, its chain and its signatures."""

from typing import Any

import msgspec
import pytest

from dht import BadStrategy, Identity, Rule, Strategy
from dht.strategy.document import (
    Publishers,
    SignedStrategy,
    decode_signed,
    encode_document,
    encode_signed,
    parse_document,
)
from dht.strategy.validation import add_signature, check, check_bounds, parse_address, sign_strategy

ALICE, BOB, EVE = (Identity(bytes([n]) * 32) for n in (1, 2, 3))
KEYS = (ALICE.public_key.hex(), BOB.public_key.hex())
NETWORK = "ab" * 20


def strategy(**changes: Any) -> Strategy:
    fields = {
        "network": NETWORK,
        "version": 1,
        "effective_at": 100,
        "next_at": 200,
        "expires_at": 300,
        "publishers": KEYS,
    }
    return Strategy(**{**fields, **changes})


def second(previous: SignedStrategy, **changes: Any) -> Strategy:
    return strategy(version=2, previous=previous.digest, **changes)


FIRST = sign_strategy(encode_document(strategy()), ALICE)


@pytest.mark.parametrize("slot_bits", [7, 10, 16])
def test_slots_are_doubled_once_a_version_and_never_halved(slot_bits: int):
    wrong = sign_strategy(encode_document(second(FIRST, slot_bits=slot_bits)), BOB)
    with pytest.raises(BadStrategy, match=f"slot_bits.*{slot_bits} after 8"):
        check(wrong, NETWORK, Publishers(KEYS, 1), FIRST)
    right = sign_strategy(encode_document(second(FIRST, slot_bits=9)), BOB)
    assert check(right, NETWORK, Publishers(KEYS, 1), FIRST).slot_bits == 9


def test_what_is_spread_stays_spread():
    deep = Rule(action="spread", host="big.example", depth=3)
    before = sign_strategy(encode_document(strategy(rules=(deep,))), ALICE)
    for rules in ((), (msgspec.structs.replace(deep, depth=2),)):
        wrong = sign_strategy(encode_document(second(before, rules=rules)), BOB)
        with pytest.raises(BadStrategy, match="stays spread"):
            check(wrong, NETWORK, Publishers(KEYS, 1), before)
    right = sign_strategy(encode_document(second(before, rules=(msgspec.structs.replace(deep, depth=4),))), BOB)
    assert check(right, NETWORK, Publishers(KEYS, 1), before).rules[0].depth == 4


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"version": 3}, "version"),
        ({"previous": "00" * 32}, "previous"),
        ({"network": "cd" * 20}, "network"),
    ],
)
def test_what_does_not_fit_its_place_is_refused(changes: dict[str, Any], field: str):
    document = encode_document(msgspec.structs.replace(second(FIRST), **changes))
    with pytest.raises(BadStrategy) as refused:
        check(sign_strategy(document, ALICE), NETWORK, Publishers(KEYS, 1), FIRST)
    assert refused.value.field == field
    assert refused.value.remedy


def test_two_signatures_of_one_publisher_are_one():
    signed = sign_strategy(encode_document(strategy()), ALICE, ALICE, EVE)
    with pytest.raises(BadStrategy, match="1 valid of 2 needed"):
        check(signed, NETWORK, Publishers(KEYS, 2), None)
    assert check(add_signature(signed, BOB), NETWORK, Publishers(KEYS, 2), None)


@pytest.mark.parametrize(
    "changes",
    [
        {"network": "xy"},
        {"version": 0},
        {"previous": "00" * 32},
        {"slot_bits": 3},
        {"slot_bits": 17},
        {"replicas": 0},
        {"replicas": 17},
        {"min_acks": 0},
        {"min_acks": 4},
        {"expires_at": 100, "next_at": 100},
        {"next_at": 99},
        {"next_at": 301},
        {"min_delay_s": -1.0},
        {"max_delay_s": 0.5},
        {"publishers": ()},
        {"publishers": (KEYS[0], KEYS[0])},
        {"publishers": (KEYS[0].upper(),)},
        {"threshold": 0},
        {"threshold": 3},
        {"bootstrap": ("localhost:1",)},
        {"bootstrap": ("::1:8091",)},
        {"declared_prefixes": ("10.0.0.1/8",)},
        {"rules": (Rule(),) * 1001},
        {"rules": (Rule(pattern="("),)},
        {"rules": (Rule(pattern="a" * 1001),)},
        {"rules": (Rule(host="Upper.example"),)},
        {"rules": (Rule(slots=(5, 4)),)},
        {"rules": (Rule(slots=(0, 256)),)},
        {"rules": (Rule(max_depth=-1),)},
        {"rules": (Rule(action="never"),)},
        {"rules": (Rule(action="only", prefixes=()),)},
        {"rules": (Rule(prefixes=("10.0.0.0/8",)),)},
        {"rules": (Rule(action="deny", host="a.test", prefixes=("10.0.0.0/8",)),)},
        {"rules": (Rule(action="only", prefixes=("10.0.0.1/8",)),)},
        {"rules": (Rule(action="only", prefixes=("a.test",)),)},
        {"rules": (Rule(action="only", prefixes=("::ffff:10.0.0.0/104",)),)},
        {"rules": (Rule(action="only", prefixes=("10.0.0.0/8",) * 65),)},
        {"rules": (Rule(action="never", prefixes=("10.0.0.0/8",), pattern="/x"),)},
        {"rules": (Rule(action="never", prefixes=("10.0.0.0/8",), slots=(0, 1)),)},
        {"rules": (Rule(action="never", prefixes=("10.0.0.0/8",), peer="ab" * 20),)},
        {"rules": (Rule(min_delay_s=float("nan")),)},
    ],
)
def test_every_bound_names_its_field_and_a_remedy(changes: dict[str, Any]):
    with pytest.raises(BadStrategy) as refused:
        check_bounds(strategy(**changes))
    assert refused.value.field.split("[")[0] in changes
    assert refused.value.reason and refused.value.remedy


def test_the_file_form_keeps_the_document_byte_for_byte():
    odd = SignedStrategy(b'{ "network" :\n "x" }', FIRST.signatures)
    assert decode_signed(encode_signed(odd)) == odd
    assert check(decode_signed(encode_signed(FIRST)), NETWORK, Publishers(KEYS, 1), None) == strategy()


def test_a_document_is_readable_and_round_trips():
    document = encode_document(strategy(rules=(Rule(host="a.example", action="deny"),)))
    assert document.count(b"\n") > 10
    assert encode_document(parse_document(document)) == document


@pytest.mark.parametrize("text", ["127.0.0.1:8091", "[::1]:8091"])
def test_addresses_are_read(text: str):
    assert parse_address(text).tcp_port == 8091


@pytest.mark.parametrize("text", ["", ":", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:٣", "[127.0.0.1]:80", "[::1]", "a:1"])
def test_what_is_no_address_is_refused(text: str):
    with pytest.raises(BadStrategy):
        parse_address(text)


def test_nobody_reads_the_rules_of_a_strategy_that_no_publisher_signed():
    bad = encode_document(strategy(rules=(Rule(pattern="("),)))
    with pytest.raises(BadStrategy) as refused:
        check(SignedStrategy(bad, ()), NETWORK, Publishers(KEYS, 1), None)
    assert refused.value.field == "signatures"
    with pytest.raises(BadStrategy) as refused:
        check(add_signature(SignedStrategy(bad, ()), ALICE), NETWORK, Publishers(KEYS, 1), None)
    assert refused.value.field == "rules[1].pattern"
