"""How much of the past a node remembers."""

from dht.wire.heartbeat_cache import HeartbeatCache


def test_the_latest_of_each_author_are_found_however_long_it_goes_on() -> None:
    cache = HeartbeatCache[int](each=3, most=100)
    for number in range(1000):
        for author in (b"a", b"b"):
            assert cache.find(author, number) is None
            cache.add(author, number, number)
    assert len(cache) == 6, "a small network needs a small table"
    assert [cache.find(b"a", number) for number in (996, 997, 999)] == [None, 997, 999]


def test_a_crowd_has_room_for_some_of_each() -> None:
    cache = HeartbeatCache[int](each=3, most=100)
    for number in range(4):
        for author in range(90):
            cache.add(bytes([author]), number, number)
    assert len(cache) <= 100
    assert cache.find(bytes([89]), 3) == 3 and cache.find(bytes([0]), 0) is None
