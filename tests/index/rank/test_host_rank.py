"""A host is ranked by other domains; its owner's names and pages do not help."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.rank.host_rank import host_edges, rank_hosts

ALPHA = 0.85


def domain_of(host: str) -> str:
    return ".".join(host.split(".")[-2:])


def ranks_of(links: list[tuple[str, list[str]]]) -> dict[str, float]:
    edges = host_edges(links, domain_of)
    return dict(zip(edges.hosts, rank_hosts(edges, 1e-12).tolist(), strict=True))


def plainly(links: list[tuple[str, list[str]]]) -> dict[str, float]:
    """By a dense matrix of hosts: each gives as its whole domain does, one that links nowhere to all domains alike."""
    hosts = list(dict.fromkeys(host for source, targets in links for host in (source, *targets)))
    homes = [domain_of(host) for host in hosts]
    base = np.array([1 / homes.count(home) for home in homes]) / len(set(homes))
    matrix = np.zeros((len(hosts), len(hosts)))
    for column, home in enumerate(homes):
        voted = {t for source, targets in links if domain_of(source) == home for t in targets if domain_of(t) != home}
        matrix[:, column] = [(host in voted) / len(voted) for host in hosts] if voted else base
    ranks = np.linalg.solve(np.eye(len(hosts)) - ALPHA * matrix, (1 - ALPHA) * base)
    return dict(zip(hosts, ranks.tolist(), strict=True))


HOSTS = st.sampled_from([f"{name}.{site}.test" for name in "xyz" for site in "abcde"])


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.tuples(HOSTS, st.lists(HOSTS, max_size=6)), min_size=1, max_size=20))
def test_ranks_are_those_of_a_dense_solution(links: list[tuple[str, list[str]]]) -> None:
    assert ranks_of(links) == pytest.approx(plainly(links), abs=1e-10)


def test_a_domain_votes_once_for_a_host_however_many_pages_and_names_it_has() -> None:
    once = ranks_of([("a.test", ["b.test"]), ("c.test", ["d.test"])])
    often = ranks_of([("a.test", ["b.test"]), ("a.test", ["b.test", "b.test"]), ("c.test", ["d.test"])])
    names = ranks_of([(f"n{n}.a.test", ["b.test"]) for n in range(50)] + [("c.test", ["d.test"])])
    assert often == pytest.approx(once)
    assert names["b.test"] == pytest.approx(once["b.test"])


def test_links_inside_a_domain_say_nothing() -> None:
    inside = [(f"n{n}.a.test", ["www.a.test"]) for n in range(9)]
    assert host_edges(inside, domain_of).to_host.tolist() == []
    assert len(set(ranks_of([*inside, ("n9.a.test", []), ("www.a.test", [])]).values())) == 1


def test_edges_beyond_the_bound_are_told() -> None:
    edges = host_edges([("a.test", ["b.test", "c.test", "b.test", "d.test"])], domain_of, most_edges=2)
    assert (len(edges.to_host), edges.left_out) == (2, 1)


def test_no_host_has_no_ranks() -> None:
    assert len(rank_hosts(host_edges([], domain_of))) == 0
