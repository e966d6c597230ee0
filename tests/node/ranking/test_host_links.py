"""Links between hosts are counted by documents, and change only when the first comes or the last goes."""

from dht import Slot
from node.ranking.host_links import HostLinks

A, B = Slot(1), Slot(2)


def test_a_link_stays_until_its_last_document_goes() -> None:
    links = HostLinks()
    links.put(A, 1, "a.test", ["c.test", "b.test", "b.test"])
    assert links.votes(A) == {"a.test": ["b.test", "c.test"]} and links.take_changed([A, B]) == {A}
    links.put(A, 2, "a.test", ["b.test"])
    links.remove(A, 1)
    assert links.votes(A) == {"a.test": ["b.test"]} and links.take_changed([A]) == {A}
    links.put(A, 3, "a.test", ["b.test"])
    links.put(A, 2, "a.test", [])
    assert links.votes(A) == {"a.test": ["b.test"]} and links.take_changed([A]) == set(), "another document has it"
    links.remove(A, 3)
    assert links.votes(A) == {"a.test": []} and links.take_changed([B]) == set()
    assert links.take_changed([A]) == {A}
    links.drop(A)
    assert links.votes(A) == {} and links.take_changed([A]) == {A}


def test_what_is_beyond_the_bound_is_counted() -> None:
    links = HostLinks(most=3)
    links.put(A, 1, "a.test", ["b.test", "c.test"])
    links.put(B, 2, "d.test", ["b.test", "c.test"])
    assert links.votes(B) == {"d.test": ["b.test"]} and links.left_out == 1
    links.drop(A)
    links.put(B, 2, "d.test", ["b.test", "c.test"])
    assert links.votes(B) == {"d.test": ["b.test", "c.test"]}
