"""Says why the crawler rests: nothing is left to be fetched, too few members answer, or other owners crawl.

Pure: values and a view in, words and counts out.
"""

from dataclasses import dataclass

from crawl import CrawlStatus, span
from dht import View, counted

NAMED, ID_CHARS = 3, 12


def crawl_reason(crawl: CrawlStatus, owned: int, ready: int, is_current: bool, clock: str) -> str:
    """Say in one line why the crawler does what it does. `owned`, `ready`: slots of this node; `is_current`: whether
    the frontier knows all that the store does; `clock`: how this machine's clock differs, "" where it does not."""
    if crawl.state != "idle":
        return crawl.reason
    if not is_current:
        return "still reading the known URLs from the store"
    if crawl.slots:
        return crawl.reason
    if clock:
        return f"holds no lease; {clock}"
    if not owned:
        return "this node owns no slot of the network"
    if not ready:
        return f"this node's {counted(owned, 'slot')} not ready yet: still being compared with other owners"
    return f"other nodes are crawling this node's {counted(owned, 'slot')}, or will soon"


def waiting_reason(view: View) -> str:
    """Say why this node fetches nothing while too few members live; "" where enough do."""
    if not (silent := waiting_for(view)):
        return ""
    remedy = "`dse-node network begin` continues without them; `network gone` removes one that will not return"
    return f"waits for {silent}: too few members answer to keep new pages safely; {remedy}"


def waiting_for(view: View) -> str:
    """Name the silent members that a node waits for, and for how long each has been silent; "" where it waits for
    none."""
    silent = view.votes.waits_for()
    named = [
        f"{peer.hex()[:ID_CHARS]} (silent for {span(view.peers.silent_s(peer) or 0.0)})" for peer in silent[:NAMED]
    ]
    more = [f"{len(silent) - NAMED:,} more"] if len(silent) > NAMED else []
    return ", ".join([*named, *more])


@dataclass(frozen=True, slots=True)
class WorkLeft:
    """Counts what is left to be fetched in the network. While anything is, nothing is settled.

    `due`: URLs that are due here and at live peers; `unheld`: own slots that nobody crawls just now."""

    due: int
    unheld: int

    @property
    def is_none(self) -> bool:
        """Whether the crawl of this moment is over."""
        return not (self.due or self.unheld)


def work_left(view: View, due_here: int) -> WorkLeft:
    """Return what is left, by the newest heartbeats of live peers and what is due at this node.

    The holder of a slot's lease announces how much is due there. Of a slot that nobody holds, as after its holder's
    death, nobody says anything."""
    due, held = sum(view.peers.due(peer) for peer in view.live() if peer != view.node_id), view.leases()
    return WorkLeft(due_here + due, sum(slot not in held and not view.announced(slot) for slot in view.owned()))
