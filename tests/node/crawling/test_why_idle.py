import pytest

from crawl import CrawlStatus
from node.crawling.why_idle import crawl_reason


def status(state: str, reason: str, slots: int) -> CrawlStatus:
    return CrawlStatus(state, reason, slots, 0, 0, 0, 0, 0, {}, 0.0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("crawl", "owned", "ready", "is_current", "clock", "line"),
    [
        (status("paused", "paused by its operator", 0), 0, 0, False, "", "paused by its operator"),
        (status("waiting", "all 3 due URLs wait", 4), 8, 8, True, "", "all 3 due URLs wait"),
        (status("idle", "no URL is known", 4), 8, 8, True, "", "no URL is known"),
        (status("idle", "no URL is known", 4), 8, 8, False, "", "still reading the known URLs"),
        (status("idle", "holds no lease", 0), 0, 0, True, "", "owns no slot"),
        (status("idle", "holds no lease", 0), 8, 0, True, "", "this node's 8 slots not ready yet"),
        (status("idle", "holds no lease", 0), 8, 8, True, "its clock is late; set it", "no lease; its clock is late"),
        (status("idle", "holds no lease", 0), 8, 8, True, "", "other nodes are crawling this node's 8 slots"),
    ],
)
def test_the_reason_that_matters(
    crawl: CrawlStatus, owned: int, ready: int, is_current: bool, clock: str, line: str
) -> None:
    assert line in crawl_reason(crawl, owned, ready, is_current, clock)
