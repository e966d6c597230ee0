"""Measures what leases and heartbeats cost together in a network of 1,000, how soon the slots of the dead are taken,
and whether a slot ever has two holders.

One scenario a seed. The network forms, all hear of each other, every slot gets its holder, and traffic begins. Then a
few nodes die without a word and others take their slots. Then a tenth of all packets is lost, while nodes die, some
with teammates, and come back. Holders are counted each second. A quick run has 125 nodes: as many slots a node, and as
many nodes in a neighbourhood, as 1,000 have.
"""

from collections import Counter
from dataclasses import dataclass, field
from random import Random

from benchmarks.figures import Row, row
from benchmarks.overlay import goals
from benchmarks.overlay.extent import Extent
from benchmarks.overlay.rounds import LeaseRounds
from dht import NodeId, Slot
from node.extras.simulation.forming import form
from node.extras.simulation.observations import slot_bits_for
from node.extras.simulation.swarm import Bee, Swarm

MEET_S, SETTLE_S, TRAFFIC_S = 35.0, 30.0, 24.0  # first exchanges; every slot gets its holder; two renewals
TAKEN_WITHIN_S, LOSSY_S = 60.0, 40.0
DYING = 0.03  # of the nodes, at once
LOSS, DEAD_S, DEATH_EVERY_S = 0.1, 20.0, 5.0
GOSSIP = ("Ping", "Pong")


@dataclass(slots=True)
class Leased:
    """Holds the figures of one seed. `packets` and `kbytes` per node and second, by what they are for."""

    packets: dict[str, float] = field(default_factory=dict)
    kbytes: dict[str, float] = field(default_factory=dict)
    covered: float = 0.0  # share of the slots that had a holder when traffic was counted
    taken_s: list[float] = field(default_factory=list)  # after its holder's death, each slot
    doubles: int = 0  # slot-seconds with two holders


def rows(extent: Extent) -> list[Row]:
    """Return all figures of leases."""
    seeds, nodes = extent.of((range(1, 2), 125), (range(1, 4), 1_000))
    bits, found = slot_bits_for(nodes), [leased(seed, nodes) for seed in seeds]
    told, unit = f"{nodes:,} nodes, slot_bits {bits}", "packets/node/s"
    both = [sum(each.packets.values()) for each in found]
    taken = [sorted(each.taken_s) for each in found]
    return [
        row(f"steady heartbeats and leases, {told}", both, unit, goal=goals.HEARTBEAT_PACKETS),
        row(f"of which leases, {told}", [each.packets["leases"] for each in found], unit),
        row(f"bytes of heartbeats, {told}", [each.kbytes["heartbeats"] for each in found], "kB/node/s"),
        row(f"bytes of leases, {told}", [each.kbytes["leases"] for each in found], "kB/node/s"),
        row(f"slots with a holder, {told}", [each.covered for each in found], "of all"),
        row(f"slots of the dead have a new holder, half of them, {told}", [t[len(t) // 2] for t in taken], "s"),
        row(f"the same, the last of them, {told}", [t[-1] for t in taken], "s"),
        row(f"two holders of a slot, 10 % loss and deaths, {told}", [e.doubles for e in found], "slot-s", goal=0.0),
    ]


def leased(seed: int, nodes: int) -> Leased:
    """Run the scenario of one seed and return its figures."""
    swarm, bits, told = Swarm(seed), slot_bits_for(nodes), Leased()
    swarm.add(nodes)
    form(swarm)
    rounds, rng = LeaseRounds(swarm, bits), Random(f"deaths {seed}")
    swarm.run(MEET_S)
    rounds.begin()
    _live(swarm, rounds, SETTLE_S, told)
    sent, before = _sent(swarm, rounds), swarm.time
    _live(swarm, rounds, TRAFFIC_S, told)
    spent = _sent(swarm, rounds) - sent
    each = nodes * (swarm.time - before)
    told.packets = {"heartbeats": spent["gossip"] / each, "leases": spent["leases"] / each}
    told.kbytes = {what: spent[f"{what} bytes"] / each / 1e3 for what in ("heartbeats", "leases")}
    told.covered = len(rounds.holders()) / (1 << bits)
    victims = rng.sample(swarm.bees, max(1, round(nodes * DYING)))
    told.taken_s = _take(swarm, rounds, victims, told)
    swarm.loss = LOSS
    for _ in range(round(LOSSY_S / DEATH_EVERY_S)):
        _kill_for_a_while(swarm, rounds, rng)
        _live(swarm, rounds, DEATH_EVERY_S, told)
    return told


def _live(swarm: Swarm, rounds: LeaseRounds, seconds: float, told: Leased) -> None:
    """Let time pass; count each second the slots with two holders."""
    for _ in range(round(seconds)):
        swarm.run(swarm.time + 1.0)
        told.doubles += sum(len(holders) > 1 for holders in rounds.holders().values())


def _take(swarm: Swarm, rounds: LeaseRounds, victims: list[Bee], told: Leased) -> list[float]:
    """Kill some; return for each slot of theirs the seconds until it has a holder again, at most TAKEN_WITHIN_S."""
    dead = {bee.node_id for bee in victims}
    left = {slot for slot, holders in rounds.holders().items() if dead & {*holders}}
    swarm.kill(*victims)
    found, died_at = list[float](), swarm.time
    while left and swarm.time - died_at < TAKEN_WITHIN_S:
        _live(swarm, rounds, 1.0, told)
        taken = left & rounds.holders().keys()
        found += [swarm.time - died_at] * len(taken)
        left -= taken
    return found + [TAKEN_WITHIN_S] * len(left)


def _kill_for_a_while(swarm: Swarm, rounds: LeaseRounds, rng: Random) -> None:
    """Choose one in a hundred, to die and be back soon on an empty memory; half of them are teammates of each other."""
    count = max(2, len(swarm.bees) // 100)
    up = {bee.node_id: bee for bee in swarm.running()}
    chosen: set[NodeId] = set()
    while len(chosen) < count:
        slot = Slot(rng.randrange(1 << slot_bits_for(len(swarm.bees))))
        chosen.update([peer for peer in rounds.placement.owners(slot) if peer in up][: rng.randint(1, 2)])
    for peer in sorted(chosen):
        swarm.kill(up[peer])
        swarm.later(DEAD_S, _bring_back, swarm, rounds, up[peer])


def _bring_back(swarm: Swarm, rounds: LeaseRounds, bee: Bee) -> None:
    """Start a node again with what its peer cache held."""
    remembered = [known.opened.raw for _, known in bee.core.members.known()]
    swarm.restart(bee)
    bee.core.remember(swarm.now, remembered)
    swarm.join(bee, swarm.running()[0])
    rounds.restart(bee)


def _sent(swarm: Swarm, rounds: LeaseRounds) -> Counter[str]:
    """Count what was sent so far: packets and bytes."""
    kinds: Counter[str] = sum((bee.core.sent for bee in swarm.bees), start=Counter())
    return Counter(
        {
            "gossip": sum(kinds[kind] for kind in GOSSIP),
            "leases": rounds.packets.total(),
            "heartbeats bytes": swarm.sent_bytes,
            "leases bytes": rounds.bytes,
        }
    )
