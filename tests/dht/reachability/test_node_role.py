"""Who takes part and who stays quiet, by what peers say of its addresses."""

import pytest

from dht.reachability.evidence import PATIENCE_S, NodeRole, ReachabilityVerdict, left_out

UNKNOWN, REACHABLE, UNREACHABLE = ReachabilityVerdict


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
