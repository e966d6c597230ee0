"""Which peers to ask so that every slot is answered once, by as few as possible.

Pure: the view and a random generator in, assignments out. This node's own slots go to itself: that costs nothing. The
rest is covered greedily, the peer first that covers most for the time that it takes; equal ones in an order drawn from
`rng`, to share the load.
A peer that is late with other answers covers only slots that nobody else can.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from types import MappingProxyType

from dht import NodeId, Slot

PATIENCE = 2.0  # levels of slowness for which a peer has to cover twice as many slots

Ready = Mapping[Slot, Sequence[NodeId]]


@dataclass(frozen=True, slots=True)
class ReplicaPlan:
    """Says who is asked for which slots (each once, ascending), and which slots nobody can answer."""

    parts: tuple[tuple[NodeId, tuple[Slot, ...]], ...]
    uncovered: tuple[Slot, ...]


def nobody_is_late(peer: NodeId) -> bool:
    """Return False."""
    return False


def all_alike(peer: NodeId) -> int:
    """Return 0."""
    return 0


def make_plan(
    ready: Ready,
    me: NodeId,
    rng: Random,
    avoid: Collection[NodeId] = (),
    tried: Mapping[NodeId, Collection[Slot]] = MappingProxyType({}),
    is_late: Callable[[NodeId], bool] = nobody_is_late,
    slowness: Callable[[NodeId], int] = all_alike,
) -> ReplicaPlan:
    """Cover the slots of `ready`; nobody of `avoid`, and for no slot whom `tried` names for it, is asked (again).
    `slowness`: in levels; `PATIENCE` says how much a slow one has to cover."""
    left, parts = set(ready), list[tuple[NodeId, tuple[Slot, ...]]]()
    if me not in avoid:
        mine = sorted({slot for slot, peers in ready.items() if me in peers}.difference(tried.get(me, ())))
        if mine:
            parts.append((me, tuple(mine)))
            left.difference_update(mine)
    can = _who_can(ready, left)
    for peer in (me, *avoid):
        can.pop(peer, None)
    for peer in can.keys() & tried.keys():
        can[peer].difference_update(tried[peer])
    every = sorted(frozenset[NodeId]().union(*ready.values()).difference(avoid))
    rng.shuffle(every)  # this node among them: what is drawn does not depend on what it can answer itself
    order = list(filter(can.get, every))
    late, worth = set(filter(is_late, order)), {peer: 2 ** (-slowness(peer) / PATIENCE) for peer in order}
    while order and left:
        chosen = max(order, key=lambda peer: (peer not in late, len(can[peer] & left) * worth[peer]))
        order.remove(chosen)
        if taken := can[chosen] & left:
            parts.append((chosen, tuple(sorted(taken))))
            left -= taken
    return ReplicaPlan(tuple(parts), tuple(sorted(left)))


def _who_can(ready: Ready, slots: Collection[Slot]) -> dict[NodeId, set[Slot]]:
    """Return of each peer which of some slots it is ready for."""
    found: defaultdict[NodeId, set[Slot]] = defaultdict(set)
    for slot in slots:
        for peer in ready[slot]:
            found[peer].add(slot)
    return found
