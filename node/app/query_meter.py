"""Counts the queries that were asked at this node and how long their answers took; no word of any is kept.

Pure: times are arguments.
"""

from collections import deque
from typing import Any

KEPT = 200  # of the last answers, over which shares are taken


class QueryMeter:
    """Holds how many queries there were and how long the last ones took."""

    def __init__(self) -> None:
        self.asked = 0
        self._took_s: deque[float] = deque(maxlen=KEPT)

    def note(self, took_s: float) -> None:
        """Count one answered query."""
        self.asked += 1
        self._took_s.append(took_s)

    def json(self) -> dict[str, Any]:
        """Return the count since the start, and the time that half and 95 % of the last answers took, in ms."""
        took = sorted(self._took_s)

        def share(part: float) -> float | None:
            return round(took[int(part * (len(took) - 1) + 0.5)] * 1000, 1) if took else None

        return {"asked": self.asked, "p50_ms": share(0.5), "p95_ms": share(0.95)}
