"""Sites are counted once for what they vote for, however many pages they have."""

from node.extras.web_report.sites import PageRow, sites_of, top_pages
from tests.node.extras.web_report.graphs import graph


def test_a_site_votes_once() -> None:
    links = [(0, 3), (1, 3), (2, 3), (4, 0), (0, 1)]
    found = graph(links, 5, [0, 0, 0, 1, 2])
    sites = sites_of(found)
    assert (sites.pages.tolist(), sites.linked_by.tolist(), sites.links_to.tolist()) == (
        [3, 1, 1],
        [1, 1, 0],
        [1, 0, 1],
    )
    assert sites.top() == [0, 1, 2]
    assert top_pages(found) == [PageRow(3, 1, 3), PageRow(0, 1, 1)]


def test_no_page_is_no_site() -> None:
    assert sites_of(graph([], 0)).top() == [] and top_pages(graph([], 0)) == []
