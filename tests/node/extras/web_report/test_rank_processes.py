"""Several processes come to the ranks of one, and leave no file behind, even where one of them dies."""

import os
import signal
from multiprocessing import active_children
from pathlib import Path

import numpy as np
import pytest

from node.errors import NothingToDo
from node.extras.web_report.page_rank import CONVERGED, InLinks, in_links
from node.extras.web_report.rank_processes import ranks_by, sweeper
from tests.node.extras.web_report.graphs import graph


@pytest.fixture(scope="module")
def links() -> InLinks:
    rng = np.random.default_rng(3)
    edges = np.stack([rng.integers(0, 1_500, 90_000), (2_000 * rng.random(90_000) ** 2).astype(int)], axis=1)
    return in_links(graph([(a, b) for a, b in edges.tolist()], 1_500))


def test_three_processes_come_to_the_ranks_of_one(links: InLinks, tmp_path: Path) -> None:
    one, three = ranks_by(1, links, tmp_path), ranks_by(3, links, tmp_path)
    assert max(one.error, three.error) <= CONVERGED
    assert 0 < np.abs(one.ranks - three.ranks).sum() <= one.error + three.error
    assert three.best(1) == one.best(1) and not list(tmp_path.iterdir())
    assert len(ranks_by(2, in_links(graph([], 0)), tmp_path).ranks) == 0


def test_a_process_that_dies_ends_the_computation_with_a_remedy(links: InLinks, tmp_path: Path) -> None:
    with pytest.raises(NothingToDo, match="give fewer"), sweeper(links, 2, tmp_path) as sweeps:
        os.kill(active_children()[0].pid or 0, signal.SIGKILL)
        while True:
            sweeps.sweep()
    assert not list(tmp_path.iterdir())
