"""Breaks the circuit to a host that does not answer: it is left alone for a while, then asked once, then left longer.

Pure: `now` is steady time in seconds, chance an argument. *Closed*: requests go as politeness lets them. After so many
failures in a row it is *open*: none goes until its time is over. Then it is *half-open*: one request goes (a host never
has two open), and its answer closes the breaker, or another failure opens it for twice as long. Waits are spread by
chance, so that many hosts that failed together do not return together. Source: Nygard 2007, Release It!, chapter 5.
"""

from dataclasses import dataclass
from random import Random

JITTER = 0.25  # of each wait: enough to spread what one broken cable threw together


@dataclass(slots=True)
class CircuitBreaker:
    """Decides when one host may be asked again after it failed to answer.

    `fails`: failures in a row; `opened`: how often it has opened in a row; `until`: open so long, steady seconds."""

    fails: int = 0
    opened: int = 0
    until: float = 0.0
    reason: str = ""

    @property
    def is_open(self) -> bool:
        """Tell whether the breaker is open or half-open: the host has not answered since it opened."""
        return self.opened > 0

    def failed(self, now: float, reason: str, most_fails: int, first_s: float, most_s: float, rng: Random) -> float:
        """Count a failure; returns the seconds until the host may be asked again, 0.0 while it stays closed."""
        self.fails, self.reason = self.fails + 1, reason
        if self.fails < most_fails and not self.opened:
            return 0.0
        self.opened = min(self.opened + 1, 30)
        wait_s = min(first_s * 2.0 ** (self.opened - 1), most_s) * rng.uniform(1.0 - JITTER, 1.0)
        self.until = now + wait_s
        return wait_s

    def answered(self) -> None:
        """Close the breaker, because the host has answered."""
        self.fails, self.opened, self.until, self.reason = 0, 0, 0.0, ""
