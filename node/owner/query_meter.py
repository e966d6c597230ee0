"""Counts the queries that were asked at this node and how long their answers took; no word of any is kept.

Pure: times are arguments.
"""

from collections import deque
from collections.abc import Iterable

from node.api.status import Queries

KEPT = 200  # of the last answers, over which shares are taken


class QueryMeter:
    """Holds how many queries there were and how long the last ones took."""

    def __init__(self) -> None:
        self.asked = 0
        self._took_s: deque[float] = deque(maxlen=KEPT)
        self._step: deque[float] = deque(maxlen=KEPT)  # since `step` was called last
        self._stepped = 0

    def note(self, took_s: float) -> None:
        """Count one answered query."""
        self.asked += 1
        self._took_s.append(took_s)
        self._step.append(took_s)

    def state(self) -> Queries:
        """Return the count since the start, and the time that half and 95 % of the last answers took, in ms."""
        took = self._took_s
        return Queries(asked=self.asked, p50_ms=_share_ms(took, 0.5), p95_ms=_share_ms(took, 0.95))

    def step(self) -> tuple[int, float | None, float | None]:
        """Return how many were asked since this was called last, and the time that half and 95 % of their answers took,
        in ms; None where there were none."""
        found = self.asked - self._stepped, _share_ms(self._step, 0.5), _share_ms(self._step, 0.95)
        self._stepped = self.asked
        self._step.clear()
        return found


def _share_ms(took_s: Iterable[float], part: float) -> float | None:
    took = sorted(took_s)
    return round(took[int(part * (len(took) - 1) + 0.5)] * 1000, 1) if took else None
