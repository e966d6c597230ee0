"""Sites are counted once for what they vote for, however many pages they have."""

from node.extras.web_report.sites import PageRow, sites_of, top_pages, votes_of
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


def test_votes_leave_navigation_out_and_bound_each_site() -> None:
    """Site 0 has 30 pages, site 1 has 4, site 2 one.

    Node 35 stands on 20 pages of site 0: navigation. Node 36 stands on 12 of them, on 2 of site 1 and that of site 2:
    10 + 2 + 1. Node 37 stands on 3 of the 4 pages of site 1, navigation, and on that of site 2: 1."""
    links = [(page, 35) for page in range(20)] + [(page, 36) for page in (*range(12), 30, 31, 34)]
    links += [(page, 37) for page in (30, 31, 32, 34)]
    web = graph(links, 35, [0] * 30 + [1] * 4 + [2] + [3, 4, 5])
    assert votes_of(web)[35:].tolist() == [0, 13, 1] and not votes_of(web)[:35].any()


def test_a_web_without_links_has_no_votes() -> None:
    assert votes_of(graph([], 2)).tolist() == [0, 0]
