"""A twin goes on signing; what an earlier run left behind comes for a moment and is no twin."""

from dht.membership.twin_watch import AT_LEAST_S, TIMES, WITHIN_S, TwinWatch
from dht.wire.contact import Endpoint

THERE = (Endpoint("10.0.0.7", 8091, 8091),)


def test_heartbeats_of_an_earlier_run_however_many_are_no_twin() -> None:
    watch = TwinWatch()
    for n in range(100):
        watch.heard(THERE, n * (AT_LEAST_S - 0.1) / 100)
    assert not watch.is_there(AT_LEAST_S) and watch.warnings(AT_LEAST_S) == ()
    for n in range(100):  # one now and then, each time somebody comes back who knows a later one
        watch.heard(THERE, 100.0 + n * (WITHIN_S + 1.0))
        assert not watch.is_there(100.0 + n * (WITHIN_S + 1.0))


def test_a_twin_is_named_with_its_address_and_forgotten_a_minute_after_it_stopped() -> None:
    watch = TwinWatch()
    for n in range(TIMES + 4):
        watch.heard(THERE, 2.0 * n)
    last = 2.0 * (TIMES + 3)
    assert watch.is_there(last)
    (told,) = watch.warnings(last)
    assert "10.0.0.7 port 8091" in told and "dse-node init" in told
    assert not watch.is_there(last + WITHIN_S + 0.1)
