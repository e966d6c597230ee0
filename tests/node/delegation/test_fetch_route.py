"""The route of a fetch, over all small cases: no peer that refuses, the named one first, then live owners."""

from itertools import permutations

from dht import NodeId
from node.delegation.fetch_route import FetchRoute, fetch_route

ME, *PEERS = (NodeId(bytes([n]) * 20) for n in range(4))


def test_every_case_of_owners_preference_and_refusal() -> None:
    for count in range(5):
        for owners in permutations([ME, *PEERS], count):
            for named in (None, ME, *PEERS):
                for refusing in ((), (PEERS[0],), tuple(PEERS)):
                    for refused in ("", "why"):
                        way = fetch_route(ME, owners, named, refused, refusing.__contains__)
                        willing = {peer for peer in owners if peer != ME and peer not in refusing}
                        asked = {named} - {None, ME, *refusing}
                        assert way.refused == refused
                        assert set(way.peers) == (asked | willing if refused else asked)
                        assert named not in way.peers or way.peers[0] == named


def test_a_node_that_is_itself_preferred_or_alone_fetches_itself() -> None:
    assert fetch_route(ME, [ME, PEERS[0]], ME, "", lambda peer: False) == FetchRoute()
    assert fetch_route(ME, [ME], None, "mine", lambda peer: False) == FetchRoute((), "mine")
