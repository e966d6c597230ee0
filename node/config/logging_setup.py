"""Sets up logging, once for the process: one event, one line, on standard error, in UTC."""

import logging
import sys
from datetime import UTC, datetime
from typing import TextIO

from node.config.settings import LogLevel

_FORMAT = "%(asctime)s %(levelname)-7s %(name)s %(message)s"


class _UtcFormatter(logging.Formatter):
    """Writes instants in ISO 8601 to the millisecond, and no line breaks: hostile input stays one line an event."""

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:
        return datetime.fromtimestamp(record.created, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"

    def formatMessage(self, record: logging.LogRecord) -> str:
        line = super().formatMessage(record)
        return "".join(character if character.isprintable() else f"\\x{ord(character):02x}" for character in line)


def set_up_logging(level: LogLevel, stream: TextIO | None = None) -> None:
    """Send everything of `level` and above to `stream` (default: standard error), of chatty libraries only warnings."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(_UtcFormatter(_FORMAT))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for noisy in ("asyncio", "aiohttp"):
        logging.getLogger(noisy).setLevel(max(logging.WARNING, root.level))
