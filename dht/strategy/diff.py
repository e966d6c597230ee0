"""Compares two versions of the strategy, field by field and rule by rule.

Pure: values in, values out. Rules are ordered, so they are compared as lines of a text are: kept, removed, added.
"""

from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

import msgspec

from dht.strategy.document import Rule, Strategy

PLACE = frozenset({"version", "previous"})  # what differs in every version, and says nothing
APART = PLACE | {"rules"}


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field that differs, with its value before and after: numbers, texts or lists of texts."""

    field: str
    before: object
    after: object


@dataclass(frozen=True, slots=True)
class RuleChange:
    """A rule that came or went. `number` counts from 1: in the old order where it went, in the new where it came."""

    kind: Literal["added", "removed"]
    number: int
    rule: Rule


@dataclass(frozen=True, slots=True)
class Difference:
    """All that differs between two versions; false where both say the same."""

    fields: tuple[FieldChange, ...]
    rules: tuple[RuleChange, ...]

    def __bool__(self) -> bool:
        return bool(self.fields or self.rules)


def difference(before: Strategy, after: Strategy) -> Difference:
    """Compare two versions: fields in the document's order, then rules, at each place removed ones before added
    ones."""
    names = [name for name in Strategy.__struct_fields__ if name not in APART]
    pairs = [(name, getattr(before, name), getattr(after, name)) for name in names]
    fields = tuple(FieldChange(*(msgspec.to_builtins(p) for p in pair)) for pair in pairs if pair[1] != pair[2])
    return Difference(fields, tuple(_rules(before.rules, after.rules)))


def _rules(before: tuple[Rule, ...], after: tuple[Rule, ...]) -> list[RuleChange]:
    """Compared by their encodings: a rule is no longer than a line, and equal rules encode alike."""
    old, new = ([msgspec.json.encode(rule) for rule in rules] for rules in (before, after))
    changes: list[RuleChange] = []
    for what, i, i_end, j, j_end in SequenceMatcher(None, old, new, False).get_opcodes():
        if what == "equal":
            continue
        changes += [RuleChange("removed", n + 1, before[n]) for n in range(i, i_end)]
        changes += [RuleChange("added", n + 1, after[n]) for n in range(j, j_end)]
    return changes
