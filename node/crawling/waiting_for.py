"""Names the silent members without which this node can crawl and keep nothing new.

Pure: a view in, words out.
"""

from crawl import span
from dht import View

NAMED, ID_CHARS = 3, 12


def waiting_reason(view: View) -> str:
    """Say why this node fetches nothing while too few members live; "" where enough do."""
    if not (silent := waiting_for(view)):
        return ""
    remedy = "where one will not come back, a publisher takes it out: `dse-node network gone`"
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
