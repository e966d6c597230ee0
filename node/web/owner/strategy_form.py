"""Reads what a publisher typed into the strategy's form, and writes fields and lines as the page shows them.

Pure: values in, values out; raises BadStrategy naming what was typed.
"""

from collections.abc import Iterable, Sequence

from dht import BadStrategy, Strategy
from node.api.peers import Peer
from node.strategy.draft import NOT_SET, DraftRequest, host_rule, parse_setting
from node.views.safe_text import plain
from node.views.strategy import INSTANTS
from node.web.requests.parameters import Values

ID_DIGITS = 40
MAX_LINES, LINE_CHARS = 60, 200  # with the longest escapes the page stays below 100 kB


def wished(values: Values, newest: Strategy, peers: Sequence[Peer]) -> DraftRequest:
    """Return the changes that a form asks for."""
    typed = {name: values.text(name).strip() for name in ("deny", "crawled", "crawler", "block", "unblock", "field")}
    rules = [host_rule("deny", typed["deny"])] if typed["deny"] else []
    if typed["crawled"] or typed["crawler"]:
        rules.append(host_rule("prefer", f"{typed['crawled']}={node_named(typed['crawler'], peers)}"))
    found = DraftRequest(
        fields=_field(typed["field"], values.text("value").strip(), newest),
        rules=rules,
        drop_rules=[values.count("drop")] if values.count("drop") else [],
        block=[node_named(typed["block"], peers)] if typed["block"] else [],
        unblock=[typed["unblock"].lower()] if typed["unblock"] else [],
    )
    if found == DraftRequest({}, [], [], [], []):
        raise BadStrategy("form", "changes nothing", "fill in one of its fields")
    return found


def node_named(text: str, peers: Sequence[Peer]) -> str:
    """Return the id of the node that is meant: by its 40 digits, or the name or first digits of one member alone."""
    text = text.strip()
    if len(text) == ID_DIGITS:
        return text.lower()
    name = text.casefold()
    found = {peer.node_id for peer in peers if name and (peer.name.casefold() == name or peer.node_id.startswith(name))}
    if len(found) != 1:
        reason = f"{text[:80]!r} is the name of {len(found) or 'no'} member{'s' * (len(found) > 1)}"
        raise BadStrategy("node", reason, "write its 40 digits, as the network page shows them")
    return found.pop()


def open_fields(strategy: Strategy) -> list[tuple[str, object]]:
    """Return the fields that the form can set, with their values now."""
    names = [name for name in Strategy.__struct_fields__ if name not in NOT_SET.keys() | INSTANTS]
    values = [(name, getattr(strategy, name)) for name in names]
    return [(name, value) for name, value in values if isinstance(value, bool | int | float | str)]


def shown(lines: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return lines as a page has room for them."""
    found = [(plain(name, LINE_CHARS), plain(text, LINE_CHARS)) for name, text in lines]
    rest = len(found) - MAX_LINES
    return [*found[:MAX_LINES], ("", f"and {rest} more")] if rest > 0 else found


def told(error: BadStrategy) -> str:
    """Write why a draft cannot be; options of the command line are fields of the form here."""
    return str(error).removeprefix("--")


def _field(name: str, typed: str, newest: Strategy) -> dict[str, object]:
    if not name:
        return {}
    if isinstance(getattr(newest, name, None), str) and name not in NOT_SET:
        return {name: typed}
    if not typed:
        raise BadStrategy(name, "is left empty", "type its new value")
    return dict([parse_setting(f"{name}={typed}")])
