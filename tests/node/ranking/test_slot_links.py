"""Links are kept once each, and no more than there is room for."""

from dht import Slot
from node.ranking.slot_links import SlotLinks

A, B = Slot(1), Slot(2)


def kept(links: SlotLinks, slot: Slot) -> dict[int, list[int]]:
    return {page: list(found) for page, found in links.of(slot)}


def test_a_document_that_comes_again_replaces_itself() -> None:
    links = SlotLinks()
    assert links.put(A, 10, 7, [3, 4, 3])
    assert not links.put(A, 10, 7, [3, 4]), "nothing changed"
    assert links.put(A, 11, 7, [])
    assert (kept(links, A), links.links, links.sites(A)) == ({10: [3, 4], 11: []}, 2, 1)
    assert links.put(A, 10, 8, [5])
    assert (kept(links, A), links.links, links.sites(A)) == ({10: [5], 11: []}, 1, 2)
    assert links.remove(A, 10) and not links.remove(A, 10)
    assert links.has(A, 11) and not links.has(A, 10)


def test_what_is_beyond_the_bound_is_counted_until_there_is_room() -> None:
    links = SlotLinks(most_links=3)
    links.put(A, 10, 7, [1, 2])
    links.put(B, 20, 7, [1, 2, 3])
    assert (kept(links, B), links.links, links.left_out) == ({20: [1]}, 3, 2)
    links.drop(A)
    links.put(B, 20, 7, [1, 2, 3])
    assert (kept(links, B), links.links, links.left_out) == ({20: [1, 2, 3]}, 3, 0)
    links.remove(B, 20)
    assert links.links == 0
