"""Keeps the newest lines of the log in memory for the owner to see."""

import logging
from collections import deque
from dataclasses import dataclass

from node.views.safe_text import plain

LINES = 200
LINE_CHARS = 400


@dataclass(frozen=True, slots=True)
class LogLine:
    """Holds one line of the log; `at` is Unix seconds, `text` fit to be shown."""

    at: float
    level: str
    source: str
    text: str


class LogRing(logging.Handler):
    """Takes what is logged, and forgets the oldest."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: deque[LogLine] = deque(maxlen=LINES)

    def emit(self, record: logging.LogRecord) -> None:
        try:
            text = record.getMessage()
        except Exception:  # a line that does not fit its own arguments, as logging itself takes it
            text = str(record.msg)
        self._lines.append(LogLine(record.created, record.levelname, record.name, plain(text, LINE_CHARS)))

    def newest(self) -> list[LogLine]:
        """Return what is kept, newest first."""
        return list(reversed(self._lines))
