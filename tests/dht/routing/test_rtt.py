"""Timeouts follow the answers, in bounds."""

from random import Random

from dht.routing.rtt import TIMEOUT_FIRST_S, TIMEOUT_LEAST_S, TIMEOUT_MOST_S, RttEstimator


def test_timeouts_follow_the_answers_within_their_bounds():
    timing = RttEstimator()
    assert timing.timeout_s == TIMEOUT_FIRST_S
    for _ in range(50):
        timing.took(0.001)
    assert timing.timeout_s == TIMEOUT_LEAST_S
    for _ in range(50):
        timing.took(0.4)
    assert 0.4 <= timing.timeout_s < 0.41
    timing.took(2.0)
    assert timing.timeout_s > 1.0, "one late answer is a warning"
    for _ in range(20):
        timing.took(9.0)
    assert timing.timeout_s == TIMEOUT_MOST_S


def test_nearly_all_answers_of_many_peers_come_in_time():
    rng, timing = Random(1), RttEstimator(gain=1 / 32)
    rtts = [0.05 * rng.lognormvariate(0, 0.5) for _ in range(4000)]
    late = 0
    for rtt in rtts:
        late += rtt > timing.timeout_s
        timing.took(rtt)
    assert 0 < late < 0.03 * len(rtts)
