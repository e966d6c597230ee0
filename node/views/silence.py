"""Judges which members are silent: whether that needs the owner, and in one sentence who they are and what helps.

Pure: the answer of /api/v1/status in, a value out. The rule: in networks of up to 16 members each silent server needs
the owner, in larger ones a quarter of the servers nearby. In both, so do half of the other members that fell silent
within the same minute, and so does silence of all. Members that said farewell, and laptops, are merely away.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from crawl import span
from node.views.lenient_json import Json, count, number, table, tables
from node.views.peers import endpoint_text
from node.views.safe_text import plain

FEW_MEMBERS = 16  # in so small a network each server matters
LARGE_SHARE = 1 / 4  # of the servers nearby: more than fail by themselves at the same time
TOGETHER_S = 60.0  # members that fell silent within so long were cut off or lost by one cause
MAX_NAMED = 16  # in the status
WITH_ADDRESS = 3  # as many are named with their addresses, more of them by their ids alone
ID_CHARS, OPERATOR_CHARS = 12, 24


@dataclass(frozen=True, slots=True)
class Silence:
    """Says of the silent members how bad that is, names them with a remedy, and lists whose silence needs the owner."""

    state: Literal["fine", "near", "trouble"]
    text: str = ""
    about: tuple[str, ...] = ()


def silence_of(status: Json) -> Silence:
    """Judge the members that a status calls silent."""
    silent = tables(status, "silent")[:MAX_NAMED]
    if not silent:
        return Silence("fine")
    lost = [each for each in silent if each.get("farewell") is not True]
    others = count(status, "members") - (0 if status.get("role") == "client" else 1)
    is_alone = bool(lost) and not count(table(status, "peers"), "live")
    together = lost if is_alone else _fell_together(lost, others)
    servers = [each for each in lost if each.get("stable") is True] if _matters(status) else []
    needed = [each for each in lost if each in together or each in servers]
    away = [each for each in silent if each not in needed]
    sentences = [_lost(needed, others, is_alone=is_alone, is_cut=bool(together))] if needed else []
    sentences += [f"away: {_names(away)}"] if away else []
    about = tuple(plain(each.get("node_id", ""), ID_CHARS) for each in needed)
    return Silence("trouble" if needed else "near", "; ".join(sentences), about)


def _matters(status: Json) -> bool:
    """Tell whether so many servers are silent that the owner should know."""
    peers = table(status, "peers")
    gone = count(peers, "silent_servers")
    return gone > 0 and (count(status, "members") <= FEW_MEMBERS or gone >= LARGE_SHARE * count(peers, "servers"))


def _fell_together(lost: Sequence[Json], others: int) -> list[Json]:
    """Return the members that fell silent within the same minute, where they are two and half of all others at least;
    the longest silent come first."""
    for first in lost:
        group = [each for each in lost if 0 <= number(first, "silent_s") - number(each, "silent_s") <= TOGETHER_S]
        if len(group) >= 2 and 2 * len(group) >= others:
            return group
    return []


def _lost(needed: Sequence[Json], others: int, *, is_alone: bool, is_cut: bool) -> str:
    """Say who does not answer and what helps."""
    if len(needed) == 1 and not is_alone:
        (each,) = needed
        look = "look whether it runs; if it will not come back, a publisher takes it out: `dse-node network gone"
        for_s = span(number(each, "silent_s"))
        return f"{_name(each)} has not answered for {for_s}: {look} {plain(each.get('node_id', ''), 40)}`"
    for_s = span(max(number(each, "silent_s") for each in needed))
    who = f"{len(needed):,} of {others:,} other members have not answered for up to {for_s}"
    if is_alone:
        return f"no other member answers: look at this machine's network and firewall; {_names(needed)}"
    if is_cut:
        return f"{who}, half or more at once: look at the network between them and this node first; {_names(needed)}"
    return f"{who}: look whether they run; `dse-node peers` has their addresses; {_names(needed)}"


def _names(members: Sequence[Json]) -> str:
    if len(members) > WITH_ADDRESS:
        return ", ".join(plain(each.get("node_id", ""), ID_CHARS) for each in members)
    return ", ".join(f"{_name(each)} for {span(number(each, 'silent_s'))}{_how(each)}" for each in members)


def _name(each: Json) -> str:
    """Name a member by its operator, the beginning of its id and its address, as far as they are known."""
    operator, where = plain(each.get("operator", ""), OPERATOR_CHARS), endpoint_text(each.get("endpoint") or "")
    node_id = plain(each.get("node_id", ""), ID_CHARS)
    place = f"{node_id} at {where}" if where else node_id
    return f"{operator} ({place})" if operator else place


def _how(each: Json) -> str:
    return ", after a farewell" if each.get("farewell") is True else ""
