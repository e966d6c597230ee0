"""One event, one line, whatever is logged."""

import errno
import io
import logging
import re
from collections.abc import Iterator

import pytest

from dht import FaultSite, LocalFaults, Now
from node.config.logging_setup import set_up_logging


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def test_lines_have_a_utc_time_a_level_and_no_breaks() -> None:
    stream = io.StringIO()
    set_up_logging("info", stream)
    logging.getLogger("crawl.fetch.fetcher").info("page refused url=%s", "http://a.test/\n2026 INFO forged\x1b[31m")
    logging.getLogger("crawl.fetch.fetcher").debug("not at this level")
    lines = stream.getvalue().splitlines()
    assert len(lines) == 1
    assert re.match(
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z INFO    crawl\.fetch\.fetcher page refused url=http", lines[0]
    )
    assert "\x1b" not in lines[0]


class _Full(io.StringIO):
    """A stream on a disk that may be full."""

    is_full = False

    def write(self, text: str) -> int:
        if self.is_full:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(text)


def test_a_log_on_a_full_disk_stops_nothing_and_says_later_what_was_lost() -> None:
    now = Now(1000.0, 0.0)
    stream, faults = _Full(), LocalFaults(lambda: now)
    set_up_logging("info", stream, faults)
    log = logging.getLogger("node.process.run_node")
    log.info("before")
    stream.is_full = True
    for _ in range(3):
        log.info("lost")
    (fault,) = faults.present()
    assert fault.site == FaultSite.LOG and "free some space" in fault.remedy
    stream.is_full = False
    log.info("after")
    now = Now(1060.0, 60.0)
    assert faults.present() == ()
    text = stream.getvalue()
    assert "lost\n" not in text and "lines of this log were lost count=4" in text, "with the line about the fault"
    assert text.index("before") < text.index("after")
