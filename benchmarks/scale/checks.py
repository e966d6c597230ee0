"""Sets the model beside what is simulated, in networks of a size that both can do."""

from collections.abc import Sequence
from random import Random

from benchmarks.figures import Row, row
from benchmarks.overlay.balance import members
from benchmarks.overlay.crowd import live
from benchmarks.overlay.lookups import looked_up
from benchmarks.scale.fan_out import OUTSIDE, covered_share, planned, slot_bits
from benchmarks.scale.goals import MODEL_ERROR
from benchmarks.scale.lookup_model import ModelNetwork
from benchmarks.scale.node_cost import keep_alive_packets_s
from index.search.replica_plan import make_plan


def check_rows(sizes: Sequence[int], lookups: int) -> list[Row]:
    """Return each figure that both give, and how far the model is off."""
    found, errors = list[Row](), list[float]()
    for nodes in sizes:
        modelled, simulated = ModelNetwork(nodes, 1).look_up(lookups), looked_up(1, lookups, nodes)
        for name, share, theirs in (("p50", 0.5, simulated.p50), ("p95", 0.95, simulated.p95)):
            found.append(_beside(f"lookup, {nodes:,} nodes, {name}", modelled.quantile(share), theirs, "ms", errors))
        peers, plan = covered_share(nodes, 1) * nodes, peers_planned(nodes)
        found.append(_beside(f"peers that cover all slots, {nodes:,} nodes", peers, plan, "", errors))
    sent = live(1, sizes[0]).heartbeats
    what = f"heartbeats, {sizes[0]:,} nodes"
    found.append(_beside(what, keep_alive_packets_s(sizes[0]), sent, "packets/s", errors))
    worst = max(errors)
    return [*found, row("the model's greatest error beside the simulator", [worst], "of it", goal=MODEL_ERROR)]


def peers_planned(nodes: int) -> int:
    """Return how many peers a node's own plan asks, in a network of real placement."""
    ids = members(1, nodes)
    return len(make_plan(planned(tuple(sorted(ids)), slot_bits(nodes)), OUTSIDE, Random(1)).parts)


def _beside(what: str, modelled: float, simulated: float, unit: str, errors: list[float]) -> Row:
    errors.append(abs(modelled / simulated - 1))
    return row(f"model beside simulator: {what}", [modelled], unit, peer=[simulated])
