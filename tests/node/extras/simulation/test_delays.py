"""Round trips of pairs: lognormal, symmetric, fixed by the seed."""

from itertools import combinations
from math import log
from statistics import fmean, quantiles, stdev

from node.extras.simulation.delays import JITTER, Delays


def test_round_trips_are_lognormal_around_the_median():
    delays = Delays(3)
    rtts = [delays.rtt_s(a, b) for a, b in combinations(range(150), 2)]
    assert abs(quantiles(rtts, n=2)[0] - 0.05) < 0.002
    assert abs(stdev(log(rtt) for rtt in rtts) - 0.5) < 0.02
    assert abs(quantiles(rtts, n=20)[-1] - 0.114) < 0.006  # exp(0.5 · 1.645) · 50 ms


def test_a_pair_is_as_far_both_ways_and_in_every_run_and_pairs_of_one_place_differ():
    assert Delays(3).rtt_s(4, 9) == Delays(3).rtt_s(9, 4) != Delays(4).rtt_s(4, 9)
    delays = Delays(5)
    means = [fmean(delays.rtt_s(a, b) for b in range(200) if b != a) for a in range(20)]
    assert max(means) < 1.25 * min(means), "no place is near or far as a whole"


def test_jitter_moves_a_packet_by_a_tenth_at_most():
    delays = Delays(3)
    half = delays.rtt_s(1, 2) / 2
    assert delays.one_way_s(1, 2, 0.0) == half * (1 - JITTER)
    assert abs(delays.one_way_s(2, 1, 1.0) - half * (1 + JITTER)) < 1e-12
