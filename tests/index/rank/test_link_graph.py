"""A graph has each link that counts, once."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from index.rank.link_graph import LinkGraph, build_graph

HIGH = 1 << 63  # with one slot bit, numbers from here on lie in slot 1


def links_in(graph: LinkGraph) -> set[tuple[int, int]]:
    numbers = graph.numbers.tolist()
    found = [
        (numbers[source], numbers[row])
        for row in range(len(graph.starts) - 1)
        for source in graph.sources[graph.starts[row] : graph.starts[row + 1]]
    ]
    assert len(found) == len(set(found))
    return set(found)


def links_out(graph: LinkGraph) -> set[tuple[int, int]]:
    numbers, border = graph.numbers.tolist(), graph.border
    return {
        (numbers[source], target)
        for n, target in enumerate(border.targets.tolist())
        for source in border.sources[border.starts[n] : border.starts[n + 1]]
    }


def test_links_to_itself_and_repeated_ones_do_not_count() -> None:
    graph = build_graph([(1, [2, 2, 1, 3]), (2, [2]), (3, [])])
    assert links_in(graph) == {(1, 2), (1, 3)}
    degrees = dict(zip(graph.numbers.tolist(), graph.degrees.tolist(), strict=True))
    assert degrees == {1: 2, 2: 0, 3: 0}


def test_a_target_that_nobody_fetched_is_a_page() -> None:
    graph = build_graph([(1, [9])])
    assert sorted(graph.numbers.tolist()) == [1, 9]
    assert graph.is_own.all()


def test_redirects_are_followed_to_their_end_and_are_no_pages() -> None:
    graph = build_graph([(1, [5, 7, 4]), (2, [5]), (5, [1])], aliases={5: 6, 6: 7})
    assert links_in(graph) == {(1, 7), (1, 4), (2, 7)}
    assert sorted(graph.numbers.tolist()) == [1, 2, 4, 7]


def test_a_link_to_an_alias_of_its_own_page_does_not_count() -> None:
    assert links_in(build_graph([(1, [5]), (2, [1])], aliases={5: 1})) == {(2, 1)}


def test_a_link_that_leads_round_in_a_circle_or_on_and_on_does_not_count() -> None:
    endless = {100 + n: 101 + n for n in range(20)}
    graph = build_graph([(1, [5, 100, 9]), (2, [8])], known=[5, 7], aliases={5: 6, 6: 5, 8: 8, **endless})
    assert links_in(graph) == {(1, 9)}
    told = zip(graph.numbers.tolist(), graph.degrees.tolist(), graph.is_alias.tolist(), strict=True)
    assert sorted(told) == [(1, 1, False), (2, 0, False), (5, 0, True), (7, 0, False), (9, 0, False)]


def test_hubs_come_first() -> None:
    graph = build_graph([(n, [50, 60] if n % 2 else [60]) for n in range(10)])
    assert graph.numbers.tolist()[:2] == [60, 50]


def test_links_that_leave_the_slot_lie_in_its_border() -> None:
    graph = build_graph(
        [(1, [2, HIGH + 4, HIGH + 4]), (2, [HIGH + 4, HIGH + 3])], known=[7, HIGH + 9], slot=0, slot_bits=1
    )
    assert links_in(graph) == {(1, 2)}
    assert links_out(graph) == {(1, HIGH + 4), (2, HIGH + 4), (2, HIGH + 3)}
    assert graph.border.targets.tolist() == [HIGH + 3, HIGH + 4]
    assert graph.border.slots.tolist() == [1, 1]
    own = dict(zip(graph.numbers.tolist(), graph.is_own.tolist(), strict=True))
    assert own == {1: True, 2: True, 7: False}


def test_links_beyond_the_bound_are_told() -> None:
    graph = build_graph([(1, [2, 3, 4]), (2, [5, 6])], most_links=4)
    assert (len(links_in(graph)), graph.left_out) == (4, 1)


def _spread(page: int) -> int:
    return page >> 4 << 62 | page  # over four slots


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.dictionaries(st.integers(0, 63), st.lists(st.integers(0, 63), max_size=9), max_size=20))
def test_slots_have_all_links_of_the_whole(links: dict[int, list[int]]) -> None:
    spread = {_spread(page): [_spread(target) for target in found] for page, found in links.items()}
    whole, parts = build_graph(spread.items()), set[tuple[int, int]]()
    for slot in range(4):
        here = {page: found for page, found in spread.items() if page >> 62 == slot}
        graph = build_graph(here.items(), slot=slot, slot_bits=2)
        parts |= links_in(graph) | links_out(graph)
        assert np.array_equal(graph.is_linking, graph.degrees > 0)
    assert parts == links_in(whole)
