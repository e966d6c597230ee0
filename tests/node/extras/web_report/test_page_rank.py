"""Ranks are those of PageRank, and their error is never greater than its bound."""

import random
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from node.extras.web_report.page_rank import ALPHA, CONVERGED, OneSweeper, Ranks, in_links, rank
from tests.node.extras.web_report.dense_pagerank import dense_pagerank
from tests.node.extras.web_report.graphs import graph, ring

Links = dict[int, list[int]]
GRAPHS = st.lists(st.lists(st.integers(0, 40), max_size=12), min_size=1, max_size=30)


def ranks_of(links: Links, tolerance: float = 1e-13) -> Ranks:
    """The ranks of pages 0, 1, 2 … that link to these, and of what else is linked to."""
    found = in_links(graph([(page, to) for page, targets in links.items() for to in targets], len(links)))
    return rank(found, OneSweeper(found), tolerance)


def distance(found: Ranks, links: Links) -> float:
    true = dense_pagerank(links | {page: [] for page in range(len(found.ranks)) if page not in links})
    return float(np.abs(found.ranks - [true[page] for page in range(len(found.ranks))]).sum())


def numbered(targets: list[list[int]]) -> Links:
    """Pages with these targets, where all numbers from the first on are pages or are linked to by the first page."""
    most = max((to for found in targets for to in found), default=0)
    return dict(enumerate([[*targets[0], *range(len(targets), most)], *targets[1:]]))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(GRAPHS)
def test_ranks_are_those_of_a_dense_solution_in_which_dangling_mass_goes_to_all(targets: list[list[int]]) -> None:
    links = numbered(targets)
    assert distance(ranks_of(links), links) < 1e-11


@settings(max_examples=60, deadline=None, derandomize=True)
@given(GRAPHS, st.sampled_from([0.5, 1e-2, 1e-4, CONVERGED]))
def test_the_error_is_no_greater_than_its_bound(targets: list[list[int]], tolerance: float) -> None:
    links = numbered(targets)
    found = ranks_of(links, tolerance)
    assert distance(found, links) - 1e-13 <= found.error <= tolerance


def test_the_bound_is_near_the_error_where_a_ring_keeps_what_flows_in() -> None:
    links = {page: [(page + 1) % 3] for page in range(3)}
    links |= {page: [0] for page in range(3, 9)} | {page: [] for page in range(9, 200)}
    for tolerance in (1e-1, 1e-3, 1e-6):
        found = ranks_of(links, tolerance)
        assert distance(found, links) <= found.error <= 3 * distance(found, links)


def test_pages_in_a_ring_are_equal_and_the_middle_of_a_star_has_what_the_formula_says() -> None:
    found = in_links(graph(ring(9), 9))
    assert rank(found, OneSweeper(found), 1e-13).ranks == pytest.approx(np.full(9, 1 / 9), abs=1e-13)
    leaves = 20
    star = {0: list(range(1, leaves + 1)), **{leaf: [0] for leaf in range(1, leaves + 1)}}
    middle = (1 + ALPHA * leaves) / ((leaves + 1) * (1 + ALPHA))  # of x = (1-a)/N + a·(1-x): all leaves give it all
    starred = ranks_of(star)
    assert starred.ranks[0] == pytest.approx(middle, abs=1e-13)
    assert starred.ranks[7] == pytest.approx((1 - middle) / leaves, abs=1e-13)
    assert starred.best(2) == [0, 1]


def test_a_chain_grows_to_its_end_which_gives_to_all() -> None:
    found = ranks_of({page: [page + 1] for page in range(5)})
    grown = np.array([(1 - ALPHA ** (page + 1)) / (1 - ALPHA) for page in range(6)])  # 1 + a + a² ...
    assert found.ranks == pytest.approx(grown / grown.sum(), abs=1e-13)


def test_pages_without_links_are_equal_and_no_page_has_no_ranks() -> None:
    assert ranks_of({0: [], 1: [], 2: [2]}).ranks == pytest.approx([1 / 3] * 3)
    found = ranks_of({})
    assert (len(found.ranks), found.error, found.best(3)) == (0, 0.0, [])


def test_many_blocks_give_what_one_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(4)
    links = {page: rng.choices(range(300), k=rng.randrange(20)) for page in range(250)}
    links[0] += range(250, 300)
    for block in (1, 7, 64):
        monkeypatch.setattr("node.extras.web_report.page_rank.BLOCK_LINKS", block)
        assert distance(ranks_of(links), links) < 1e-11


@pytest.mark.skipif(not find_spec("networkx"), reason="networkx is not installed")
def test_ranks_are_those_of_networkx() -> None:
    import networkx

    rng = random.Random(5)
    links = {page: rng.choices(range(300), k=rng.randrange(20)) for page in range(300)}
    other = networkx.DiGraph([(page, to) for page, targets in links.items() for to in targets if to != page])
    other.add_nodes_from(range(300))
    found = networkx.pagerank(other, ALPHA, tol=1e-14, max_iter=1_000)
    assert ranks_of(links).ranks == pytest.approx([found[page] for page in range(300)], abs=1e-12)
