"""A site is ranked by other domains; its owner's names and pages do not help."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from node.captures.capture import Capture
from node.extras.web_report.link_table import LinkTable, name_of_url
from node.extras.web_report.page_rank import ALPHA, CONVERGED
from node.extras.web_report.site_rank import rank_sites

Links = list[tuple[str, list[str]]]
HOSTS = st.sampled_from([f"{name}.{site}.test" for name in "xyz" for site in "abcde"])


def domain_of(host: str) -> str:
    return ".".join(host.split(".")[-2:])


def ranks_of(links: Links, tolerance: float = 1e-12) -> dict[str, float]:
    """The ranks of hosts, where each pair is another page of its host."""
    table = LinkTable()
    for n, (host, targets) in enumerate(links):
        table.add(Capture(f"http://{host}/{n}", 0.0, 200, (), b"", b"", links=tuple(f"http://{t}/" for t in targets)))
    made = table.table()
    found = rank_sites(made.graph, made.domains, tolerance)
    assert found.error <= tolerance
    by_name = dict(zip(made.graph.site_names.tolist(), found.ranks.tolist(), strict=True))
    hosts = dict.fromkeys(host for source, targets in links for host in (source, *targets))
    return {host: by_name[name_of_url(host)] for host in hosts}


def plainly(links: Links) -> dict[str, float]:
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


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.tuples(HOSTS, st.lists(HOSTS, max_size=6)), min_size=1, max_size=20))
def test_ranks_are_those_of_a_dense_solution(links: Links) -> None:
    true = plainly(links)
    assert ranks_of(links) == pytest.approx(true, abs=1e-10)
    for tolerance in (0.1, CONVERGED):
        found = ranks_of(links, tolerance)
        assert sum(abs(found[host] - true[host]) for host in true) <= tolerance


def test_a_domain_votes_once_for_a_host_however_many_pages_and_names_it_has() -> None:
    once = ranks_of([("a.test", ["b.test"]), ("c.test", ["d.test"])])
    often = ranks_of([("a.test", ["b.test"]), ("a.test", ["b.test", "b.test"]), ("c.test", ["d.test"])])
    names = ranks_of([(f"n{n}.a.test", ["b.test"]) for n in range(50)] + [("c.test", ["d.test"])])
    assert often == pytest.approx(once)
    assert names["b.test"] == pytest.approx(once["b.test"])


def test_links_inside_a_domain_say_nothing() -> None:
    inside = [(f"n{n}.a.test", ["www.a.test"]) for n in range(9)]
    assert list(ranks_of([*inside, ("n9.a.test", [])]).values()) == pytest.approx([1 / 11] * 11)


def test_no_site_has_no_ranks() -> None:
    assert ranks_of([]) == {}
