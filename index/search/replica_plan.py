"""Which peers to ask so that every slot is answered once, by as few as possible.

Pure: the view and a random generator in, assignments out. This node's own slots go to itself: that costs nothing. The
rest is covered greedily, the peer that covers most first; equal ones in an order drawn from `rng`, to share the load.
Who is late with other answers just now covers what nobody else can.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from types import MappingProxyType

from dht import NodeId, Slot

Ready = Mapping[Slot, Sequence[NodeId]]


@dataclass(frozen=True, slots=True)
class ReplicaPlan:
    """Says who is asked for which slots (each once, ascending), and which slots nobody can answer."""

    parts: tuple[tuple[NodeId, tuple[Slot, ...]], ...]
    uncovered: tuple[Slot, ...]


def nobody_is_late(peer: NodeId) -> bool:
    """Return False."""
    return False


def make_plan(
    ready: Ready,
    me: NodeId,
    rng: Random,
    avoid: Collection[NodeId] = (),
    tried: Mapping[NodeId, Collection[Slot]] = MappingProxyType({}),
    is_late: Callable[[NodeId], bool] = nobody_is_late,
) -> ReplicaPlan:
    """Cover the slots of `ready`; nobody of `avoid`, and for no slot whom `tried` names for it, is asked (again)."""
    left, parts = set(ready), list[tuple[NodeId, tuple[Slot, ...]]]()
    if me not in avoid:
        done = tried.get(me, ())
        if mine := sorted(slot for slot, peers in ready.items() if me in peers and slot not in done):
            parts.append((me, tuple(mine)))
            left.difference_update(mine)
    can: dict[NodeId, set[Slot]] = {}
    for slot in sorted(left):
        for peer in ready[slot]:
            if peer != me and peer not in avoid and slot not in tried.get(peer, ()):
                can.setdefault(peer, set()).add(slot)
    every = sorted(frozenset[NodeId]().union(*ready.values()).difference(avoid))
    rng.shuffle(every)  # this node among them: what is drawn does not depend on what it can answer itself
    order = list(filter(can.__contains__, every))
    late = set(filter(is_late, order))
    while order and left:
        chosen = max(order, key=lambda peer: (peer not in late, len(can[peer] & left)))
        order.remove(chosen)
        if taken := can[chosen] & left:
            parts.append((chosen, tuple(sorted(taken))))
            left -= taken
    return ReplicaPlan(tuple(parts), tuple(sorted(left)))
