"""The crawler is paused while anything stands against fetching, and goes on when nothing does."""

from types import SimpleNamespace

from crawl import CrawlConfig, CrawlControl, FetchHours, MirrorDetector
from dht import Now
from node.app.fetch_pause import FetchPause, last_room_bytes
from node.crawling.operator_pause import OperatorPause
from store import StoreConfig


def test_the_operator_comes_first_and_a_full_disk_lets_nothing_be_fetched_either() -> None:
    now, full = Now(1e6, 100.0), [""]
    control = CrawlControl(MirrorDetector(None, 1.0), lambda: now)  # type: ignore[arg-type]
    store = SimpleNamespace(no_room=lambda least: full[-1])
    operator = OperatorPause(FetchHours.parse(""), lambda: now)
    pause = FetchPause(CrawlConfig(), StoreConfig(), operator, store, control)  # type: ignore[arg-type]
    pause.step()
    assert control.pause_reason == pause.room_reason() == ""
    full.append("the quota is used up")
    pause.step()
    assert control.pause_reason == pause.room_reason() != ""
    assert "the quota is used up; raise store.quota_bytes" in control.pause_reason
    told = pause.set(True)
    assert control.pause_reason == told == "paused by its operator; `dse-node resume` ends that"
    assert pause.set(False) == "", "room alone is no reason to refuse what others order"
    assert control.pause_reason == pause.room_reason()


def test_two_of_the_largest_pages_always_fit() -> None:
    crawl = CrawlConfig()
    least = last_room_bytes(crawl, StoreConfig(quota_bytes=1 << 40))
    assert least == int((1 << 40) * 0.05)
    assert last_room_bytes(crawl, StoreConfig(quota_bytes=1 << 20)) == 2 * (
        crawl.max_body_bytes + 4 * crawl.max_text_chars
    )
