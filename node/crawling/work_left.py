"""What is left to be fetched in the network, as far as this node hears: while anything is, nothing is settled.

Pure but for the view that it is given. Whoever holds a slot's lease announces how much is due there. Of a slot that
nobody holds, as after its holder's death, nobody says anything.
"""

from dataclasses import dataclass

from dht import View


@dataclass(frozen=True, slots=True)
class WorkLeft:
    """`due`: URLs that are due here and at live peers; `unheld`: own slots that nobody crawls just now."""

    due: int
    unheld: int

    @property
    def is_none(self) -> bool:
        """Whether the crawl of this moment is over."""
        return not (self.due or self.unheld)


def work_left(view: View, due_here: int) -> WorkLeft:
    """Return what is left, by the newest heartbeats of live peers and what is due at this node."""
    due, held = sum(view.peers.due(peer) for peer in view.live() if peer != view.node_id), view.leases()
    return WorkLeft(due_here + due, sum(slot not in held and not view.announced(slot) for slot in view.owned()))
