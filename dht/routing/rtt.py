"""The estimator learns how long answers take, and so how long to wait for one before asking again.

Pure: numbers only. Smoothed round trip and mean deviation as in RFC 6298. The least timeout is that of a datagram, not
of a stream: a question asked twice costs one packet, and the second answer is ignored.
"""

from dataclasses import dataclass

TIMEOUT_FIRST_S = 0.5  # while nobody has answered yet
TIMEOUT_LEAST_S, TIMEOUT_MOST_S = 0.15, 3.0  # below the one a neighbour is merely busy; beyond the other nobody waits
DEVIATIONS = 4


@dataclass(slots=True)
class RttEstimator:
    """Estimates the round trip of one peer; `gain`: the weight of a new one, an eighth."""

    rtt_s: float = 0.0  # 0: nothing measured yet
    deviation_s: float = 0.0
    gain: float = 1 / 8

    @property
    def timeout_s(self) -> float:
        """Seconds to wait for an answer."""
        if not self.rtt_s:
            return TIMEOUT_FIRST_S
        return min(TIMEOUT_MOST_S, max(TIMEOUT_LEAST_S, self.rtt_s + DEVIATIONS * self.deviation_s))

    def took(self, rtt_s: float) -> None:
        """Take a measured round trip into the estimate."""
        if not self.rtt_s:
            self.rtt_s, self.deviation_s = max(rtt_s, 1e-6), rtt_s / 4  # RFC 6298: a half, as a first guess of streams
        else:
            self.deviation_s += (abs(rtt_s - self.rtt_s) - self.deviation_s) * 2 * self.gain
            self.rtt_s += (rtt_s - self.rtt_s) * self.gain
