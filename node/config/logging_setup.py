"""Sets up logging, once for the process: one event, one line, on standard error, in UTC."""

import logging
import sys
from datetime import UTC, datetime
from typing import TextIO

from dht import FaultSite, LocalFaults, refused, system_clock
from node.config.settings import LogLevel

log = logging.getLogger(__name__)

_FORMAT = "%(asctime)s %(levelname)-7s %(name)s %(message)s"


class _UtcFormatter(logging.Formatter):
    """Writes instants in ISO 8601 to the millisecond, and no line breaks: hostile input stays one line an event."""

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:
        return datetime.fromtimestamp(record.created, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"

    def formatMessage(self, record: logging.LogRecord) -> str:
        line = super().formatMessage(record)
        return "".join(character if character.isprintable() else f"\\x{ord(character):02x}" for character in line)


class _LineHandler(logging.StreamHandler[TextIO]):
    """Writes lines, and counts those that the stream refuses: a log on a full disk must not stop what it tells of."""

    def __init__(self, stream: TextIO, faults: LocalFaults) -> None:
        super().__init__(stream)
        self._faults, self._lost, self._is_telling = faults, 0, False

    def emit(self, record: logging.LogRecord) -> None:
        lost = self._lost
        super().emit(record)
        if self._lost == lost:
            self._faults.end(FaultSite.LOG)
        if self._lost == lost > 0:
            self._lost = 0
            log.warning("lines of this log were lost count=%d", lost)

    def handleError(self, record: logging.LogRecord) -> None:
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            super().handleError(record)
            return
        self._lost += 1
        if not self._is_telling:  # telling writes a line itself
            self._is_telling = True
            self._faults.begin(FaultSite.LOG, refused("the log", error))
            self._is_telling = False


def set_up_logging(level: LogLevel, stream: TextIO | None = None, faults: LocalFaults | None = None) -> None:
    """Send everything of `level` and above to `stream` (default: standard error), of chatty libraries only warnings.
    `faults`: who is told when the stream refuses a line."""
    handler = _LineHandler(stream or sys.stderr, faults or LocalFaults(system_clock))
    handler.setFormatter(_UtcFormatter(_FORMAT))
    logging.getLogger().handlers[:] = [handler]
    set_log_level(level)


def set_log_level(level: LogLevel) -> None:
    """Log everything of `level` and above from now on, of chatty libraries only warnings."""
    root = logging.getLogger()
    root.setLevel(level.upper())
    for noisy in ("asyncio", "aiohttp"):
        logging.getLogger(noisy).setLevel(max(logging.WARNING, root.level))
