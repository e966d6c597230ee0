"""Request signatures: one recipient, one time, one use."""

import random

import pytest

from dht import BadMessage, Identity, Now
from dht.errors import BadSignature
from dht.transport.request_auth import RequestAuthenticator, RequestTarget, sign_request

ALICE, BOB = Identity(b"\1" * 32), Identity(b"\2" * 32)
HERE = RequestTarget("ab" * 20, BOB.node_id, "POST", "/v1/Hello")
NOW = Now(1_700_000_000.0, 50.0)


def header(nonce: int, target: RequestTarget = HERE, now: Now = NOW) -> str:
    return sign_request(ALICE, target, b"body", now, nonce.to_bytes(12, "big"))


def test_a_signed_request_names_its_sender_once():
    authenticator = RequestAuthenticator()
    assert authenticator.verify(header(1), HERE, NOW).asker == ALICE.node_id
    with pytest.raises(BadMessage, match="seen before"):
        authenticator.verify(header(1), HERE, NOW)
    assert authenticator.verify(header(2), HERE, NOW)


@pytest.mark.parametrize("field", ["network", "recipient", "method", "path"])
def test_a_signature_for_another_target_is_worth_nothing(field: str):
    other = {"network": "cd" * 20, "recipient": ALICE.node_id, "method": "GET", "path": "/v1/Bye"}
    names = ("network", "recipient", "method", "path")
    target = RequestTarget(*(other[n] if n == field else getattr(HERE, n) for n in names))
    with pytest.raises(BadSignature):
        RequestAuthenticator().verify(header(1, target), HERE, NOW)


@pytest.mark.parametrize("off_s", [-121.0, 121.0])
def test_a_wrong_clock_is_told_by_how_much(off_s: float):
    with pytest.raises(BadMessage, match="differ by"):
        RequestAuthenticator().verify(header(1, now=Now(NOW.wall + off_s, 0.0)), HERE, NOW)


def test_a_replay_never_passes_even_when_memory_is_short():
    authenticator, rng = RequestAuthenticator(max_nonces=20), random.Random(1)
    passed: list[str] = []
    for number in range(200):
        now = Now(NOW.wall + number, NOW.steady + number)
        fresh = header(number, now=Now(now.wall + rng.uniform(-60, 60), 0.0))
        try:
            authenticator.verify(fresh, HERE, now)
        except BadMessage:
            continue
        passed.append(fresh)
        for old in rng.sample(passed, min(5, len(passed))):
            with pytest.raises(BadMessage):
                authenticator.verify(old, HERE, now)
    assert len(passed) > 20


@pytest.mark.parametrize("text", ["", "DSE1", "DSE1 " + "00 " * 5, "DSE1 x x x x x", "A" * 9000, "DSE1 nan nan 0 0 0"])
def test_what_is_no_signature_is_refused(text: str):
    with pytest.raises(BadMessage):
        RequestAuthenticator().verify(text, HERE, NOW)


def test_a_time_that_is_no_number_is_refused():
    parts = header(1).split(" ")
    for odd in ("nan", "inf", "-inf", "1e999"):
        with pytest.raises(BadMessage):
            RequestAuthenticator().verify(" ".join([*parts[:2], odd, *parts[3:]]), HERE, NOW)
