"""A list of sites is read as people write it, and held against what is stored."""

import pytest

from node.captures.capture import Capture
from node.extras.web_report.link_table import LinkTable
from node.extras.web_report.site_list import ListCoverage, ListedSite, list_coverage, read_list
from node.extras.web_report.sites import sites_of


def test_known_and_fetched_sites_are_told_apart() -> None:
    table = LinkTable()
    for n in range(3):
        table.add(Capture(f"http://a.test/{n}", 0.0, 200, (), b"", b"", links=("http://b.test/",)))
    web = table.table()
    listed = read_list("# sites\nA.test\n\nhttps://b.test/any/page\nc.test\na.test\n")
    found = list_coverage(listed, web.graph, sites_of(web.graph))
    rows = (ListedSite("a.test", True, 3), ListedSite("b.test", True, 0), ListedSite("c.test", False, 0))
    assert found == ListCoverage(3, 2, 1, 3, rows)


def test_nothing_is_known_where_nothing_is_stored() -> None:
    web = LinkTable().table()
    assert list_coverage(["a.test"], web.graph, sites_of(web.graph)).known == 0


def test_a_line_that_names_no_site_is_named() -> None:
    with pytest.raises(ValueError, match="line 2 names no site: 'a b'"):
        read_list("a.test\na b\n")
