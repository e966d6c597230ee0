"""Lists the sites whose URLs wait, and says of each what it waits for, for the owner of the node.

Pure: what the crawler consists of in, values out. Sites that need attention come first. A page of the list is found
by group and name, so that it stays cheap however many sites there are.
"""

from dataclasses import dataclass
from enum import StrEnum
from heapq import nsmallest
from typing import Literal

from crawl.frontier.fetch_task import RobotsAccess, UrlStatus
from crawl.frontier.frontier import Frontier
from crawl.frontier.site_queues import SiteQueues
from crawl.pipeline.site_knowledge import SiteKnowledge
from dht import Now, split_url


class SiteWait(StrEnum):
    """The reason why a site has to wait for its next request."""

    HELD = "held"  # its owner has paused it here
    REFUSED = "refused"  # this node fetches it for nobody
    OPEN = "open"  # nothing: it is being asked
    PAUSED = "paused"  # the whole node fetches nothing
    BROKEN = "broken"  # it does not answer
    ROBOTS = "robots"  # its robots.txt cannot be read
    REST = "rest"  # it was asked a moment ago
    TURN = "turn"  # other sites come first
    LATER = "later"  # all its URLs are due later


@dataclass(frozen=True, slots=True)
class WaitingSite:
    """Describes one site with URLs that wait.

    `waiting`, `ready`: how many URLs wait, and how many of these are due.
    `why`: the reason why the next one waits.
    `wait_s`: seconds until then, where that is known.
    `detail`: more about the reason, in words.
    `url`: one of those that wait."""

    site: str
    host: str
    waiting: int
    ready: int
    why: SiteWait
    wait_s: float = 0.0
    detail: str = ""
    url: str = ""


SiteGroup = Literal["", "failing", "paused", "due"]  # sites that do not answer, are held, have URLs due; "": all
_GROUPS: tuple[SiteGroup, ...] = ("failing", "paused", "due", "")  # in the order of the list


@dataclass(frozen=True, slots=True)
class SiteWish:
    """Says which sites of the list are wanted: at most `most` of one group that begin so, from a place on."""

    beginning: str = ""
    group: SiteGroup = ""
    after: str = ""  # `next` of the page before
    most: int = 10


@dataclass(frozen=True, slots=True)
class SitePage:
    """Holds a part of the list. `matching`: sites that are as asked, `all`: sites at all; `next`: where the list goes
    on, "" at its end."""

    rows: tuple[WaitingSite, ...]
    matching: int
    all: int
    next: str = ""


def site_page(
    frontier: Frontier,
    queues: SiteQueues,
    knowledge: SiteKnowledge,
    wish: SiteWish,
    paused: str,
    now: Now,
) -> SitePage:
    """Return the sites that are wanted. `paused`: why the node fetches nothing, or ""."""
    counts = frontier.waiting_by_site
    failing = {*knowledge.delays.broken_sites(), *knowledge.robots.barred_sites()}

    def place(site: str) -> str:
        """Return what orders the sites: the group, then the name."""
        is_in = (site in failing, queues.is_held(site), queues.has_ready(site), True)
        return f"{is_in.index(True)}{site}"

    group = str(_GROUPS.index(wish.group)) if wish.group else ""
    places = [place(site) for site in counts if site.startswith(wish.beginning)]
    matching = [each for each in places if each.startswith(group)] if group else places
    shown = nsmallest(wish.most + 1, (each for each in matching if each > wish.after))
    sites = [each[1:] for each in shown[: wish.most]]
    first = frontier.first_due(frozenset(sites))
    rows = []
    for site in sites:
        (ready, url), visit = queues.ready_of(site), first.get(site)
        url = url or (visit.url if visit else f"http://{site}/")
        later_s = 0.0 if visit is None else visit.due_at - now.wall
        status = knowledge.inspect(url, queues.position(url, None, now.steady), paused)
        why, wait_s, detail = (SiteWait.HELD, 0.0, "") if queues.is_held(site) else _wait(status, ready, later_s)
        host = split_url(url).host
        rows.append(WaitingSite(site, host, counts[site], ready, why, max(0.0, wait_s), detail, url))
    return SitePage(tuple(rows), len(matching), len(counts), shown[-2] if len(shown) > wish.most else "")


def _wait(status: UrlStatus, ready: int, later_s: float) -> tuple[SiteWait, float, str]:
    """Return what a site waits for, for how long, and more words where there are any: the first thing that stands
    before its next request."""
    rest_s = status.position.site_rest_s
    if status.position.is_site_open:
        return SiteWait.OPEN, 0.0, ""
    if status.pause_reason:
        return SiteWait.PAUSED, 0.0, status.pause_reason
    if status.breaker_reason:
        return SiteWait.BROKEN, rest_s, status.breaker_reason
    if not ready:
        return SiteWait.LATER, later_s, ""
    if status.robots is RobotsAccess.BARRED:
        return SiteWait.ROBOTS, rest_s, status.robots_why
    if rest_s > 0:
        return SiteWait.REST, rest_s, ""
    return SiteWait.TURN, 0.0, ""
