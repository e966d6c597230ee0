"""Ranks are those of PageRank, and their error is never more than is said."""

import random

import pytest
from dense_pagerank import ALPHA, dense_pagerank
from hypothesis import given, settings
from hypothesis import strategies as st

from index.rank.link_graph import build_graph
from index.rank.page_rank import CONVERGED, rank_pages

GRAPHS = st.dictionaries(st.integers(0, 30), st.lists(st.integers(0, 40), max_size=12), min_size=1, max_size=30)


def ranks_of(links: dict[int, list[int]], tolerance: float = 1e-13) -> dict[int, float]:
    graph = build_graph(links.items())
    return dict(zip(graph.numbers.tolist(), rank_pages(graph, tolerance).ranks.tolist(), strict=True))


def distance(found: dict[int, float], true: dict[int, float]) -> float:
    assert found.keys() == true.keys()
    return sum(abs(found[page] - true[page]) for page in true)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(GRAPHS)
def test_ranks_are_those_of_a_dense_solution_with_uniform_redistribution(links: dict[int, list[int]]) -> None:
    assert distance(ranks_of(links), dense_pagerank(links)) < 1e-11


@settings(max_examples=60, deadline=None, derandomize=True)
@given(GRAPHS, st.sampled_from([0.5, 1e-2, 1e-4, CONVERGED]))
def test_the_error_is_no_greater_than_its_bound(links: dict[int, list[int]], tolerance: float) -> None:
    graph = build_graph(links.items())
    found = rank_pages(graph, tolerance)
    assert found.error <= tolerance
    true = dense_pagerank(links)
    assert distance(dict(zip(graph.numbers.tolist(), found.ranks.tolist(), strict=True)), true) <= found.error + 1e-13


def test_the_bound_is_near_the_error_where_a_ring_keeps_what_flows_in() -> None:
    ring = {page: [(page + 1) % 3] for page in range(3)}
    links = ring | {page: [0] for page in range(3, 9)} | {page: [] for page in range(9, 200)}
    graph, true = build_graph(links.items()), dense_pagerank(links)
    for tolerance in (1e-1, 1e-3, 1e-6):
        found = rank_pages(graph, tolerance)
        wrong = distance(dict(zip(graph.numbers.tolist(), found.ranks.tolist(), strict=True)), true)
        assert wrong <= found.error <= 3 * wrong


def test_pages_in_a_ring_are_equal() -> None:
    ring = {page: [(page + 1) % 9] for page in range(9)}
    assert ranks_of(ring) == pytest.approx(dict.fromkeys(range(9), 1 / 9), abs=1e-13)


def test_the_middle_of_a_star_has_what_the_formula_says() -> None:
    leaves = 20
    star = {0: list(range(1, leaves + 1)), **{leaf: [0] for leaf in range(1, leaves + 1)}}
    middle = (1 + ALPHA * leaves) / ((leaves + 1) * (1 + ALPHA))  # of x = (1-a)/N + a·(1-x): all leaves give it all
    found = ranks_of(star)
    assert found[0] == pytest.approx(middle, abs=1e-13)
    assert found[7] == pytest.approx((1 - middle) / leaves, abs=1e-13)


def test_a_chain_grows_to_its_end_which_gives_to_all() -> None:
    chain = {page: [page + 1] for page in range(5)}
    grown = [(1 - ALPHA ** (page + 1)) / (1 - ALPHA) for page in range(6)]  # 1 + a + a² ...
    assert ranks_of(chain) == pytest.approx({n: each / sum(grown) for n, each in enumerate(grown)}, abs=1e-13)


def test_pages_without_any_link_are_equal() -> None:
    assert ranks_of({3: [], 5: [], 8: [8]}) == pytest.approx({3: 1 / 3, 5: 1 / 3, 8: 1 / 3})


def test_no_page_has_no_ranks() -> None:
    found = rank_pages(build_graph([]))
    assert (len(found.ranks), found.error) == (0, 0.0)


def test_many_blocks_give_what_one_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(4)
    links = {page: rng.choices(range(300), k=rng.randrange(20)) for page in range(250)}
    true = dense_pagerank(links)
    for block in (1, 7, 64):
        monkeypatch.setattr("index.rank.page_rank.BLOCK_LINKS", block)
        assert distance(ranks_of(links), true) < 1e-11
