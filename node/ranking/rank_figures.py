"""What a node says of its ranks, and why they have not converged.

Pure: values in, a sentence out.
"""

from dataclasses import dataclass
from math import inf

from index import CONVERGED
from node.ranking.rank_statements import REFUSED, RankStatements


@dataclass(frozen=True, slots=True)
class RankFigures:
    """The ranks of one node at one moment. `slots`, `sites`, `pages` and `links`: that it computes; `all_pages`: of the
    network, as far as it has heard. `distance`: by how much all ranks are wrong together at most, infinite where that
    is not proved; `why`: why they have not converged, "" where they have. `hosts`: of the network that have ranks, told
    of in so many slots, of which some claim more than they can give."""

    runs: bool = False
    slots: int = 0
    sites: int = 0
    pages: int = 0
    all_pages: int = 0
    links: int = 0
    left_out: int = 0
    distance: float = inf
    why: str = ""
    sent_bytes: int = 0
    hosts: int = 0
    host_slots: int = 0
    host_slots_refused: int = 0

    @property
    def has_converged(self) -> bool:
        """Whether the ranks are proved to be as near to the true ones as they have to be."""
        return self.runs and not self.why


def why_not(said: RankStatements, unread: int) -> str:
    """Say why the ranks of the network have not converged, "" where they have. `unread`: documents that this node has
    yet to read."""
    if unread:
        return f"{unread} documents or slots are still to be read here"
    if silent := said.silent:
        return f"nobody has said anything of {len(silent)} slots, as of slot {silent[0]}"
    if unheard := said.unheard:
        return f"what {len(unheard)} slots give was not taken everywhere, as of slot {unheard[0]}"
    if said.refused > REFUSED:
        return f"some give more than they can have, {said.refused:.2g} of all ranks: it does not count"
    if said.distance == inf:
        return "links change, or their effect is on its way: nothing is proved of this moment"
    return "" if said.distance <= CONVERGED else f"the ranks are being computed: {said.distance:.2g} may be wrong"
