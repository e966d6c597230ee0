"""The newest lines of the log, bounded and fit to be shown."""

import logging

from node.owner.log_ring import LINE_CHARS, LINES, LogRing


def test_the_newest_lines_are_kept_bounded_and_plain() -> None:
    ring, logger = LogRing(), logging.Logger("crawl.somewhere")
    logger.addHandler(ring)
    for n in range(LINES + 10):
        logger.warning("line %d", n)
    logger.error("a\nb\x1b[31m\u202e" + "x" * 10_000)
    logger.info("%d fits not", "this")
    lines = ring.newest()
    assert len(lines) == LINES and lines[2].text == f"line {LINES + 9}"
    assert lines[0].text == "%d fits not", "a line that cannot be written stops nothing"
    assert lines[1].level == "ERROR" and lines[1].source == "crawl.somewhere"
    assert lines[1].text.startswith("a b[31mx") and len(lines[1].text) <= LINE_CHARS
