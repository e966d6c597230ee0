"""A diff of two versions names every field that differs, and rules as lines."""

from hypothesis import given
from hypothesis import strategies as st

from dht import Rule, Strategy, difference
from dht.strategy.diff import PLACE

RULES = st.lists(st.sampled_from([Rule(action="deny", host=f"{name}.test") for name in "abcde"]), max_size=6)


def strategy(**fields: object) -> Strategy:
    given = {"version": 2, "effective_at": 1, "next_at": 2, "expires_at": 3, **fields}
    return Strategy(network="ab" * 20, **given)  # type: ignore[arg-type]


def test_fields_come_in_the_document_s_order_with_both_values():
    found = difference(strategy(replicas=3), strategy(version=3, previous="x", replicas=4, slot_bits=9))
    assert [(c.field, c.before, c.after) for c in found.fields] == [("replicas", 3, 4), ("slot_bits", 8, 9)]
    assert not found.rules
    assert not difference(strategy(), strategy(version=3, previous="x"))


def test_every_field_counts_but_the_place_in_the_chain():
    others = {
        str: "x",
        int: 7,
        float: 7.5,
        tuple: ("x",),
        bool: True,
    }
    for name in Strategy.__struct_fields__:
        value = getattr(strategy(), name)
        new = (Rule(),) if name == "rules" else others[type(value)]
        found = difference(strategy(), with_field(name, new))
        assert bool(found) == (name not in PLACE), name


def with_field(name: str, value: object) -> Strategy:
    fields = {field: getattr(strategy(), field) for field in Strategy.__struct_fields__}
    return Strategy(**fields | {name: value})


@given(RULES, RULES)
def test_rules_removed_and_added_turn_the_old_list_into_the_new(old: list[Rule], new: list[Rule]):
    found = difference(strategy(rules=tuple(old)), strategy(rules=tuple(new)))
    gone = {change.number for change in found.rules if change.kind == "removed"}
    result = [rule for number, rule in enumerate(old, start=1) if number not in gone]
    for change in found.rules:  # added ones come in the new order
        if change.kind == "added":
            result.insert(change.number - 1, change.rule)
        else:
            assert old[change.number - 1] == change.rule
    assert result == new
    assert bool(found) == (old != new)
