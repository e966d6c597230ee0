"""The panel of a slot: who may be a witness there."""

from collections.abc import Mapping

from dht import FailureDomains, NodeId
from node.witness.panel import PANEL, panel

MEMBERS = [NodeId(bytes([n]) * 20) for n in range(12)]
AUTHOR = MEMBERS[0]


def chosen(said: Mapping[int, FailureDomains]) -> list[int]:
    alone = {n: FailureDomains(blocks=frozenset([bytes([9, 9, n])])) for n in range(12)}
    found = panel(MEMBERS, AUTHOR, lambda peer: (alone | said)[peer[0]])
    return [peer[0] for peer in found]


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
