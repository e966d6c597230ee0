"""The overlay's measurements on networks small enough for a test: what they say is so."""

import pytest

from benchmarks.overlay import balance, crowd, cuts, doubles, leases, lookups, stock
from node.extras.simulation.scripted_fetch import Visited


@pytest.mark.prove
def test_ours_and_the_stock_package_are_measured_on_the_same_network():
    ours, (p50, p95) = lookups.looked_up(1, 30, nodes=80), stock.looked_up(1, nodes=80)
    assert 100 < ours.p50 <= ours.p95 < 600
    assert 100 < p50 <= p95 < 2_000
    dead, (p50, _) = lookups.looked_up(1, 30, nodes=80, dead=0.3), stock.looked_up(1, nodes=80, dead=0.3)
    assert dead.p50 < 1_000 < 5_000 < p50, "the stock package waits five seconds for each of the dead"


def test_half_of_the_nodes_may_die_and_the_newest_version_is_read():
    assert lookups.gets_right(1, 0.5, 10, nodes=80) == 1.0


@pytest.mark.prove
def test_a_crowd_of_fifty_is_measured():
    lived = crowd.live(1, 40)
    assert 0 < lived.heartbeats < 5
    assert lived.spread_s < 20
    assert lived.owners == 1.0
    assert 0 <= lived.teams[5] <= 1
    assert 0 < crowd.lookup_packets(1, 30) < 2


@pytest.mark.prove
def test_leases_of_sixty_nodes_are_measured():
    found = leases.leased(1, 60)
    assert found.covered == 1.0 and found.doubles == 0
    assert 0 < found.packets["leases"] < 2
    assert len(found.taken_s) > 10 and max(found.taken_s) < 45


def test_a_cut_heals():
    assert cuts.joined_again(1, 16, 120.0) <= 60


def test_double_fetches_across_a_cut_are_counted_by_side_and_time():
    log = [
        Visited(node, f"http://a.test/{page}", at, at + 1.0)
        for node, page, at in (("n0", "x", 1.0), ("n2", "x", 2.0), ("n2", "y", 11.0), ("n0", "y", 12.0))
    ]
    log += [Visited("n2", f"http://a.test/{page}", at, at + 1.0) for page, at in (("z", 13.0), ("u", 55.0))]
    log += [Visited("n0", "http://a.test/robots.txt", 14.0, 15.0), Visited("n0", "http://a.test/z", 51.0, 52.0)]
    log.append(Visited("n1", "http://a.test/z", 52.0, 53.0, is_second_look=True))
    assert doubles.count(log, {"n0"}, 10.0, 20.0) == doubles.Doubled(both=1, smaller=1, late=1, after=1)


@pytest.mark.prove
def test_both_sides_of_a_cut_crawl_and_nothing_is_fetched_twice_after_it():
    found = doubles.doubled(1, 6, 40.0)
    assert 0 < found.both <= found.smaller and found.late == 0 < found.after


def test_spreading_and_placement_move_what_they_should():
    assert balance.max_over_mean(1, 100, spread=True, quick=True) < balance.max_over_mean(
        1, 100, spread=False, quick=True
    )
    assert balance.depth_for(0.089, 16) > 0 == balance.depth_for(0.001, 16)
    assert 0.3 < balance.moved_by_doubling(1, 20) < 0.5
    assert 0 < balance.moved_by_join(1, 20) < 0.3
