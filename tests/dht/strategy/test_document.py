"""Documents of a newer version: what this one does not know is kept byte for byte, passed over, and told of."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bootstrap.networks import load_network, new_network
from dht import BadStrategy, Identity, Network, Now, Rule, Strategy
from dht.strategy.crawl_rules import CrawlRules
from dht.strategy.document import (
    DOMAIN,
    Admitter,
    Gone,
    Revocation,
    Signature,
    SignedStrategy,
    decode_signed,
    encode_document,
    encode_signed,
    parse_document,
    unknown_parts,
)
from dht.strategy.history import StrategyHistory
from dht.strategy.validation import add_signature, check_bounds, sign_strategy

ALICE = Identity(b"\1" * 32)
NOW = Now(1000.0, 0.0)


@pytest.fixture(autouse=True)
def known_feature(monkeypatch: pytest.MonkeyPatch) -> None:
    """This program has one of the two features that the newer strategy needs."""
    monkeypatch.setattr("dht.strategy.history.FEATURES", frozenset({"levity"}))


NEWER: dict[str, Any] = {
    "gravity": {"pull": [1, 2.5, None]},
    "rules": [
        {"action": "deny", "host": "a.example", "language": "de"},
        {"action": "postpone", "host": "*.example"},
        {"action": "deny", "host": "b.example"},
    ],
    "needs": [{"feature": "gravity", "binds_at": 5000, "because": "apples"}, {"feature": "levity"}],
}


def network() -> Network:
    first = Strategy(network="", version=1, effective_at=100, next_at=5000, expires_at=9_000_000)
    return load_network(new_network("test", [ALICE], first))


def newer(previous: SignedStrategy, version: int = 2, **fields: Any) -> SignedStrategy:
    """Return a strategy that the publisher's newer program wrote and signed, in its own order and with its own
    spaces."""
    known = {"network": network().id, "version": version, "previous": previous.digest, "effective_at": 100}
    more = {"next_at": 5000, "expires_at": 9_000_000, "publishers": [ALICE.public_key.hex()]}
    document = json.dumps(NEWER | fields | more | known, indent=1).encode()
    return SignedStrategy(document, (Signature(ALICE.public_key.hex(), ALICE.sign(DOMAIN, document).hex()),))


def test_a_newer_document_is_adopted_kept_and_passed_on_as_it_was_signed(tmp_path: Path) -> None:
    history, signed = StrategyHistory(network(), tmp_path), newer(network().first, replicas=4)
    assert history.adopt(signed)
    for each in (history, StrategyHistory(network(), tmp_path)):
        assert each.current(NOW).replicas == 4
        assert each.chain(2) == (encode_signed(signed),)
        assert decode_signed(each.chain(2)[0]).document == signed.document


def test_an_older_node_says_what_it_passes_over_and_when_it_must_be_upgraded() -> None:
    history = StrategyHistory(network())
    history.adopt(newer(network().first))
    over, needs = history.warnings(NOW)
    assert "passes over: gravity, rules[1], rules[2]" in over
    assert "needs 'gravity' from 1970-01-01 01:23 UTC on" in needs and "upgrade before then" in needs
    assert "since 1970-01-01 01:23 UTC" in history.warnings(Now(5000.0, 0.0))[-1]
    history.adopt(newer(history.signed(2) or network().first, 3, effective_at=100, needs=[]))
    assert not any("needs" in warning for warning in history.warnings(NOW))


def test_a_rule_of_a_newer_version_matches_nothing_and_keeps_its_number() -> None:
    strategy = parse_document(newer(network().first).document)
    check_bounds(strategy)
    rules = CrawlRules(strategy)
    found = {host: rules.decide(f"http://{host}/") for host in ("a.example", "b.example", "c.example")}
    assert {host: (each.action, each.rule) for host, each in found.items()} == {
        "a.example": ("owners", 0),
        "b.example": ("deny", 3),
        "c.example": ("owners", 0),
    }


@pytest.mark.parametrize("rules", [[{"host": 5}], ["deny"], [{"action": 3}], 7])
def test_what_is_wrong_in_every_version_is_refused(rules: Any) -> None:
    with pytest.raises(BadStrategy):
        parse_document(newer(network().first, rules=rules).document)


def test_nobody_signs_what_his_program_does_not_understand() -> None:
    signed = newer(network().first)
    assert unknown_parts(signed.document) == ("gravity", "rules[1]", "rules[2]")
    with pytest.raises(BadStrategy, match=r"gravity.*newer"):
        add_signature(signed, ALICE)
    with pytest.raises(BadStrategy, match="gravity"):
        sign_strategy(signed.document, ALICE)


def test_what_is_written_here_is_understood_here() -> None:
    strategy = parse_document(newer(network().first, rules=[], needs=NEWER["needs"]).document)
    assert unknown_parts(encode_document(strategy)) == ()
    assert parse_document(encode_document(strategy)) == strategy
    rule = Rule(action="deny", host="a.example")
    assert parse_document(encode_document(Strategy(network="", version=1, effective_at=1, expires_at=2, next_at=1,
                                                   rules=(rule,)))).rules == (rule,)  # fmt: skip


@pytest.mark.parametrize("need", [{"feature": ""}, {"feature": "x" * 65}, {"feature": "x", "binds_at": -1}])
def test_needs_have_bounds(need: dict[str, Any]) -> None:
    with pytest.raises(BadStrategy, match="needs"):
        check_bounds(parse_document(newer(network().first, needs=[need]).document))


def test_who_may_invite_and_what_is_revoked_is_signed_and_a_document_without_says_nothing_of_it() -> None:
    first = parse_document(network().first.document)
    assert not any(word in network().first.document for word in (b"admitters", b"revoked"))
    key, voucher = "ab" * 32, "cd" * 20
    admitters = (Admitter(key), Admitter("ef" * 32, until=5000))
    revoked = (Revocation(voucher), Revocation(key, from_at=4000))
    wanted = msgspec.structs.replace(first, admission="invited", admitters=admitters, revoked=revoked)
    assert parse_document(sign_strategy(encode_document(wanted), ALICE).document) == wanted
    for field, entry in (
        ("admitters", Admitter("ab" * 31)),
        ("admitters", Admitter(key, until=-1)),
        ("revoked", Revocation("AB" * 20)),
        ("revoked", Revocation(voucher + "0")),
        ("revoked", Revocation(voucher, from_at=-1)),
    ):
        with pytest.raises(BadStrategy) as error:
            check_bounds(msgspec.structs.replace(wanted, **{field: (entry,)}))
        assert error.value.field == field and error.value.remedy
    with pytest.raises(BadStrategy, match="at most 64"):
        check_bounds(msgspec.structs.replace(wanted, admitters=(Admitter(key),) * 65))


def test_who_may_import_is_signed_and_a_document_without_says_nothing_of_it() -> None:
    first = parse_document(network().first.document)
    assert b"importers" not in network().first.document
    wanted = msgspec.structs.replace(first, importers=("ab" * 32,))
    assert parse_document(sign_strategy(encode_document(wanted), ALICE).document) == wanted
    for keys in (("ab" * 31,), ("AB" * 32,), ("ab" * 32,) * 65):
        with pytest.raises(BadStrategy, match="importers"):
            check_bounds(msgspec.structs.replace(wanted, importers=keys))


def test_who_is_gone_is_signed_and_a_document_without_says_nothing_of_it() -> None:
    first = parse_document(network().first.document)
    assert b"gone" not in network().first.document
    wanted = msgspec.structs.replace(first, gone=(Gone("ab" * 20, 1_700_000_000),))
    assert parse_document(sign_strategy(encode_document(wanted), ALICE).document) == wanted
    for entry in (Gone("ab" * 19, 1), Gone("AB" * 20, 1), Gone("ab" * 20, 0)):
        with pytest.raises(BadStrategy, match="gone"):
            check_bounds(msgspec.structs.replace(wanted, gone=(entry,)))
