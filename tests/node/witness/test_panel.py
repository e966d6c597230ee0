"""The panel of a slot: who may be a witness there."""

from collections.abc import Mapping

from dht import FailureDomains, Family, NodeId
from node.witness.panel import PANEL, panels

MEMBERS = [NodeId(bytes([n]) * 20) for n in range(12)]
AUTHOR = MEMBERS[0]


def chosen(said: Mapping[int, FailureDomains]) -> list[int]:
    (found,) = all_chosen(said)
    return found


def all_chosen(said: Mapping[int, FailureDomains]) -> list[list[int]]:
    alone = {n: FailureDomains(blocks=frozenset([bytes([9, 9, n])])) for n in range(12)}
    return [[peer[0] for peer in each] for each in panels(MEMBERS, AUTHOR, lambda peer: (alone | said)[peer[0]])]


def test_it_is_the_first_five_others():
    assert chosen({}) == [1, 2, 3, 4, 5] and len(chosen({})) == PANEL


def test_the_young_and_kin_of_each_other_or_of_the_author_are_passed_over():
    block = frozenset([b"abc"])
    said = {
        0: FailureDomains("us", block),
        1: FailureDomains("us"),
        2: FailureDomains("", block),
        3: FailureDomains(is_young=True),
        5: FailureDomains("them", frozenset([b"xyz"])),
        6: FailureDomains("them"),
        7: FailureDomains("", frozenset([b"xyz"])),
    }
    assert chosen(said) == [4, 5, 8, 9, 10]


def test_members_of_one_machine_room_are_a_panel_where_the_strategy_declares_its_prefixes():
    """Such prefixes have no block, as for owners."""
    assert chosen({n: FailureDomains() for n in range(12)}) == [1, 2, 3, 4, 5]


def has(*families: Family) -> FailureDomains:
    return FailureDomains(families=frozenset(families))


def test_each_family_has_a_panel_of_those_that_reach_its_sites():
    said = {n: has(*((4,), (4, 6), (6,))[n % 3]) for n in range(12)}
    assert all_chosen(said) == [[1, 3, 4, 6, 7], [1, 2, 4, 5, 7]]


def test_where_all_have_both_families_or_one_there_is_one_panel():
    assert all_chosen({n: has(4, 6) for n in range(12)}) == [[1, 2, 3, 4, 5]]
    assert all_chosen({n: has(6) for n in range(12)}) == [[1, 2, 3, 4, 5]]


def test_a_family_that_too_few_have_has_no_panel():
    rare = {n: has(4) for n in range(12)} | {3: has(4, 6), 9: has(6)}
    assert all_chosen(rare) == [[1, 2, 3, 4, 5]]
    assert all_chosen(rare | {11: has(6)}) == [[1, 2, 3, 4, 5], [3, 9, 11]]
