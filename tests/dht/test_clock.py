"""The clocks of this machine, and half of one."""

from dht import Now, system_clock
from dht.clock import steady_of


def test_half_a_clock_says_the_same() -> None:
    before = system_clock()
    steady = steady_of(system_clock)()
    assert before.steady <= steady <= system_clock().steady
    assert steady_of(lambda: Now(7.0, 5.0))() == 5.0
