"""Judges by a node's status what needs its owner: what, how bad it is, and what helps.

Pure: the body of /api/v1/status in, one need for each topic out. `near` lies between: it neither begins nor ends what
the owner is told, so that a figure which wavers at a bound is told once (`events.py`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from crawl import span
from dht import counted
from node.api.status import NeedState
from node.views.evidence import beyond_line
from node.views.lenient_json import Json, count, number, table, tables, texts
from node.views.safe_text import plain
from node.views.silence import SHOWN, SilenceWaits, silence_of
from node.views.status import size

TOO_FEW_S = (
    1800.0  # a slot lacks copies: by then a keeper copies it (PATIENCE_S of copies_by_need.py), so who is away stays
)
NEARLY_FULL, ROOM_AGAIN = 0.9, 0.85  # of the quota; below the first a crawl goes on for a while
SOON_S = 7 * 86_400.0  # before a strategy's end, as the strategy itself warns
STILL_S = 300.0  # of work that is due and of which nothing gets done; half of it is near
ACCUSED_S = 86_400.0  # after peers found records missing here, as long as the node itself says so
RECENT_S = 3600.0  # after an author last went beyond its limits
MAX_TEXT = 500  # characters of what the owner is told
MAX_ACCUSED = 3  # authors named


@dataclass(frozen=True, slots=True)
class OwnerNeed:
    """Says of one topic whether its owner must look, and in one sentence why and what helps; "" where all is fine.

    `about` names the things in trouble, where they may be several: one more of them is news. `after` is told once it
    is over; "" for `text`."""

    topic: str
    state: NeedState
    text: str = ""
    about: tuple[str, ...] = ()
    after: str = ""


def needs_of(status: Json, told: Mapping[str, str], now: float) -> tuple[OwnerNeed, ...]:
    """Judge a status at `now` (Unix seconds). `told`: the node's own words on the topics of TOLD, "" where all is
    fine."""
    found = [(topic, *judge(status, now)) for topic, judge in _JUDGES.items()]
    found += [(topic, "trouble" if told.get(topic) else "fine", told.get(topic, "")) for topic in TOLD]
    return (
        member_need(status, SHOWN),
        *(OwnerNeed(topic, state, plain(text, MAX_TEXT), _about(topic, status)) for topic, state, text in found),
    )


def member_need(status: Json, waits: SilenceWaits) -> OwnerNeed:
    """Judge the members that do not answer, after so long."""
    found = silence_of(status, waits)
    return OwnerNeed("member", found.state, plain(found.text, MAX_TEXT), found.about, plain(found.after, MAX_TEXT))


_Judged = tuple[NeedState, str]
_FINE: _Judged = ("fine", "")


def _crawl(status: Json, now: float) -> _Judged:
    crawl = table(status, "crawl")
    still_s = number(crawl, "still_s")
    if still_s < STILL_S / 2:
        return _FINE
    unheld = count(crawl, "unheld")
    why = f"{counted(unheld, 'slot')} without a crawler" if unheld else plain(crawl.get("reason") or "")
    text = f"pages are due, and none was fetched for {span(still_s)}: {why}; `dse-node peers` shows who is away"
    return ("trouble" if still_s >= STILL_S else "near"), text


def _copies(status: Json, now: float) -> _Judged:
    copies = table(status, "copies")
    waits_s = number(copies, "oldest_s")
    if not waits_s:
        return _FINE
    few = f"{counted(count(status, 'under_replicated'), 'slot')} with too few live copies"
    text = (
        f"{few}, one for {waits_s / 60:,.0f} min; least {count(copies, 'least')}: see who is away with `dse-node peers`"
    )
    return ("trouble" if waits_s >= TOO_FEW_S else "near"), text


def _disk(status: Json, now: float) -> _Judged:
    disk = table(status, "disk")
    used, quota, refuses = number(disk, "used"), number(disk, "quota"), plain(disk.get("refuses") or "")
    if refuses:
        return "trouble", f"no record fits any more: {refuses}"
    if given_up := count(disk, "given_up"):
        lost = f"the disk was nearly full, so the node gave up copies of {counted(given_up, 'slot')} with new owners"
        return "trouble", f"{lost}: raise store.quota_bytes"
    share = used / quota if quota else 0.0
    if share < ROOM_AGAIN:
        return _FINE
    text = f"{size(used)} of {size(quota)} are used: raise store.quota_bytes, or the node will soon refuse new pages"
    return ("trouble" if share >= NEARLY_FULL else "near"), text


def _strategy(status: Json, now: float) -> _Judged:
    strategy = table(status, "strategy")
    version, ends_at = count(strategy, "version"), number(strategy, "expires_at")
    if not ends_at or count(strategy, "newest") > version or ends_at - now > SOON_S:
        return _FINE
    days = (ends_at - now) / 86_400
    when = f"ends in {days:,.1f} days" if days > 0 else f"ended {-days:,.1f} days ago and stays in force"
    return "trouble", f"strategy {version} {when}; no next version is known: its publishers must sign one"


def _audit(status: Json, now: float) -> _Judged:
    recent = [
        each for each in tables(table(status, "possession"), "accused_by") if abs(now - number(each, "at")) < ACCUSED_S
    ]
    if not recent:
        return _FINE
    records = max(count(each, "records") for each in recent)
    text = f"{counted(len(recent), 'peer')} found records missing here, up to {records:,}: check this disk"
    return "trouble", f"{text} with `dse-node store scrub`"


def _evidence(status: Json, now: float) -> _Judged:
    authors = tables(table(status, "second_looks"), "contradicted")
    if not authors:
        return _FINE
    named = ", ".join(plain(each.get("node_id", ""))[:40] for each in authors[:MAX_ACCUSED])
    text = f"pages by {named} differ from their sites on several domains: check them with `dse-node evidence`"
    return "trouble", f"{text}; a publisher blocks a node with `dse-node strategy draft --block NODEID`"


def _limits(status: Json, now: float) -> _Judged:
    """Authors that went beyond their limits here of late, and members that take no more of this node."""
    limits = table(status, "limits")
    authors, refused_by = table(limits, "authors"), tables(limits, "refused_by")
    recent = [each for each in authors if abs(now - number(table(authors, each), "at")) < RECENT_S]
    told = [
        f"{plain(each)[:40]} writes more than a crawler can: {beyond_line(table(authors, each))}" for each in recent
    ]
    if told:
        more = [f"{len(told) - MAX_ACCUSED} more authors do"] if len(told) > MAX_ACCUSED else []
        told = [*told[:MAX_ACCUSED], *more, "see `dse-node evidence --local`; a publisher may block it"]
    if by := [each for each in refused_by if abs(now - number(each, "at")) < RECENT_S]:
        told.append(f"{len(by)} members take no more of this node: {plain(by[-1].get('reason', ''))}")
    return ("trouble", "; ".join(told)) if told else _FINE


def _update(status: Json, now: float) -> _Judged:
    told = texts(table(status, "strategy"), "upgrade")
    return ("trouble", "; ".join(told)) if told else _FINE


def _machine(status: Json, now: float) -> _Judged:
    faults = tables(status, "faults")
    share = MAX_TEXT // max(1, len(faults)) - 3  # all are told, each as far as there is room
    told = ["; ".join(plain(each.get(part, "")) for part in ("cause", "remedy", "what_stops")) for each in faults]
    return ("trouble", " | ".join(each[:share] for each in told)) if told else _FINE


def _about(topic: str, status: Json) -> tuple[str, ...]:
    """Name what fails on this machine: one thing more is news, though others fail already."""
    is_machine = topic == "machine"
    return tuple(plain(each.get("site", ""), 32) for each in tables(status, "faults")) if is_machine else ()


_JUDGES: dict[str, Callable[[Json, float], _Judged]] = {
    "crawl": _crawl,
    "copies": _copies,
    "disk": _disk,
    "strategy": _strategy,
    "audit": _audit,
    "evidence": _evidence,
    "limits": _limits,
    "update": _update,
    "machine": _machine,
}
TOLD = ("clock", "heartbeat", "removal")  # topics of which the node itself says what is wrong
TOPICS = ("member", *_JUDGES, *TOLD)
