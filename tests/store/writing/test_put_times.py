"""When a peer that has not answered is late."""

from dht import NodeId
from store.writing.put_times import LEAST_S, MOST_S, REMEMBERED, UNKNOWN_S, PutTimes

NEAR, FAR, NEW = (NodeId(bytes([n]) * 20) for n in range(3))


def test_patience_follows_what_a_peer_takes_within_bounds() -> None:
    times = PutTimes()
    assert times.patience_s([NEW]) == UNKNOWN_S and times.patience_s([]) == LEAST_S
    for n in range(50):
        times.note(NEAR, 0.01)
        times.note(FAR, 0.40 + 0.05 * (n % 2))
    assert times.patience_s([NEAR]) == LEAST_S
    assert 0.45 < times.patience_s([FAR, NEAR]) < 0.6
    for _ in range(3):
        times.note(FAR, 5.0)
    assert times.patience_s([FAR]) == MOST_S
    for _ in range(30):
        times.note(FAR, 0.4)
    assert times.patience_s([FAR]) < 0.7, "forgotten after a while"


def test_one_put_that_took_long_makes_nobody_wait_for_the_peer_next_time() -> None:
    times = PutTimes()
    for _ in range(20):
        times.note(NEAR, 0.05)
    times.note(NEAR, 4.0)
    times.note(NEW, 4.0)
    assert times.patience_s([NEAR]) < 1.0 and times.patience_s([NEW]) <= 1.5
    for _ in range(3):
        times.note(NEW, 4.0)
    assert times.patience_s([NEW]) == MOST_S, "it is slow"


def test_only_so_many_peers_are_remembered() -> None:
    times = PutTimes()
    for _ in range(20):
        times.note(NEAR, 0.01)
    for n in range(REMEMBERED):
        times.note(NodeId(b"x" + n.to_bytes(19, "big")), 0.01)
    assert times.patience_s([NEAR]) == UNKNOWN_S
