"""Bytes a second: over any span no more than the rate, the burst and what is being read; open fetches share alike."""

import heapq
from random import Random

from crawl.fetch.bandwidth_limit import BURST_S, LATE_S, BandwidthLimit

RATE = 100_000.0


def test_open_fetches_share_the_rate_alike_whatever_they_read() -> None:
    rng, bandwidth = Random(5), BandwidthLimit(RATE)
    most = bandwidth.piece_bytes(65_536)
    due = [(0.0, reader) for reader in range(8)]
    taken: list[tuple[float, int]] = []
    by_reader = [0] * 8
    while due[0][0] < 60.0:
        now, reader = heapq.heappop(due)
        size = most if reader < 4 else rng.randrange(most // 2, most + 1)
        taken.append((now, size))
        by_reader[reader] += size
        heapq.heappush(due, (now + bandwidth.take(size, now) + 1e-4, reader))
    assert 0.97 * RATE * 60 <= sum(by_reader) <= RATE * (60 + BURST_S) + 8 * most
    for start in range(0, 50, 5):
        within = sum(size for at, size in taken if start <= at < start + 10)
        assert within <= RATE * (10 + BURST_S) + 8 * most
    assert max(by_reader[:4]) < 1.1 * min(by_reader[:4])
    assert max(by_reader) < 1.6 * min(by_reader)


def test_no_fetch_begins_while_much_is_owed() -> None:
    bandwidth = BandwidthLimit(RATE)
    assert bandwidth.late_s(0.0) == 0.0
    assert bandwidth.take(int(RATE), 0.0) == 0.0, "a burst"
    assert bandwidth.take(int(LATE_S * RATE), 0.0) == LATE_S
    assert bandwidth.late_s(0.0) == 0.0
    bandwidth.take(int(RATE), 0.0)
    assert bandwidth.late_s(0.0) == 1.0
    assert bandwidth.late_s(1.5) == 0.0
    assert bandwidth.take(1, 1e6) == 0.0


def test_without_a_limit_nothing_waits() -> None:
    bandwidth = BandwidthLimit(0.0)
    assert (bandwidth.take(10**9, 0.0), bandwidth.late_s(0.0), bandwidth.piece_bytes(65_536)) == (0.0, 0.0, 65_536)
