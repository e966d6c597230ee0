"""The model of a query agrees with a node's own plan, its figures are what they say, and so are those of asking few."""

import random

import pytest

from benchmarks.figures import Row
from benchmarks.scale.fan_out import covered_share, peers_planned
from benchmarks.scale.model import MODEL_ERROR, SLOW_SHARE, Way, breaks, cost_of, known_owner_share
from benchmarks.scale.network import Trial, measure
from benchmarks.scale.strongest_terms import ASKED, CELLS, found_by
from node.extras.simulation.loop import SimLoop
from tests.index.index_corpus import web

WORDS = ["run", "dogs python", "peer", "naïve index"]


@pytest.mark.parametrize("copies", [3, 8])
def test_the_modelled_cover_agrees_with_a_nodes_plan(copies: int) -> None:
    assert abs(covered_share(60, 1, copies) * 60 / peers_planned(60, copies) - 1) < MODEL_ERROR


@pytest.mark.prove
def test_a_larger_network_costs_more_until_something_breaks() -> None:
    small, large = cost_of(300), cost_of(3_000)
    assert small.peers < large.peers and small.p95_ms < large.p95_ms and small.cpu_s < large.cpu_s
    assert known_owner_share(4_000) == 1 > known_owner_share(100_000) > known_owner_share(1_000_000)
    sizes = [each.ours for each in breaks() if each.ours is not None]
    assert sizes == sorted(sizes) and 20 < sizes[0] < 1_000


def test_more_copies_and_fewer_cells_save_work_and_slow_peers_cost_time() -> None:
    whole = cost_of(300)
    assert cost_of(300, Way(cells=4)).cpu_s < cost_of(300, Way(copies=12)).cpu_s < whole.cpu_s
    assert cost_of(300, slow_share=SLOW_SHARE).p95_ms > 1.3 * whole.p95_ms


TRIALS = Trial(8), Trial(8, copies=6), Trial(8, slow_share=0.25), Trial(8, cells=8)


@pytest.mark.parametrize("trial", TRIALS, ids=str)
def test_whole_searchers_answer_on_virtual_time(trial: Trial) -> None:
    found = list[Row]()
    SimLoop().run(measure(trial, web(random.Random(1), 12), WORDS, found))
    figures = {each.what.partition(": ")[2]: each.ours or 0.0 for each in found}
    assert figures["new words, exact"] == 1 and 0 < figures["new words, peers of a round"] < 8
    assert 0 < figures["known words, p50"] <= figures["known words, p95"]
    assert figures["known words, exact"] == (not trial.cells)
    assert figures["known words, with one round"] > 0.9
    assert figures["known words, messages"] < figures["new words, messages"]


def test_the_cells_that_a_table_chooses_hold_the_best() -> None:
    found = {
        each.what: each.ours or 0.0 for each in found_by("web", web(random.Random(1), 200), {"python engine": "word"})
    }
    best = [found[f"web: all terms of a cell, word: recall@10 by {asked} of {CELLS} cells"] for asked in ASKED]
    assert best == sorted(best) and best[0] > 0.3 and best[-1] == 1
