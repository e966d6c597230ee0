"""Makes a network that is there at once, by telling its nodes what their first minutes would have taught them.

Joining ten thousand nodes one by one costs more than all that is to be measured on them. So every core is told, through
public calls, all that a grown network has taught it. Each k-bucket gets up to k contacts, drawn by chance among all
that belong there, each with a round trip. If wanted, a core hears the heartbeats of all others (`remember`, as after a
restart with a peer cache), and that the near ones have answered (`introduce`).
"""

from bisect import bisect_left
from collections.abc import Sequence
from random import Random

from dht import AddressPolicy, NodeId, VerifiedHeartbeat, open_heartbeat
from node.extras.simulation.loop import rarely_collected
from node.extras.simulation.swarm import NETWORK, Bee, Swarm

K = 16  # contacts in a k-bucket, as dht/routing/routing_table.py has
BITS = 160


def form(swarm: Swarm, *, members: bool = True) -> None:
    """Make one network of all nodes that are up. `members` False: contacts only, no heartbeats: nobody gossips.

    Clients know others and are known to nobody.
    """
    with rarely_collected():
        _form(swarm, members)


def _form(swarm: Swarm, members: bool) -> None:
    for bee in swarm.running():
        swarm.kick(bee)
    bees = sorted((bee for bee in swarm.running() if bee.core.takes_part), key=lambda bee: bee.node_id)
    ids = [bee.node_id for bee in bees]
    known = [open_heartbeat(bee.core.own.raw, swarm.now, NETWORK, AddressPolicy()) for bee in bees]
    rng, places = Random(f"forming {swarm.seed}"), {bee.node_id: place for place, bee in enumerate(bees)}
    for bee in swarm.running():
        for there in contacts(bee.node_id, ids, rng):
            _have_asked(swarm, bee, bees[there], known[there])
        if members:
            bee.core.remember(swarm.now, [opened.raw for opened in rng.sample(known, len(known))])
            for peer in bee.core.members.pools.near:
                _have_met(swarm, bee, bees[places[peer]], known[places[peer]])
    for bee in swarm.running():
        swarm.kick(bee)


def contacts(own: NodeId, ids: Sequence[NodeId], rng: Random, k: int = K) -> list[int]:
    """Choose which of the sorted `ids`, by position, stand in the table of one node: up to k of every bucket."""
    found: list[int] = []
    low, high, number = 0, len(ids), int.from_bytes(own, "big")
    for bit in range(BITS - 1, -1, -1):
        prefix = number >> bit
        middle = bisect_left(ids, ((prefix | 1) << bit).to_bytes(len(own), "big"), low, high)
        others = range(low, middle) if prefix & 1 else range(middle, high)
        found += rng.sample(others, min(k, len(others)))
        low, high = (middle, high) if prefix & 1 else (low, middle)
        if high - low <= 1:
            break
    return found


def _have_asked(swarm: Swarm, bee: Bee, other: Bee, opened: VerifiedHeartbeat) -> None:
    """Tell a core of a contact as if it had answered."""
    if not bee.addresses.keys().isdisjoint(other.addresses):
        rtt_s = swarm.delays.rtt_s(bee.index, other.index)
        bee.core.routing.answered(opened.heartbeat.public_key, opened.contact, rtt_s)


def _have_met(swarm: Swarm, bee: Bee, other: Bee, opened: VerifiedHeartbeat) -> None:
    """Tell a core of a near peer as if it had been greeted already."""
    shared = bee.addresses.keys() & other.addresses.keys()
    if shared and other.nat_holes is None:
        rtt_s = swarm.delays.rtt_s(bee.index, other.index)
        bee.core.introduce(swarm.now, opened, other.addresses[min(shared)], rtt_s)
