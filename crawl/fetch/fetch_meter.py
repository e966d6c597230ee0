"""Counts what fetches cost and bring: bytes, answers, their latency, look-ups of names, open connections.

Pure: values in, counts and figures out. Counting costs a fetch a few additions; figures are computed by the step.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from math import nan

KEPT = 4096  # latencies of one step; of more, the newest count
FETCH_CLASSES = ("failed", "1xx", "2xx", "3xx", "4xx", "5xx")  # of answers


@dataclass(frozen=True, slots=True)
class FetchLoad:
    """Holds what fetches were like in one step; NaN stands for a step without any.

    `answers_min`: a minute, by class of status."""

    in_bytes_s: float
    out_bytes_s: float
    p50_ms: float
    p95_ms: float
    dns_ms: float  # of a look-up, the mean
    answers_min: Mapping[str, float]


class FetchMeter:
    """Holds counts since the start."""

    def __init__(self) -> None:
        self.bytes_in = self.bytes_out = 0  # inside of TLS
        self.connections = 0  # open now, in use or kept
        self.lookups, self.lookups_s = 0, 0.0  # of names that were not known, and how long these took
        self.answers = [0] * len(FETCH_CLASSES)
        self._latencies_s: deque[float] = deque(maxlen=KEPT)  # of the step
        self._before: tuple[float, ...] = (0.0,) * (4 + len(FETCH_CLASSES))

    def note_answer(self, status: int, latency_s: float) -> None:
        """Count an answer, which took so long up to its last byte."""
        kind = status // 100
        self.answers[kind if 0 < kind < len(FETCH_CLASSES) else 0] += 1
        self._latencies_s.append(latency_s)

    def note_failure(self) -> None:
        """Count a fetch without a usable answer."""
        self.answers[0] += 1

    def note_lookup(self, took_s: float) -> None:
        """Count a look-up of a name, which took so long; the time it waited for its turn counts."""
        self.lookups += 1
        self.lookups_s += took_s

    def step(self, passed_s: float) -> FetchLoad:
        """Return the load since the call before, which was so many seconds ago."""
        counts = (self.bytes_in, self.bytes_out, self.lookups, self.lookups_s, *self.answers)
        came_in, went_out, lookups, lookups_s, *answers = (
            now - before for now, before in zip(counts, self._before, strict=True)
        )
        self._before, latencies_s = counts, sorted(self._latencies_s)
        self._latencies_s.clear()
        return FetchLoad(
            in_bytes_s=came_in / passed_s,
            out_bytes_s=went_out / passed_s,
            p50_ms=_quantile(latencies_s, 0.5) * 1000,
            p95_ms=_quantile(latencies_s, 0.95) * 1000,
            dns_ms=lookups_s / lookups * 1000 if lookups else nan,
            answers_min={name: count / passed_s * 60 for name, count in zip(FETCH_CLASSES, answers, strict=True)},
        )


def _quantile(values: list[float], part: float) -> float:
    return values[int(part * (len(values) - 1) + 0.5)] if values else nan
