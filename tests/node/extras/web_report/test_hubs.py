"""Hubs and authorities: a star, a bipartite core, a farm of pages."""

from node.extras.web_report.hubs import hubs_and_authorities
from tests.node.extras.web_report.graphs import graph


def test_the_centre_of_a_star_is_the_hub_of_its_tips() -> None:
    hubs, authorities = hubs_and_authorities(graph([(0, n) for n in range(1, 6)], 1))
    assert [(each.node, each.score) for each in hubs] == [(0, 1.0)]
    assert [each.node for each in authorities] == [1, 2, 3, 4, 5]
    assert {round(each.score, 6) for each in authorities} == {1.0}


def test_a_core_outweighs_what_one_of_its_fans_links_to_besides() -> None:
    links = [(fan, centre) for fan in range(4) for centre in (10, 11, 12)]
    hubs, authorities = hubs_and_authorities(graph([*links, (3, 13), (4, 13)], 5))
    assert hubs[0].node == 3 and {each.node for each in hubs[:4]} == {0, 1, 2, 3}
    assert {each.node for each in authorities[:3]} == {10, 11, 12}
    assert authorities[3].node == 13 and authorities[3].score < 0.5


def test_a_site_of_a_thousand_pages_has_one_vote() -> None:
    core = [(fan, centre) for fan in range(4) for centre in (2000, 2001, 2002)]
    farm = [(page, target) for page in range(10, 1010) for target in (2003, 2004)]
    sites = [n if n < 10 else 10 if n < 1010 else n for n in range(2005)]
    _, authorities = hubs_and_authorities(graph([*core, *farm], 1010, sites))
    assert {each.node for each in authorities[:3]} == {2000, 2001, 2002}


def test_links_inside_a_site_make_nobody_a_hub() -> None:
    assert hubs_and_authorities(graph([(0, 1), (1, 0)], 2, [0, 0])) == ([], [])
    assert hubs_and_authorities(graph([], 0)) == ([], [])
