"""A made-up web is what it says, and processes that share it come to the ranks of a power iteration."""

import numpy as np
import pytest

from benchmarks.pagerank.made_up_web import MadeUpWeb, make_up
from benchmarks.pagerank.processes import compute
from benchmarks.pagerank.reference import power_iteration
from index.rank.link_graph import build_graph
from index.rank.page_rank import CONVERGED, rank_pages


@pytest.fixture(scope="module")
def web() -> MadeUpWeb:
    return make_up(1, sites=200, pages=3_000, links=20_000)


def sources(web: MadeUpWeb) -> np.ndarray:
    return np.repeat(np.arange(len(web.numbers)), np.diff(web.starts))


def distance(web: MadeUpWeb, numbers: np.ndarray, ranks: np.ndarray) -> float:
    page = {number: n for n, number in enumerate(web.numbers.tolist())}
    true = power_iteration(sources(web), web.targets, len(web.numbers))
    return float(np.abs(ranks - true[[page[number] for number in numbers.tolist()]]).sum())


def test_a_web_is_the_same_for_the_same_seed_and_has_each_link_once(web: MadeUpWeb) -> None:
    again = make_up(1, sites=200, pages=3_000, links=20_000)
    assert np.array_equal(web.targets, again.targets) and np.array_equal(web.numbers, again.numbers)
    links = set(zip(sources(web).tolist(), web.targets.tolist(), strict=True))
    assert len(links) == len(web.targets) >= 15_000
    assert all(source != target for source, target in links)
    inside = web.site[sources(web)] == web.site[web.targets]
    assert 0.7 < inside.mean() < 0.95
    assert (np.diff(web.starts) == 0).mean() > 0.04


def test_one_node_comes_to_the_ranks_of_a_power_iteration(web: MadeUpWeb) -> None:
    graph = build_graph(web.links())
    assert distance(web, graph.numbers, rank_pages(graph).ranks) <= CONVERGED


@pytest.mark.prove
def test_five_processes_come_to_the_ranks_of_a_power_iteration(web: MadeUpWeb) -> None:
    found = compute(web)
    assert found.error <= CONVERGED
    assert distance(web, found.numbers, found.values / found.values.sum()) <= CONVERGED
    assert len(found.bytes) < 100 and min(found.bytes) > 0
