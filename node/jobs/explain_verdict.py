"""Gives one answer out of all that is known of a URL: would it be fetched, when, and why not?

Pure: facts in, two texts out.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from crawl import MOVED_BY, RobotsAccess, UrlStage, UrlStatus, Visit, VisitState, span
from dht import counted
from node.api.crawl import Verdict

SOME_S = 1.0  # a rest shorter than this is not worth a word
LONG_S = 60.0  # a longer one is why nothing happens


@dataclass(frozen=True, slots=True)
class Facts:
    """All that is known of a URL.

    `denied`: the rule or guard that stands against the URL. `holder`: the node that holds the lease of its slot, ""
    where nobody does; `asked`: whether it answered; `status`: its answer. `is_refused`: whether its own operator
    refuses the URL. `refused_here`: the entry of this node's own operator that covers the URL, "" where none does.
    `fetcher`: the node that makes the request, "" where nobody does or that is not known. `fetcher_why`: why it does,
    or why nobody does. `address`: the rule that denies its host's addresses, "" where none does.
    """

    denied: str
    visit: Visit | None
    holder: str
    asked: bool
    status: UrlStatus
    is_refused: bool
    refused_here: str = ""
    fetcher: str = ""
    fetcher_why: str = ""
    address: str = ""


def verdict(facts: Facts, now: float) -> tuple[Verdict, str]:
    """Return ("yes" | "later" | "now" | "no" | "unknown", why). `now`: Unix seconds.

    "no": something refuses the URL. "unknown": nothing refuses it, and nobody has found it or handed it in."""
    status, visit = facts.status, facts.visit
    if facts.denied:
        return "no", f"{facts.denied} denies it" if facts.denied.startswith("rule") else facts.denied
    if facts.address:
        return "no", facts.address
    if status.position.stage == UrlStage.OPEN:
        return "now", f"{facts.holder} is fetching it"
    if status.robots == RobotsAccess.DISALLOWED:
        return "no", "the site's robots.txt forbids it"
    if status.trap and (visit is None or not visit.history.seen_at):
        return "no", status.trap
    if visit is None and facts.refused_here:
        return "no", f"refused by this node's {facts.refused_here}; another node takes it"
    if visit is None:
        return (
            "unknown",
            "not queued: add it with `dse-node crawl`, or wait until a crawled page links to it",
        )
    if visit.due_at > now:
        return "later", f"{_past(visit, now)}; due again in {span(visit.due_at - now)}"
    return _due(facts)


def _due(facts: Facts) -> tuple[Verdict, str]:
    """Judge a URL whose time has come."""
    status = facts.status
    if not facts.holder:
        return "later", "due, but no node holds the lease of its slot at present"
    if not facts.asked:
        return "yes", f"due; {facts.holder} holds the lease of its slot, but did not answer"
    if status.pause_reason:
        return "later", f"due, but {facts.holder} does not crawl: {status.pause_reason}"
    if status.breaker_reason:
        wait = span(status.position.site_rest_s)
        return "later", f"due, but its host fails and is retried occasionally, next in {wait}: {status.breaker_reason}"
    if status.robots == RobotsAccess.BARRED:
        return "later", f"due, but the site's robots.txt could not be read: {status.robots_why}"
    if status.position.site_rest_s > LONG_S:
        wait = span(status.position.site_rest_s)
        return (
            "later",
            f"{_so_far(facts)}due, but its host rests {wait} more: by its Crawl-delay, Retry-After or errors",
        )
    if facts.fetcher_why and not facts.fetcher:
        return "later", f"due, but {facts.fetcher_why}"
    return "yes", ", ".join([f"due, {_whom(facts)}", *_waits(status)])


def _whom(facts: Facts) -> str:
    """Say which node makes the request."""
    if facts.fetcher_why and facts.fetcher != facts.holder:
        return f"by {facts.fetcher}, ordered by {facts.holder}, since {facts.fetcher_why}"
    if facts.is_refused:
        return f"by another owner, ordered by {facts.holder}, whose operator refuses it"
    return f"by {facts.holder}" + (f", since {facts.fetcher_why}" if facts.fetcher_why else "")


def _so_far(facts: Facts) -> str:
    """Say what became of the last attempt, where that came to nothing."""
    visit = facts.visit
    return f"{visit.reason}; " if visit is not None and visit.state == VisitState.FAILED and visit.reason else ""


def _waits(status: UrlStatus) -> Iterator[str]:
    queued = status.position
    if queued.stage == UrlStage.UNKNOWN:
        yield "which has not read it from its store yet"
    if status.robots == RobotsAccess.UNKNOWN:
        yield "after the site's robots.txt"
    if queued.is_site_open:
        yield "after the request to its host that is under way"
    elif queued.site_rest_s >= SOME_S:
        yield f"its host may be asked again in {span(queued.site_rest_s)}"
    if queued.ahead:
        yield f"after {counted(queued.ahead, 'URL')} of its host"


def _past(visit: Visit, now: float) -> str:
    ago = f"{span(max(0.0, now - visit.visited_at))} ago"
    because = f": {visit.reason}" if visit.reason else ""
    match visit.state:
        case VisitState.REDIRECT if visit.reason.startswith(MOVED_BY):
            return f"{visit.reason} to {visit.target} {ago}"
        case VisitState.REDIRECT:
            return f"redirected to {visit.target} {ago}{because}"
        case VisitState.FAILED:
            times = "once" if visit.fails == 1 else f"{visit.fails} times"
            return f"failed {times}, last {ago}{because}"
        case _:
            return f"{visit.state.name.lower()} {ago}{because}"


def changes(text: str, url: str) -> Iterator[str]:
    """Yield what makes the canonical form differ from what was given."""
    if text == url:
        return
    before, after = urlsplit(text), urlsplit(url)
    if "#" in text:
        yield "the fragment is dropped"
    if before.username is not None:
        yield "the user name is dropped"
    if before.netloc.rpartition("@")[2] != after.netloc:
        yield f"the host is written {after.netloc}"
    if before.path not in (after.path, "") or (not before.path and after.path != "/"):
        yield f"the path is written {after.path}"
    kept = after.query.split("&")
    if gone := [each.partition("=")[0] for each in before.query.split("&") if each and each not in kept]:
        yield f"without {', '.join(dict.fromkeys(gone))}, which name a click or a session"
