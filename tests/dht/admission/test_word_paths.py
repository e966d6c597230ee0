"""Ways of words that share no node are counted as brute force counts them; circles behind few liars fall out."""

from itertools import combinations
from random import Random

from dht.admission.word_paths import WordPaths
from dht.keys import NodeId

Graph = dict[NodeId, list[NodeId]]


def node(number: int) -> NodeId:
    return NodeId(bytes([number]) * 20)


def reached(named_by: Graph, roots: set[NodeId], without: set[NodeId]) -> set[NodeId]:
    """To whom any way leads that passes through none of some nodes."""
    found = set(roots)
    while more := {x for x, names in named_by.items() if x not in without | found and found.intersection(names)}:
        found |= more
    return found


def least_cut(named_by: Graph, roots: set[NodeId], peer: NodeId) -> int:
    """How many nodes and words of roots must be taken away at least, so that no way leads to a peer."""
    direct = roots.intersection(named_by[peer])
    left = named_by | {peer: [each for each in named_by[peer] if each not in direct]}
    others = named_by.keys() - roots - {peer}
    for size in range(len(others) + 1):
        if any(peer not in reached(left, roots, set(cut)) for cut in combinations(others, size)):
            return len(direct) + size
    raise AssertionError


def test_as_many_ways_lead_to_a_peer_as_nodes_must_go_to_cut_it_off() -> None:
    for seed in range(150):
        rng = Random(seed)
        peers = [node(n) for n in range(rng.randrange(5, 9))]
        roots = set(peers[: rng.randrange(1, 4)])
        named_by = {peer: rng.sample([each for each in peers if each != peer], rng.randrange(4)) for peer in peers}
        for peer in peers[len(roots) :]:
            paths = WordPaths(named_by, dict.fromkeys(roots, True))
            assert paths.count(peer, 9) == least_cut(named_by, roots, peer), seed


def town(rng: Random, honest: int, made_up: int, liars: int) -> tuple[Graph, list[NodeId], list[NodeId]]:
    """Honest nodes, six of whom name each, and made-up ones that name each other; liars, the last ones, name those."""
    nodes = [NodeId(rng.randbytes(20)) for _ in range(honest)]
    ghosts = [NodeId(rng.randbytes(20)) for _ in range(made_up)]
    named_by = {each: rng.sample([other for other in nodes if other != each], 6) for each in nodes}
    named_by |= {each: rng.sample([g for g in ghosts if g != each], 5) + nodes[honest - liars :] for each in ghosts}
    return named_by, nodes, ghosts


def test_whom_two_liars_made_up_falls_out_and_all_others_stay() -> None:
    for honest in (8, 40, 200):
        named_by, nodes, ghosts = town(Random(honest), honest, 60, liars=2)
        wanted = dict.fromkeys([*nodes[3:], *ghosts], 3)
        roots = dict.fromkeys(nodes[:3], False)
        assert set(WordPaths(named_by, roots).unreached(wanted)) == set(ghosts)


def test_of_several_roots_one_that_lies_is_not_believed_alone_and_a_single_one_is() -> None:
    named_by, nodes, ghosts = town(Random(1), 20, 10, liars=1)
    roots, wanted = [nodes[0], nodes[-1]], dict.fromkeys([*nodes[1:-1], *ghosts], 3)
    assert set(WordPaths(named_by, dict.fromkeys(roots, False)).unreached(wanted)) == set(ghosts)
    assert not set(WordPaths(named_by, {nodes[-1]: True}).unreached(wanted)) & set(ghosts)
