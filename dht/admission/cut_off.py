"""A newcomer knows a network by names alone, so it asks which peers a single liar could have invented.

Pure: who names whom in, peers out. Where all chains of names from the starts to a peer pass through one node, that node
may have invented the peer and all that name it, however many these are. All others are reached by two chains that share
no node between (Menger 1927).
"""

from collections.abc import Collection, Mapping, Set

from dht.keys import NodeId


def cut_off_by_one(names: Mapping[NodeId, Collection[NodeId]], starts: Set[NodeId]) -> set[NodeId]:
    """Return the peers of `names` that one node cuts off from the starts, and those that no chain reaches. `names`:
    each peer, with the peers that it names."""
    safe = set(starts)
    while True:
        found = _two_chains_lead_to(names, safe)
        if not found:
            return names.keys() - safe
        safe |= found


def _two_chains_lead_to(names: Mapping[NodeId, Collection[NodeId]], safe: Set[NodeId]) -> set[NodeId]:
    """Return the peers where chains from two safe nodes meet first; no single node can cut off either safe node."""
    origin, queue, found = {each: each for each in safe}, list(safe), set[NodeId]()
    for namer in queue:
        for peer in names.get(namer, ()):
            if peer not in origin:
                origin[peer] = origin[namer]
                queue.append(peer)
            elif peer not in safe and origin[peer] != origin[namer]:
                found.add(peer)
    return found
