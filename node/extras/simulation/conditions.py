"""Says what a trial has to bear: how many nodes, for how long, and what befalls them.

Pure: values only.
"""

from dataclasses import dataclass
from random import Random

SPREAD = (0.5, 1.5)  # a session or an absence lasts its mean length times a number from this range
WHOLE_NODES = 200  # up to here whole nodes run; a larger trial is one of overlays alone, or it would take hours


@dataclass(frozen=True, slots=True)
class Conditions:
    """Holds what a trial is asked for. `churn`: mean seconds of a session and of the absence after it. `partition`:
    seconds from the start to a cut into two halves, and its length. `nat`: share of nodes behind a NAT."""

    nodes: int
    hours: float
    seed: int
    loss: float = 0.0
    churn: tuple[float, float] | None = None
    partition: tuple[float, float] | None = None
    nat: float = 0.0

    @property
    def ends_s(self) -> float:
        """Return when the trial ends, in seconds of virtual time."""
        return self.hours * 3600.0

    def hidden(self) -> frozenset[int]:
        """Return the numbers of the nodes behind a NAT; never the first, where the others begin."""
        rng = Random(f"nat {self.seed}")
        return frozenset(rng.sample(range(1, self.nodes), min(self.nodes - 1, round(self.nat * self.nodes))))

    def halves(self) -> dict[int, int]:
        """Return on which side of the cut each node is, by number."""
        order = list(range(self.nodes))
        Random(f"cut {self.seed}").shuffle(order)
        return {number: place % 2 for place, number in enumerate(order)}
