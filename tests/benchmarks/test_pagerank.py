"""A made-up web is what it says, and its ranks by one process and by several are those of a power iteration."""

import numpy as np
import pytest

from benchmarks.pagerank import __main__ as command
from benchmarks.pagerank.by_processes import compute
from benchmarks.pagerank.made_up_web import MadeUpWeb, make_up
from benchmarks.pagerank.reference import power_iteration
from node.extras.web_report.page_rank import CONVERGED, in_links


@pytest.fixture(scope="module")
def web() -> MadeUpWeb:
    return make_up(1, sites=200, pages=3_000, links=20_000)


def test_a_web_is_the_same_for_the_same_seed_and_has_each_link_once(web: MadeUpWeb) -> None:
    again = make_up(1, sites=200, pages=3_000, links=20_000)
    assert np.array_equal(web.targets, again.targets) and np.array_equal(web.site, again.site)
    links = set(zip(web.sources.tolist(), web.targets.tolist(), strict=True))
    assert len(links) == len(web.targets) >= 15_000
    assert all(source != target for source, target in links)
    inside = web.site[web.sources] == web.site[web.targets]
    assert 0.7 < inside.mean() < 0.95
    assert (np.diff(web.starts) == 0).mean() > 0.04


@pytest.mark.parametrize("processes", [1, 2])
def test_ranks_are_those_of_a_power_iteration(web: MadeUpWeb, processes: int) -> None:
    found = compute(in_links(web.graph()), processes)
    true = power_iteration(web.sources, web.targets, len(web.site))
    assert np.abs(found.ranks.ranks - true).sum() <= found.ranks.error <= CONVERGED
    assert found.worker_bytes > 0 < found.cpu_s


@pytest.mark.prove
def test_the_command_prints_its_goals(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--quick"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("pagerank, commit") and "a report by 4, wall" in told
