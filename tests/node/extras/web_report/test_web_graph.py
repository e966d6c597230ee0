"""The graph as arrays: what is left of its links, and the way back."""

from itertools import pairwise

import numpy as np

from node.extras.web_report.web_graph import WebGraph, distinct
from tests.node.extras.web_report.graphs import graph


def _links(found: WebGraph) -> list[tuple[int, int]]:
    return list(zip(found.sources.tolist(), found.targets.tolist(), strict=True))


def test_links_stand_once_in_order_and_none_to_itself() -> None:
    assert _links(graph([(1, 0), (0, 2), (0, 1), (0, 2), (1, 1)], 2)) == [(0, 1), (0, 2), (1, 0)]
    assert _links(graph([], 0)) == []


def test_links_between_pages_and_between_sites_are_some_of_them() -> None:
    found = graph([(0, 1), (0, 3), (1, 0), (2, 1)], 3, [0, 0, 1, 1])
    assert _links(found.between_pages()) == [(0, 1), (1, 0), (2, 1)] and found.between_pages().nodes == 3
    assert _links(found.between_sites()) == [(0, 3), (2, 1)] and found.between_sites().nodes == 4


def test_the_way_back_leads_from_each_node_to_who_links_to_it() -> None:
    starts, sources = graph([(0, 2), (1, 2), (1, 0)], 2).reversed()
    assert [sources[a:b].tolist() for a, b in pairwise(starts.tolist())] == [[1], [], [0, 1]]


def test_distinct_numbers_are_those_of_a_set() -> None:
    values = np.random.default_rng(1).integers(0, 50, 200)
    assert distinct(values).tolist() == sorted(set(values.tolist()))
    assert distinct(values[:0]).tolist() == []
