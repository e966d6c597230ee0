"""Chooses who introduces this node, which is behind a NAT, to those who want to reach it.

Pure: values in, values out. Introducers are members that anybody reaches. Those chosen before stay while they can, so
that what others heard of them stays true; new ones are those nearest to the node's own id, which spreads the work.
"""

from collections.abc import Collection, Sequence

from dht.keys import NodeId, distance
from dht.wire.heartbeat import MOST_INTRODUCERS


def choose_introducers(me: NodeId, kept: Sequence[NodeId], able: Collection[NodeId]) -> tuple[NodeId, ...]:
    """Return up to MOST_INTRODUCERS of the members that are able to introduce this node, those of `kept` first."""
    stay = [peer for peer in kept if peer in able]
    others = sorted(set(able) - set(stay), key=lambda peer: distance(peer, me))
    return tuple([*stay, *others][:MOST_INTRODUCERS])
