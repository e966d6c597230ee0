"""Words of peers about one address."""

from itertools import product
from random import Random

import pytest

from dht.keys import NodeId
from dht.reachability.evidence import (
    NOBODY_S,
    PATIENCE_S,
    WORDS,
    NodeRole,
    ProbeReport,
    ReachabilityEvidence,
    ReachabilityVerdict,
    left_out,
)
from dht.wire.contact import Endpoint

HERE, THERE = Endpoint("9.0.0.1", 1, 1), Endpoint("9.0.0.2", 1, 1)
PEERS = [NodeId(bytes([n]) * 20) for n in range(8)]
GOOD, BAD, UDP = ProbeReport(True, True), ProbeReport(False, False), ProbeReport(True, False)
UNKNOWN, REACHABLE, UNREACHABLE = ReachabilityVerdict


def asked(
    found: ReachabilityEvidence, words: list[ProbeReport | None], peers: list[NodeId], at: float = 0.0
) -> list[NodeId]:
    """One round: each peer asked says the next of `words`, None being no answer; who was asked."""
    assert found.update_address(at, HERE)
    done = []
    while (peer := found.choose(at, peers, Random(1).choice)) is not None:
        done.append(peer)
        word = words[len(done) - 1] if len(done) <= len(words) else None
        if word:
            found.hear(peer, word)
    return done


@pytest.mark.parametrize("words", list(product([GOOD, BAD], repeat=3)))
def test_one_good_word_convinces_unless_two_deny(words: tuple[ProbeReport, ...]) -> None:
    found = ReachabilityEvidence(1800.0)
    assert len(asked(found, list(words), PEERS)) == WORDS
    assert found.verdict == (REACHABLE if words.count(GOOD) >= 2 else UNREACHABLE)


def test_one_node_that_does_not_hear_this_one_counts_once_whoever_has_it_dial() -> None:
    deaf, other = ProbeReport(False, False, by=b"d" * 20), ProbeReport(True, True, by=b"o" * 20)
    for words in ([deaf, deaf, other], [other, deaf, deaf], [deaf, other, deaf]):
        found = ReachabilityEvidence(1800.0)
        asked(found, words, PEERS)
        assert found.verdict is REACHABLE
    found = ReachabilityEvidence(1800.0)
    asked(found, [deaf, other, BAD], PEERS)
    assert found.verdict is UNREACHABLE


def test_a_lone_denial_counts_where_nobody_else_can_be_asked() -> None:
    found = ReachabilityEvidence(1800.0)
    found.update_address(0.0, HERE)
    found.hear(PEERS[0], BAD)
    assert found.verdict is UNKNOWN
    found = ReachabilityEvidence(1800.0)
    assert asked(found, [BAD], PEERS[:1]) == PEERS[:1]
    assert found.verdict is UNREACHABLE
    assert found.shown == "behind a firewall, 1 peer tried"


def test_peers_that_do_not_answer_are_no_words() -> None:
    found = ReachabilityEvidence(1800.0)
    assert len(asked(found, [None, None, GOOD, None, GOOD, GOOD], PEERS)) == 6
    assert (found.verdict, found.tried) == (REACHABLE, 3)
    silent = ReachabilityEvidence(1800.0)
    assert len(asked(silent, [], PEERS)) == len(PEERS)
    assert silent.verdict is UNKNOWN
    assert not silent.update_address(NOBODY_S - 1, HERE) and silent.update_address(NOBODY_S, HERE)


def test_rounds_come_again_sooner_where_nobody_gets_through_and_at_once_for_a_new_address() -> None:
    good, bad = ReachabilityEvidence(1800.0), ReachabilityEvidence(1800.0)
    asked(good, [GOOD] * 3, PEERS)
    asked(bad, [UDP] * 3, PEERS)
    assert "UDP alone arrives" in bad.shown
    assert not good.update_address(1799.0, HERE) and good.update_address(1800.0, HERE)
    assert not bad.update_address(599.0, HERE) and bad.update_address(600.0, HERE)
    assert good.update_address(10.0, THERE)
    assert (good.verdict, good.tried) == (UNKNOWN, 0)
    never = ReachabilityEvidence(0.0)
    assert not never.update_address(1e9, HERE)


def test_a_verdict_turns_with_the_words_of_a_later_round() -> None:
    found = ReachabilityEvidence(1800.0)
    asked(found, [GOOD] * 3, PEERS)
    asked(found, [BAD] * 3, PEERS, at=1800.0)
    assert found.verdict is UNREACHABLE


def test_who_is_told_what_to_be_is() -> None:
    for verdict in ReachabilityVerdict:
        assert NodeRole("member", is_declared=False, joins=True).takes_part(0.0, {4: verdict})
        assert not NodeRole("client", is_declared=True, joins=False).takes_part(1e6, {4: verdict})


def test_who_has_to_find_out_is_quiet_until_a_word_comes() -> None:
    standing = NodeRole("auto", is_declared=False, joins=True)
    assert not standing.takes_part(0.0, {})
    assert not standing.takes_part(5.0, {4: UNKNOWN})
    assert standing.takes_part(6.0, {4: UNKNOWN, 6: REACHABLE})
    assert standing.takes_part(7.0, {4: UNKNOWN, 6: UNKNOWN})  # its address changed: no reason to leave
    assert not standing.takes_part(8.0, {4: UNREACHABLE, 6: UNREACHABLE})


def test_who_is_alone_begins_after_a_while_and_waits_again_when_somebody_answers() -> None:
    standing = NodeRole("auto", is_declared=False, joins=True)
    assert [standing.takes_part(at, {}) for at in (0.0, PATIENCE_S - 1, PATIENCE_S)] == [False, False, True]
    assert not standing.takes_part(100.0, {4: UNKNOWN})
    assert standing.takes_part(100.0 + PATIENCE_S, {4: UNKNOWN})
    assert not standing.takes_part(130.0, {4: UNREACHABLE})


@pytest.mark.parametrize(("is_declared", "joins"), [(True, True), (False, False)])
def test_declared_addresses_and_first_nodes_do_not_wait(is_declared: bool, joins: bool) -> None:
    standing = NodeRole("auto", is_declared=is_declared, joins=joins)
    assert standing.takes_part(0.0, {})
    assert standing.takes_part(1.0, {4: UNREACHABLE}) is is_declared  # liars must not silence who is declared


def test_a_family_is_left_out_only_where_the_other_works() -> None:
    assert left_out({4: REACHABLE, 6: UNREACHABLE}) == {6}
    assert left_out({4: UNKNOWN, 6: UNREACHABLE}) == left_out({4: UNREACHABLE, 6: UNREACHABLE}) == frozenset()
    assert left_out({}) == left_out({4: REACHABLE, 6: UNKNOWN}) == frozenset()
