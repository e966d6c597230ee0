"""Judges which members are silent: whether that needs the owner, and in one sentence who they are and what helps.

Pure: the answer of /api/v1/status in, a value out. In networks of up to 16 members each silent server needs the owner.
In larger ones each server of the owner's own does, and so does a quarter of the servers nearby. In both, so do half of
the other members that fell silent within the same minute, and so does silence of all. Members that said farewell are
merely away, and so are laptops for a day.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
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
    """Says of the silent members how bad that is, names them with a remedy, and lists whose silence needs the owner.
    `after`: what to say of these once they answer."""

    state: Literal["fine", "near", "trouble"]
    text: str = ""
    about: tuple[str, ...] = ()
    after: str = ""


@dataclass(frozen=True, slots=True)
class SilenceWaits:
    """Says after how many seconds of silence a server, or half of all, need the owner, and after how many a laptop."""

    server_s: float
    laptop_s: float


SHOWN = SilenceWaits(0.0, inf)  # on pages: at once, and laptops as away


def silence_of(status: Json, waits: SilenceWaits = SHOWN) -> Silence:
    """Judge the members that a status calls silent."""
    silent = tables(status, "silent")[:MAX_NAMED]
    if not silent:
        return Silence("fine")
    lost = [each for each in silent if each.get("farewell") is not True]
    others = count(status, "members") - (0 if status.get("role") == "client" else 1)
    is_alone = bool(lost) and not count(table(status, "peers"), "live")
    together = lost if is_alone else _fell_together(lost, others)
    needed = [each for each in lost if _needs_owner(each, status, waits, is_cut=each in together)]
    away = [each for each in silent if each not in needed]
    sentences = [_lost(needed, others, is_alone=is_alone, is_cut=bool(together))] if needed else []
    sentences += [f"away: {_names(away)}"] if away else []
    about = tuple(plain(each.get("node_id", ""), ID_CHARS) for each in needed)
    after = _back(needed) if needed else ""
    return Silence("trouble" if needed else "near", "; ".join(sentences), about, after)


def _needs_owner(each: Json, status: Json, waits: SilenceWaits, *, is_cut: bool) -> bool:
    silent_s, is_own = number(each, "silent_s"), each.get("own") is True
    if is_cut or (each.get("stable") is True and (is_own or _matters(status))):
        return silent_s >= waits.server_s
    is_laptop = each.get("stable") is not True
    return is_laptop and (is_own or count(status, "members") <= FEW_MEMBERS) and silent_s >= waits.laptop_s


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
        work = f"; {found}" if (found := _work(needed, "crawl", "have")) else ""
        return f"{_name(each)} has not answered for {for_s}{work}: {look} {plain(each.get('node_id', ''), 40)}`"
    for_s = span(max(number(each, "silent_s") for each in needed))
    who = f"{len(needed):,} of {others:,} other members have not answered for up to {for_s}"
    if is_alone:
        return f"no other member answers: look at this machine's network and firewall; {_names(needed)}"
    if is_cut:
        return f"{who}, half or more at once: look at the network between them and this node first; {_names(needed)}"
    return f"{who}: look whether they run; `dse-node peers` has their addresses; {_names(needed)}"


def _back(needed: Sequence[Json]) -> str:
    """Say for how long members did not answer, and what became of their work meanwhile."""
    for_s = span(max(number(each, "silent_s") for each in needed))
    who = f"{_name(needed[0])} was" if len(needed) == 1 else f"{len(needed):,} members were"
    names = f"; {_names(needed)}" if len(needed) > 1 else ""
    work = f": {found}" if (found := _work(needed, "crawled", "had")) else ""
    return f"{who} silent for {for_s}, but no longer{work}{names}"


def _work(needed: Sequence[Json], crawl: str, have: str) -> str:
    """Say how many of the slots that members crawled others took over, and how many copies there are of theirs."""
    crawled, taken = (sum(count(each, name) for each in needed) for name in ("crawled", "taken_over"))
    copies = [count(each, "copies") for each in needed if each.get("copies") is not None]
    whose = "its" if len(needed) == 1 else "their"
    words = [f"others {crawl} {taken:,} of {whose} {crawled:,} slots"] if crawled else []
    words += [f"{whose} slots {have} {min(copies):,} live copies or more"] if copies else []
    return ", ".join(words)


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
