"""Why a node must not fetch just now, whoever may want it to: its operator's pause and its hours.

Pure: instants are arguments, `steady` in seconds, `local` what the clock on the wall shows. A pause with an end ends by
itself; the others end when their causes do.
"""

from datetime import datetime, timedelta

from crawl import FetchHours


class OperatorPause:
    """What stands against fetching."""

    def __init__(self, hours: FetchHours) -> None:
        self._hours = hours
        self._paused_until: float | None = None  # steady; None: not paused
        self._ends = ""  # for people

    def pause(self, steady: float, local: datetime, for_s: float | None) -> str:
        """The operator pauses the node, for so long or (None) until told otherwise; when that ends, for people."""
        self._paused_until = float("inf") if for_s is None else steady + for_s
        self._ends = "" if for_s is None else f" until {_when(local, for_s)}"
        return self._ends

    def resume(self) -> None:
        self._paused_until = None

    def paused(self, steady: float) -> str:
        """Why and until when the operator's pause is in force, "" where none is."""
        if self._paused_until is None or steady >= self._paused_until:
            self._paused_until = None
            return ""
        return f"paused by its operator{self._ends}; `dse-node resume` ends that"

    def closed(self, local: datetime) -> str:
        """Why the hours forbid it, "" where they do not."""
        return self._hours.closed(local.time())


def _when(local: datetime, for_s: float) -> str:
    end = local + timedelta(seconds=for_s)
    return f"{end:%H:%M}" if end.date() == local.date() else f"{end:%Y-%m-%d %H:%M}"
