"""Crawl control wakes the crawler once for each piece of news, and measures how long it has been paused."""

from crawl.frontier.mirror_alias import AliasEvidence, MirrorAlias
from crawl.frontier.mirror_detector import MirrorDetector
from crawl.pipeline.crawl_control import LONG_PAUSE_S, CrawlControl
from dht import Now

OLD, NEW = "https://old.test/", "https://new.test/"


class Clock:
    def __init__(self) -> None:
        self.steady = 100.0

    def __call__(self) -> Now:
        return Now(1e9 + self.steady, self.steady)


def control(clock: Clock) -> CrawlControl:
    return CrawlControl(MirrorDetector(), clock)


def woken(told: CrawlControl) -> bool:
    is_set = told.changed.is_set()
    told.changed.clear()
    return is_set


def test_a_pause_is_long_after_a_while_whatever_its_reasons_are() -> None:
    clock = Clock()
    told = control(clock)
    told.pause("")
    assert not woken(told) and not told.is_long_paused
    told.pause("disk full")
    assert woken(told) and told.pause_reason == "disk full" and not told.is_long_paused
    clock.steady += LONG_PAUSE_S / 2
    told.pause("paused by its operator")
    clock.steady += LONG_PAUSE_S / 2
    assert woken(told) and told.is_long_paused, "another reason is no end"
    told.pause("")
    assert woken(told) and not told.is_long_paused


def test_each_thing_told_wakes_the_crawler_and_is_taken_once() -> None:
    told = control(Clock())
    told.lend(3)
    assert woken(told) and told.lent == 3
    told.lend(3)
    assert not woken(told), "that was known"
    told.refetch(OLD)
    told.refetch(NEW)
    assert woken(told) and told.take_refetches() == [OLD, NEW] and told.take_refetches() == []
    told.hear_aliases("old.test", [MirrorAlias(OLD, NEW, 1.0, AliasEvidence.REDIRECTS)])
    assert not woken(told) and told.take_ended_aliases() == ()
    told.hear_aliases("old.test", [])
    assert woken(told) and told.take_ended_aliases() == (OLD,) and told.take_ended_aliases() == ()
