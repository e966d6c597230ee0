"""A relay is asked first only where it has proved that the direct way is what fails."""

from dht.keys import NodeId
from dht.reachability.broken_ways import AGAIN_MOST_S, AGAIN_S, FAILING_S, LIMIT, SILENT_S, BrokenWays

PEER = NodeId(b"p" * 20)


def test_one_silence_breaks_nothing_and_two_let_a_relay_try():
    ways = BrokenWays()
    ways.failed(PEER, 0.0)
    assert not ways.is_broken(PEER, 10.0)
    ways.failed(PEER, 0.1)
    assert not ways.is_broken(PEER, 0.2), "two questions of one moment are one"
    assert ways.is_broken(PEER, FAILING_S)
    ways.direct(PEER)
    assert not ways.is_broken(PEER, FAILING_S)


def test_the_direct_way_is_tried_again_after_longer_and_longer_times():
    ways, now, waits = BrokenWays(), 0.0, []
    for _ in range(8):
        ways.failed(PEER, now)
        ways.relayed(PEER, now)
        until = next(at for at in range(2000) if not ways.is_broken(PEER, now + at))
        waits.append(until)
        now += until
    assert waits[0] == AGAIN_S and waits == sorted(waits) and waits[-1] == AGAIN_MOST_S
    ways.direct(PEER)
    ways.failed(PEER, now)
    ways.relayed(PEER, now)
    assert ways.is_broken(PEER, now + AGAIN_S - 1) and not ways.is_broken(PEER, now + AGAIN_S)


def test_a_relay_that_was_not_needed_proves_nothing():
    ways = BrokenWays()
    ways.relayed(PEER, 0.0)
    assert not ways.is_broken(PEER, 0.0)


def test_a_relay_that_let_somebody_wait_is_silent_for_a_while_or_until_it_answers():
    ways = BrokenWays()
    ways.silent(PEER, 0.0)
    assert ways.is_silent(PEER, SILENT_S - 1) and not ways.is_silent(PEER, SILENT_S)
    ways.answered(PEER)
    assert not ways.is_silent(PEER, 1.0)


def test_what_is_remembered_is_bounded():
    ways = BrokenWays()
    for n in range(2 * LIMIT):
        peer = NodeId(n.to_bytes(20, "big"))
        ways.failed(peer, 0.0)
        ways.relayed(peer, 0.0)
    known = sum(ways.is_broken(NodeId(n.to_bytes(20, "big")), 1.0) for n in range(2 * LIMIT))
    assert known == LIMIT
