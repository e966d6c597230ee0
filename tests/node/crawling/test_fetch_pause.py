"""Why a node fetches nothing: pauses that end by themselves, hours of the day, a full disk; the crawler is told."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from crawl import CrawlConfig, CrawlControl, MirrorDetector
from dht import Now
from node.crawling.fetch_pause import FetchPause, last_room_bytes
from store import StoreConfig

EVENING = datetime(2026, 3, 28, 18, 0)


@dataclass
class Machine:
    """Both clocks and the disk of one node, moved by the test."""

    steady: float = 100.0
    full: str = ""

    def __call__(self) -> Now:
        return Now((EVENING + timedelta(seconds=self.steady - 100.0)).timestamp(), self.steady)

    def no_room(self, least: int) -> str:
        return self.full


def opened(machine: Machine, hours: str = "") -> tuple[FetchPause, CrawlControl]:
    control = CrawlControl(MirrorDetector(), machine)
    return FetchPause(CrawlConfig(hours=hours), StoreConfig(), machine, control, machine), control  # type: ignore[arg-type]


def test_a_pause_ends_by_itself_or_when_it_is_told_to() -> None:
    machine = Machine()
    pause, control = opened(machine)
    assert pause.operator_reason() == ""
    pause.pause(1800.0)
    machine.steady = 1899.0
    assert pause.operator_reason() == "paused by its operator until 18:30; `dse-node resume` ends that"
    machine.steady = 1900.0
    assert pause.operator_reason() == ""
    pause.pause(86_400.0)
    assert "until 2026-03-29 18:30" in pause.operator_reason() == control.pause_reason
    pause.pause(None)
    machine.steady = 1e7
    assert pause.operator_reason() == "paused by its operator; `dse-node resume` ends that"
    pause.resume()
    assert pause.operator_reason() == control.pause_reason == ""


def test_without_a_network_nothing_is_tried_and_orders_are_no_ones_fault() -> None:
    machine, lost = Machine(), ["this machine has no network"]
    control = CrawlControl(MirrorDetector(), machine)
    pause = FetchPause(CrawlConfig(), StoreConfig(), machine, control, machine, lambda: lost[0])  # type: ignore[arg-type]
    pause.step()
    assert control.pause_reason == "this machine has no network"
    lost[0] = ""
    pause.step()
    assert control.pause_reason == ""


def test_the_hours_are_those_of_the_clock_on_the_wall() -> None:
    machine = Machine()
    pause, _ = opened(machine, "22:00-07:00")
    assert pause.operator_reason() == "outside crawl.hours (22:00-07:00); goes on at 22:00"
    machine.steady += 5 * 3600.0
    assert pause.operator_reason() == ""


def test_a_full_disk_pauses_the_crawler_and_is_no_reason_to_refuse_what_others_order() -> None:
    machine = Machine(full="the quota is used up; raise store.quota_bytes")
    pause, control = opened(machine)
    pause.step()
    assert control.pause_reason == pause.room_reason() != ""
    assert "the quota is used up; raise store.quota_bytes" in control.pause_reason
    pause.pause()
    assert control.pause_reason == pause.operator_reason() != "", "the operator comes first"
    pause.resume()
    assert pause.operator_reason() == "" and control.pause_reason == pause.room_reason()
    machine.full = ""
    pause.step()
    assert control.pause_reason == ""


def test_slots_are_lent_ten_seconds_after_the_disk_takes_nothing_more() -> None:
    machine = Machine(full="input/output error; the disk reports errors")
    pause, control = opened(machine)
    pause.step()
    machine.steady += 9.0
    pause.step()
    assert not control.is_long_paused
    machine.steady += 1.0
    pause.step()
    assert control.is_long_paused and "input/output error" in control.pause_reason
    pause.pause()
    assert not control.is_long_paused, "an owner's short pause moves nothing"
    pause.resume()
    machine.full = ""
    pause.step()
    assert not control.is_long_paused


def test_two_of_the_largest_pages_always_fit() -> None:
    crawl = CrawlConfig()
    assert last_room_bytes(crawl, StoreConfig(quota_bytes=1 << 40)) == int((1 << 40) * 0.05)
    two_pages = 2 * (crawl.max_body_bytes + 4 * crawl.max_text_chars)
    assert last_room_bytes(crawl, StoreConfig(quota_bytes=1 << 20)) == two_pages
