"""Which peers to ask so that every slot is answered once, by as few as possible.

Pure: the view and a random generator in, assignments out. This node's own slots go to itself: that costs nothing. The
rest is covered greedily, the peer that covers most first; equal ones in an order drawn from `rng`, to share the load.
Who is late with other answers just now covers what nobody else can.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from random import Random

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
    tried: Collection[tuple[NodeId, Slot]] = (),
    is_late: Callable[[NodeId], bool] = nobody_is_late,
) -> ReplicaPlan:
    """Cover the slots of `ready`; nobody of `avoid`, and no pair of `tried`, is asked (again)."""
    can: dict[NodeId, set[Slot]] = {}
    for slot in sorted(ready):
        for peer in ready[slot]:
            if peer not in avoid and (peer, slot) not in tried:
                can.setdefault(peer, set()).add(slot)
    left = set(ready)
    parts: list[tuple[NodeId, tuple[Slot, ...]]] = []
    order = sorted(can)
    rng.shuffle(order)
    order.sort(key=lambda peer: peer != me)
    late = {peer for peer in order if peer != me and is_late(peer)}
    while order and left:
        chosen = order[0] if order[0] == me else max(order, key=lambda peer: (peer not in late, len(can[peer] & left)))
        order.remove(chosen)
        taken = can[chosen] & left
        if taken:
            parts.append((chosen, tuple(sorted(taken))))
            left -= taken
    return ReplicaPlan(tuple(parts), tuple(sorted(left)))
