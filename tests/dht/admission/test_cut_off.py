"""Peers that one node could have invented, against an oracle that takes out each node in turn."""

from random import Random

from dht.admission.cut_off import cut_off_by_one
from dht.keys import NodeId


def reached(names: dict[NodeId, list[NodeId]], starts: set[NodeId], without: NodeId | None) -> set[NodeId]:
    queue = [each for each in starts if each != without]
    for each in queue:
        queue += [peer for peer in names[each] if peer != without and peer not in queue]
    return set(queue)


def test_those_are_cut_off_that_are_not_reached_without_some_node() -> None:
    for seed in range(300):
        rng = Random(seed)
        nodes = [NodeId(rng.randbytes(20)) for _ in range(12)]
        names = {node: rng.sample(nodes, rng.randrange(4)) for node in nodes}
        starts = set(nodes[: rng.randrange(1, 4)])
        wanted = {
            peer
            for peer in nodes
            if peer not in starts
            and any(peer not in reached(names, starts, each) for each in (None, *nodes) if each != peer)
        }
        assert cut_off_by_one(names, starts) == wanted


def test_a_liar_cuts_off_whatever_it_invented_however_much_that_is() -> None:
    nodes = [NodeId(bytes([n]) * 20) for n in range(40)]
    honest, liar, ghosts = nodes[:10], nodes[9], nodes[10:]
    names = {node: [each for each in honest if each != node] for node in honest}
    names |= dict.fromkeys(ghosts, nodes)
    names[liar] = nodes
    assert cut_off_by_one(names, set(honest[:2])) == set(ghosts)
    assert cut_off_by_one(names, {liar, honest[0]}) == set(ghosts)
