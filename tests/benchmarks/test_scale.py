"""The model of a query that asks all slots agrees with a node's own plan, and its figures are what they say."""

import random

from benchmarks.figures import Row
from benchmarks.scale.fan_out import ask_some, covered_share, peers_planned
from benchmarks.scale.model import MODEL_ERROR, breaks, cost_of, idle_share, known_owner_share
from benchmarks.scale.network import measure
from node.extras.simulation.loop import SimLoop
from tests.index.index_corpus import web


def test_the_modelled_cover_agrees_with_a_nodes_plan() -> None:
    assert abs(covered_share(60, 1) * 60 / peers_planned(60) - 1) < MODEL_ERROR


def test_a_larger_network_costs_more_until_something_breaks() -> None:
    small, large = cost_of(300), cost_of(3_000)
    assert small.peers < large.peers and small.p95_ms < large.p95_ms and small.cpu_s < large.cpu_s
    assert known_owner_share(4_000) == 1 > known_owner_share(100_000) > known_owner_share(1_000_000)
    assert idle_share(1_000) < 0.01 < idle_share(1_000_000)
    sizes = [each.ours for each in breaks() if each.ours is not None]
    assert sizes == sorted(sizes) and 20 < sizes[0] < 1_000


def test_an_answer_is_quicker_where_the_asker_knows_its_quick_peers() -> None:
    known, unknown = (ask_some(1_000, 32, 1, is_known=is_known, trials=40) for is_known in (True, False))
    assert known.took_ms.mean() < 0.8 * unknown.took_ms.mean()
    assert known.peers < 1.15 * unknown.peers


def test_whole_searchers_answer_exactly_on_virtual_time() -> None:
    found = list[Row]()
    SimLoop().run(measure(8, web(random.Random(1), 12), ["run", "dogs python", "peer", "naïve index"], found))
    figures = {each.what.partition(": ")[2]: each.ours for each in found}
    assert figures["exact"] == 1 and 0 < (figures["peers of a round"] or 0) < 8
    assert 0 < (figures["a query, p50"] or 0) <= (figures["a query, p95"] or 0)
