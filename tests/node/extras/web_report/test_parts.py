"""The parts of a graph: a ring, a bow-tie made by hand, a chain however long."""

from node.extras.web_report.parts import Parts, parts_of
from tests.node.extras.web_report.graphs import graph, ring


def test_a_ring_is_one_strong_part_and_a_broken_one_none() -> None:
    whole = parts_of(graph(ring(7), 7))
    assert (whole.core, whole.strong_parts, whole.largest, whole.weak_parts) == (7, 1, (7,), 1)
    broken = parts_of(graph(ring(7)[:-1], 7))
    assert (broken.core, broken.from_core, broken.strong_parts) == (1, 6, 7)


def test_each_part_of_a_bow_tie_is_found() -> None:
    core, entry, exit_, tube, hung, hanging, island, lone = range(4), 4, 5, 6, 7, 8, (9, 10), 11
    links = [
        *ring(len(core)),
        (entry, 0),
        (3, exit_),
        (entry, tube),
        (tube, exit_),
        (entry, hung),
        (hanging, exit_),
        island,
    ]
    assert parts_of(graph(links, lone + 1)) == Parts(
        core=4,
        to_core=1,
        from_core=1,
        tubes=1,
        tendrils=2,
        apart=3,
        strong_parts=9,
        largest=(4, 1, 1, 1, 1, 1, 1, 1, 1),
        weak_parts=3,
        largest_weak=9,
    )


def test_what_is_not_stored_is_no_part() -> None:
    parts = parts_of(graph([*ring(3), (0, 3), (1, 4)], 3))
    assert (parts.core, parts.from_core, parts.strong_parts) == (3, 0, 1)
    assert parts_of(graph([], 0)).strong_parts == 0


def test_a_long_chain_exhausts_nothing() -> None:
    size = 100_000
    chain = parts_of(graph(((n, n + 1) for n in range(size - 1)), size))
    assert (chain.core, chain.from_core, chain.strong_parts) == (1, size - 1, size)
