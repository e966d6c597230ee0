"""One event, one line, whatever is logged."""

import io
import logging
import re
from collections.abc import Iterator

import pytest

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
