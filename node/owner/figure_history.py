"""Keeps the figures of a node for the owner's plots: the last hour in memory, a year in a file that outlasts restarts.

A row is the mean of the finer rows in it; a figure that is not known is NaN, and has no part in a mean. While the node
is off there are no rows.
"""

import asyncio
from array import array
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from math import isnan, nan
from operator import attrgetter
from pathlib import Path
from typing import Literal

from node.owner.figure_file import MINUTE_S, QUARTER_S, TEN_MINUTES_S, FigureFile, Row

Span = Literal["hour", "day", "month", "year"]
Series = Sequence[tuple[float, float]]

SPAN_S: dict[Span, float] = {"hour": 3600.0, "day": 86_400.0, "month": 30 * 86_400.0, "year": 365 * 86_400.0}
STEP_S = 10.0
STEPS = 360  # an hour
PER_MINUTE = 6
DAY_MINUTES = 1440
_STEPS_S: dict[Span, int] = {"day": MINUTE_S, "month": TEN_MINUTES_S, "year": QUARTER_S}


@dataclass(frozen=True, slots=True)
class Figures:
    """Holds what a node does and has at one moment; rates are of the step before it, and NaN stands for not known."""

    pages_per_s: float = nan
    queries_per_min: float = nan
    p50_ms: float = nan
    p95_ms: float = nan
    peers: float = nan  # live ones
    disk_bytes: float = nan
    copies: float = nan  # live ones of its slots, in the mean
    too_few: float = nan  # slots with fewer than the strategy asks for
    copying: float = nan  # slots that it copies in place of silent owners
    owed: float = nan  # copies that wait for their owners
    in_bytes_s: float = nan  # from sites
    out_bytes_s: float = nan  # to sites
    fetch_p50_ms: float = nan  # from a request to the last byte
    fetch_p95_ms: float = nan
    answers_2xx: float = nan  # a minute, like those below
    answers_3xx: float = nan
    answers_4xx: float = nan
    answers_5xx: float = nan
    answers_failed: float = nan  # fetches without a usable answer
    dns_ms: float = nan  # of a name that was not known, the mean
    connections: float = nan  # to sites, open
    unread: float = nan  # pages at the parsers


NAMES = tuple(field.name for field in fields(Figures))
_values_of = attrgetter(*NAMES)  # dataclasses.astuple copies each value: 30 times as dear


class FigureHistory:
    """Holds figures by STEP_S for an hour, and by coarser steps in a file. `path`: None keeps them in memory."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._hour: deque[array[float]] = deque(maxlen=STEPS)
        self._minute: list[array[float]] = []
        self._thread = ThreadPoolExecutor(1, "figures")  # begins with the first call
        self._opened: FigureFile | None = None  # used in that thread alone
        self.disk_of_day = deque[tuple[float, float]](maxlen=DAY_MINUTES)  # instants and bytes in use, by minutes
        self.fetched_of_day = 0.0  # pages, by the minutes that are kept of the last day

    def add(self, at: float, figures: Figures) -> None:
        """Take the figures of a step that ends at `at` (Unix seconds)."""
        row = array("d", (at, *_values_of(figures)))
        self._hour.append(row)
        self._minute.append(row)
        if len(self._minute) >= PER_MINUTE:
            self._thread.submit(self._keep, self._take_minute())

    async def recall(self, now: float) -> None:
        """Fill the hour with what the file has of it; called once, before the first step."""
        loop = asyncio.get_running_loop()
        rows = await loop.run_in_executor(self._thread, self._read, "day", now - SPAN_S["hour"])
        await loop.run_in_executor(self._thread, self._recall_day, now)
        for at, *values in rows:
            self._hour.extend(array("d", (at - before * STEP_S, *values)) for before in reversed(range(PER_MINUTE)))

    async def lines(self, span: Span, now: float) -> Mapping[str, Series]:
        """Return the instants and values of each figure over a span that ends now, oldest first."""
        rows: Sequence[Sequence[float]] = list(self._hour)
        if span != "hour":
            loop, since = asyncio.get_running_loop(), now - SPAN_S[span]
            rows = await loop.run_in_executor(self._thread, self._read, span, since)
        return {name: [(row[0], row[column]) for row in rows] for column, name in enumerate(NAMES, 1)}

    def close(self) -> None:
        """Write what is not written yet, and close the file."""
        if self._minute:
            self._thread.submit(self._keep, self._take_minute())
        if self._path is not None or self._opened is not None:
            self._thread.submit(lambda: self._file.close())
        self._thread.shutdown()

    def _take_minute(self) -> Row:
        means = map(_mean, zip(*(row[1:] for row in self._minute), strict=True))
        at = self._minute[-1][0]
        self._minute.clear()
        return at, *means

    @property
    def _file(self) -> FigureFile:
        self._opened = self._opened or FigureFile(self._path, NAMES)
        return self._opened

    def _keep(self, row: Row) -> None:
        self._file.write([row])
        self._note_disk(row)
        self._count(row[0] or 0.0)

    def _read(self, span: Span, since: float) -> list[list[float]]:
        rows = self._file.read(_STEPS_S[span], since)
        return [[nan if value is None else value for value in row] for row in rows]

    def _recall_day(self, now: float) -> None:
        for row in self._read("day", now - SPAN_S["day"]):
            self._note_disk(row)
        self._count(now)

    def _note_disk(self, row: Sequence[float | None]) -> None:
        at, used = row[0], row[1 + NAMES.index("disk_bytes")]
        if at is not None and used is not None and not isnan(used):
            self.disk_of_day.append((at, used))

    def _count(self, now: float) -> None:
        self.fetched_of_day = MINUTE_S * self._file.total("pages_per_s", now - SPAN_S["day"])


def _mean(values: Sequence[float]) -> float | None:
    known = [value for value in values if not isnan(value)]
    return sum(known) / len(known) if known else None
