"""Distances: a ring, a star, a chain beyond what is gone."""

from random import Random

import pytest

from node.extras.web_report.distances import MAX_STEPS, distances_of
from tests.node.extras.web_report.graphs import graph, ring


def test_a_ring_of_eleven_pages_has_each_distance_once() -> None:
    found = distances_of(graph(ring(11), 11), Random(1))
    assert found.steps == (11,) * 10
    assert (found.sampled, found.effective, found.mean, found.reached) == (11, 9.0, 5.5, 1.0)
    assert not found.is_cut


def test_a_star_is_two_links_wide() -> None:
    spokes = [link for n in range(1, 101) for link in ((0, n), (n, 0))]
    found = distances_of(graph(spokes, 101), Random(1))
    assert found.sampled == 64 and found.reached == 1.0
    assert len(found.steps) == 2 and sum(found.steps) == 64 * 100
    assert 1 < found.effective < 2


def test_a_sample_says_what_the_whole_says() -> None:
    rng = Random(5)
    links = [(rng.randrange(2000), rng.randrange(2000)) for _ in range(20_000)]
    one, other = (distances_of(graph(links, 2000), Random(seed)) for seed in (1, 2))
    assert one.effective == pytest.approx(other.effective, rel=0.02)
    assert one.mean == pytest.approx(3.6, abs=0.3)


def test_a_chain_is_followed_so_far_and_said_to_be_longer() -> None:
    size = 2 * MAX_STEPS
    found = distances_of(graph(((n, n + 1) for n in range(size - 1)), size), Random(1))
    assert len(found.steps) == MAX_STEPS and found.is_cut


def test_no_links_and_no_pages_are_no_distance() -> None:
    for links, pages in (([], 0), ([], 5), ([(0, 9)], 2)):
        found = distances_of(graph(links, pages), Random(1))
        assert (found.steps, found.effective, found.mean, found.reached) == ((), 0.0, 0.0, 0.0)
