"""Reads a change of the strategy as a publisher types it into a form, or as answers to questions.

Pure: values in, values out; raises BadStrategy naming what was typed.
"""

from collections.abc import Mapping

from dht import BadStrategy, Strategy
from node.strategy.draft import NOT_SET, DraftRequest, host_rule, parse_setting
from node.views.strategy import INSTANTS

RULES = ("deny", "delay", "spread", "only", "never")  # of one text each, as the options of `strategy draft`
FIELDS = (*RULES, "drop", "crawled", "crawler", "block", "unblock", "gone", "field", "value")
ID_DIGITS = 40
MAX_TYPED_NUMBER = 4  # digits of a rule's number


def typed_change(given: Mapping[str, str], newest: Strategy, members: Mapping[str, str]) -> DraftRequest:
    """Return the changes that somebody typed, by FIELDS. `members`: the names of the present ones, by id."""
    typed = {name: given.get(name, "").strip() for name in FIELDS}
    rules = [host_rule(name, typed[name]) for name in RULES if typed[name]]
    if typed["crawled"] or typed["crawler"]:
        rules.append(host_rule("prefer", f"{typed['crawled']}={_node(typed['crawler'], members)}"))
    found = DraftRequest(
        fields=_setting(typed["field"], typed["value"], newest),
        rules=rules,
        drop_rules=[_number(typed["drop"])] if typed["drop"] else [],
        block=[_node(typed["block"], members)] if typed["block"] else [],
        unblock=[typed["unblock"].lower()] if typed["unblock"] else [],
        gone=[_node(typed["gone"], members)] if typed["gone"] else [],
    )
    if found == DraftRequest({}, [], [], [], [], []):
        raise BadStrategy("change", "changes nothing", "say what it shall be")
    return found


def open_fields(strategy: Strategy) -> list[tuple[str, object]]:
    """Return the fields that are set by one value, with their values now."""
    names = [name for name in Strategy.__struct_fields__ if name not in NOT_SET.keys() | INSTANTS]
    values = [(name, getattr(strategy, name)) for name in names]
    return [(name, value) for name, value in values if isinstance(value, bool | int | float | str)]


def _node(text: str, members: Mapping[str, str]) -> str:
    """Return the id of the node that is meant: by its 40 digits, or the name or first digits of one member alone."""
    if len(text) == ID_DIGITS:
        return text.lower()
    name = text.casefold()
    found = [node for node, its in members.items() if name and (its.casefold() == name or node.startswith(name))]
    if len(found) != 1:
        reason = f"{text[:80]!r} is the name of {len(found) or 'no'} member{'s' * (len(found) > 1)}"
        raise BadStrategy("node", reason, "write its 40 digits, as `peers --json` and the network page show them")
    return found[0]


def _number(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= MAX_TYPED_NUMBER):
        raise BadStrategy("drop", f"{text[:40]!r} is not a rule's number", "`strategy show` numbers the rules")
    return int(text)


def _setting(name: str, typed: str, newest: Strategy) -> Mapping[str, object]:
    if not name:
        return {}
    if isinstance(getattr(newest, name, None), str) and name not in NOT_SET:
        return {name: typed}
    if not typed:
        raise BadStrategy(name, "is left empty", "type its new value")
    return dict([parse_setting(f"{name}={typed}")])
