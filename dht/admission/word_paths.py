"""Word paths tell to whom the words of some nodes lead by so many ways that no few liars can have made that up.

Pure: who names whom in, peers out. A node names whom it has reached, and those name others. Where all ways from the
roots to a peer pass through two nodes, these two may have made up it and all that name it, however many that are. So a
peer stays whom three ways reach that share no node (Menger 1927: no two nodes cut it off). Whom so many reach counts as
a beginning of ways for those behind it, since no two nodes cut these off either.
"""

from collections.abc import Collection, Mapping
from itertools import pairwise

from dht.keys import NodeId

Place = tuple[NodeId, bool]  # a node, and whether a way has entered it only or goes on from it, too


class WordPaths:
    """Judges one set of peers. `named_by`: who names each; `roots`: where ways begin, and whether each is believed
    alone: then whom it names is reached, and all ways may begin there, else one fewer than are wanted. One may begin at
    `own`."""

    def __init__(
        self, named_by: Mapping[NodeId, Collection[NodeId]], roots: Mapping[NodeId, bool], own: NodeId | None = None
    ) -> None:
        self._named_by, self._roots = named_by, roots
        self._reached, self._failed = {*roots, *([own] if own is not None else [])}, set[NodeId]()

    def count(self, peer: NodeId, enough: int) -> int:
        """Return how many ways lead to a peer, as many as are enough at most."""
        return self._ways(peer, enough)[0]

    def unreached(self, wanted: Mapping[NodeId, int]) -> list[NodeId]:
        """Return those peers to whom fewer ways lead than are wanted; to whom few lead has no word for others."""
        for peer, ways in sorted(wanted.items()):
            if peer in self._reached or peer in self._failed:
                continue
            if any(self._roots.get(each) for each in self._named_by[peer]):
                self._reached.add(peer)
                continue
            found, behind = self._ways(peer, ways)
            if found >= ways:
                self._reached.add(peer)
            else:
                self._failed |= {each for each in behind if wanted.get(each, 0) > found}
        return [peer for peer in wanted if peer in self._failed]

    def _ways(self, peer: NodeId, wanted: int) -> tuple[int, set[NodeId]]:
        """How many ways lead to a peer, as many as wanted at most; and, where fewer do, who is cut off with it."""
        begun: dict[Place, set[Place]] = {}  # from where ways come to each place; they are searched for from their ends
        for found in range(wanted):
            seen: dict[Place, Place | None] = {(peer, True): None}
            last = self._search(seen, begun, wanted)
            if last is None:
                return found, {node for node, goes_on in seen if goes_on}
            way = [last]
            while (before := seen[way[-1]]) is not None:
                way.append(before)
            for there, here in pairwise(way):
                if there in begun.get(here, ()):
                    begun[here].discard(there)
                else:
                    begun.setdefault(there, set()).add(here)
        return wanted, set()

    def _search(self, seen: dict[Place, Place | None], begun: dict[Place, set[Place]], wanted: int) -> Place | None:
        """Find one way more, breadth first, by edges that are free or that another way gives up; its last place."""
        queue = list(seen)
        for here in queue:
            node, goes_on = here
            if not goes_on and node in self._reached:
                if len(begun.get(here, ())) < self._capacity(node, wanted):
                    return here
                ahead: list[Place] = []
            elif goes_on:
                ahead = [(each, False) for each in self._named_by.get(node, ()) if each not in self._failed]
            else:
                ahead = [(node, True)]
            free = [there for there in ahead if here not in begun.get(there, ())]
            for there in (*free, *begun.get(here, ())):
                if there not in seen:
                    seen[there] = here
                    queue.append(there)
        return None

    def _capacity(self, node: NodeId, wanted: int) -> int:
        if node not in self._roots:
            return 1
        return wanted if self._roots[node] else max(1, wanted - 1)
