"""Says how long packets take between simulated places: one round trip a pair, a little jitter at every packet.

Pure: numbers only. Round trips are lognormal around a median, drawn for each pair by itself, much as between hosts of
the Internet. A pair's value follows from the seed and the two numbers, so ten thousand places need no table of fifty
million pairs.
"""

from math import exp
from statistics import NormalDist

RTT_S = 0.05  # the median of the figures' network
SIGMA = 0.5  # of the logarithm: one pair in twenty has more than 114 ms
JITTER = 0.1  # of a packet's delay, either way
STEPS = 4096  # of the lognormal distribution, by equal probability
MASK = (1 << 64) - 1


class Delays:
    """Draws round trips between numbered places from a seed."""

    def __init__(self, seed: int, *, rtt_s: float = RTT_S, sigma: float = SIGMA) -> None:
        normal = NormalDist()
        self._salt = (seed * 0x9E3779B97F4A7C15) & MASK
        self._halves = [rtt_s / 2 * exp(sigma * normal.inv_cdf((n + 0.5) / STEPS)) for n in range(STEPS)]

    def rtt_s(self, a: int, b: int) -> float:
        """Return the round trip between two places in seconds, without jitter; it is the same both ways."""
        return 2 * self.one_way_s(a, b, 0.5)

    def one_way_s(self, a: int, b: int, chance: float) -> float:
        """Return the delay of one packet in seconds; `chance` in 0 … 1 is its jitter."""
        pair = (a << 32 | b) if a < b else (b << 32 | a)
        mixed = ((pair ^ self._salt) * 0xBF58476D1CE4E5B9) & MASK  # as splitmix64 ends, with one round
        mixed = ((mixed ^ mixed >> 31) * 0x94D049BB133111EB) & MASK
        return self._halves[mixed >> 52] * (1 - JITTER + 2 * JITTER * chance)
