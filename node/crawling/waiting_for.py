"""Names the silent members without which this node can crawl and keep nothing new.

Pure: a view in, words out.
"""

from crawl import span
from dht import View

NAMED, ID_CHARS = 3, 12


def waiting_for(view: View) -> str:
    """Name the silent members that a node waits for, and for how long each has been silent; "" where it waits for
    none."""
    silent = view.waits_for()
    named = [f"{peer.hex()[:ID_CHARS]} (silent for {span(view.silent_s(peer) or 0.0)})" for peer in silent[:NAMED]]
    more = [f"{len(silent) - NAMED:,} more"] if len(silent) > NAMED else []
    return ", ".join([*named, *more])
