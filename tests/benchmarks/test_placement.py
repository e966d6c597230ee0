"""The ways of the sources place as their descriptions say, and ours by the real keys and owners."""

import numpy as np
import pytest

from benchmarks.placement import (
    SLOTS,
    Web,
    deviation,
    host_hash,
    made_up,
    moved,
    path_hash,
    rows,
    slot_table,
)


@pytest.fixture(scope="module")
def web() -> Web:
    return Web(made_up(30_000, 1), 1)


def test_the_hash_functions_fold_as_the_paper_says() -> None:
    a, b = ord("a") & 127, ord("b") & 127
    assert host_hash("aab") == a << 14 | a << 7 | b
    assert host_hash("aab" * 2) == (2 * (a << 14 | a << 7 | b)) % (2**21 - 1), "carries are added back"
    a, b = ord("a") & 31, ord("b") & 31
    assert path_hash("aab") == a << 10 | a << 5 | b
    assert path_hash("aabaab") == 0


def test_a_table_of_slots_gives_each_node_its_share_and_moves_one_share_alone() -> None:
    for nodes in (1, 2, 5, 16):
        counts = np.bincount(slot_table(nodes), minlength=nodes)
        assert counts.max() - counts.min() <= nodes
        assert np.mean(slot_table(nodes) != slot_table(nodes + 1)) == pytest.approx(1 / (nodes + 1), abs=nodes / SLOTS)


def test_pages_by_path_are_spread_more_evenly_than_hosts_are(web: Web) -> None:
    assert deviation(web.by_path(7), 7) < deviation(web.ours(7), 7) < deviation(web.by_folded_host(7), 7)


def test_our_way_moves_little_where_a_hash_modulo_n_moves_nearly_all(web: Web) -> None:
    assert moved(web.ours, 8) < 2 / 8
    assert moved(web.by_host, 8) > 0.7


def test_all_ways_place_each_page_on_a_node_and_one_node_has_all(web: Web) -> None:
    for of in (web.by_host, web.by_slot_table, web.by_path, web.by_folded_host, web.ours):
        assert set(of(1)) == {0}
        assert set(of(5)) == set(range(5))
    assert all(each.ours is not None for each in rows([web]))
