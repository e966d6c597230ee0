"""Observes a swarm from outside: who names whom as a slot's live owners, how far a strategy has spread.

The truth is known here: who is up, and so who the owners and live owners of a slot are. A node's view is what its core
says of members and of who is live, placed as any node places it.
"""

from collections.abc import Sequence
from functools import partial
from random import Random

from dht import AddressPolicy, Event, Placement, Slot, Strategy, StrategyAhead, StrategyRules
from node.extras.simulation.swarm import Bee, Swarm
from node.strategy.draft_checks import proposed_bits

REPLICAS = 3
PULL_TRIPS = 2  # round trips until a strategy is there by TLS on a connection that is not open yet


def slot_bits_for(nodes: int) -> int:
    """Return the slot bits that the publisher's tool proposes for so many nodes."""
    first = Strategy(network="", version=1, effective_at=0, expires_at=1, next_at=1)
    return proposed_bits(first.slot_bits, nodes, REPLICAS)


def sample_slots(slot_bits: int, count: int, seed: object) -> list[Slot]:
    """Choose some slots by chance, or all if there are no more."""
    total = 1 << slot_bits
    return [Slot(s) for s in Random(f"slots {seed}").sample(range(total), min(count, total))]


def owners_agree(swarm: Swarm, slots: Sequence[Slot], slot_bits: int, witnesses: Sequence[Bee]) -> float:
    """Return the share of (witness, slot) in which a witness names the owners that all members together give."""
    truth = _truth(swarm, slot_bits)
    views = [_placement(swarm, bee, slot_bits) for bee in witnesses]
    return sum(view.owners(s) == truth.owners(s) for view in views for s in slots) / (len(views) * len(slots))


def teams_agree(swarm: Swarm, slots: Sequence[Slot], slot_bits: int) -> float:
    """Return the share of the slots whose every live owner names the live owners that there are."""
    truth, up = _truth(swarm, slot_bits), {bee.node_id: bee for bee in swarm.bees if bee.up}
    views: dict[int, Placement] = {}
    agreed = 0
    for slot in slots:
        team = truth.live_owners(slot, up.__contains__)
        for bee in (up[peer] for peer in team):
            view = views.get(bee.index) or views.setdefault(bee.index, _placement(swarm, bee, slot_bits))
            if view.live_owners(slot, partial(bee.core.members.is_live, now=swarm.now)) != team:
                break
        else:
            agreed += 1
    return agreed / len(slots)


class StrategySpread:
    """Spreads a strategy through a swarm: a core that hears of a newer version has it two round trips later."""

    def __init__(self, swarm: Swarm, slot_bits: int) -> None:
        self._slot_bits = slot_bits
        self._version = dict.fromkeys(range(len(swarm.bees)), 0)
        self._pulling: set[int] = set()
        swarm.on_event = self._hear

    def publish(self, swarm: Swarm, bee: Bee, version: int) -> None:
        """Give a version of the strategy to one node."""
        self._pulling.discard(bee.index)
        if self._version[bee.index] < version:
            self._version[bee.index] = version
            bee.core.set_strategy(StrategyRules(version, version.to_bytes(8, "big"), self._slot_bits, AddressPolicy()))
            swarm.kick(bee)

    def spread_s(self, swarm: Swarm, within_s: float, step_s: float = 0.25) -> float | None:
        """Publish the next version at one node; return the seconds until all members that are up have it, or None."""
        wanted, began = max(self._version.values()) + 1, swarm.time
        self.publish(swarm, swarm.running()[0], wanted)
        while swarm.time - began < within_s:
            if all(self._version[bee.index] == wanted for bee in swarm.running() if bee.core.takes_part):
                return swarm.time - began
            swarm.run(swarm.time + step_s)
        return None

    def _hear(self, swarm: Swarm, bee: Bee, event: Event) -> None:
        if not isinstance(event, StrategyAhead) or bee.index in self._pulling:
            return
        if event.version > self._version[bee.index]:
            self._pulling.add(bee.index)
            other = next(each for each in swarm.bees if each.node_id == event.peer)
            wait_s = PULL_TRIPS * swarm.delays.rtt_s(bee.index, other.index)
            swarm.later(wait_s, self.publish, swarm, bee, event.version)


def _truth(swarm: Swarm, slot_bits: int) -> Placement:
    return Placement(tuple(sorted(bee.node_id for bee in swarm.bees if bee.core.takes_part)), slot_bits, REPLICAS)


def _placement(swarm: Swarm, bee: Bee, slot_bits: int) -> Placement:
    return Placement(bee.core.members.members(swarm.now), slot_bits, REPLICAS)
