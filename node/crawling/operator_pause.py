"""Says why the owner of this machine lets it fetch nothing just now, for itself or for others: a pause, or the hours.

Pure but for the clock that it is given. A pause with an end ends by itself; hours are those of the clock on the wall.
"""

from datetime import datetime, timedelta

from crawl import FetchHours
from dht import Clock


class OperatorPause:
    """Keeps the operator's pause and hours; whoever would fetch asks here first."""

    def __init__(self, hours: FetchHours, clock: Clock) -> None:
        self._hours, self._clock = hours, clock
        self._paused_until: float | None = None  # steady; None: not paused
        self._ends = ""  # for people

    def pause(self, for_s: float | None) -> None:
        """Fetch nothing for so many seconds or, where that is None, until `resume`."""
        self._paused_until = float("inf") if for_s is None else self._clock().steady + for_s
        self._ends = "" if for_s is None else f" until {_when(self._local(), for_s)}"

    def resume(self) -> None:
        """End the pause; the hours hold as before."""
        self._paused_until = None

    def reason(self) -> str:
        """Say why nothing may be fetched now, and until when; "" where it may."""
        if self._paused_until is not None and self._clock().steady < self._paused_until:
            return f"paused by its operator{self._ends}; `dse-node resume` ends that"
        return self._hours.closed(self._local().time())

    def _local(self) -> datetime:
        return datetime.fromtimestamp(self._clock().wall)


def _when(local: datetime, for_s: float) -> str:
    end = local + timedelta(seconds=for_s)
    return f"{end:%H:%M}" if end.date() == local.date() else f"{end:%Y-%m-%d %H:%M}"
