"""Fetches are counted while they run: bytes, answers by class, latency, look-ups, connections."""

import asyncio
from math import isnan

import pytest

from crawl import CrawlConfig, FetchFailed, FetchMeter, open_fetcher
from crawl.fetch.fetch_meter import KEPT
from dht import system_clock
from tests.crawl.fetch.test_fetcher import raw, saying

CONFIG = CrawlConfig(allow_private=True, dns=True)


def test_a_step_has_the_fetches_since_the_one_before() -> None:
    meter = FetchMeter()
    for n in range(100):
        meter.note_answer(200 if n < 90 else 503, n / 1000)
    meter.note_failure()
    meter.note_answer(999, 0.05)  # no class of HTTP's
    meter.note_lookup(0.02)
    meter.note_lookup(0.04)
    meter.bytes_in += 5000
    load = meter.step(10.0)
    assert load.answers_min == {"failed": 12.0, "1xx": 0.0, "2xx": 540.0, "3xx": 0.0, "4xx": 0.0, "5xx": 60.0}
    assert (load.in_bytes_s, load.p50_ms, load.p95_ms) == (500.0, 50.0, 94.0) and load.dns_ms == pytest.approx(30.0)
    load = meter.step(10.0)
    assert load.in_bytes_s == load.answers_min["2xx"] == 0.0
    assert isnan(load.p50_ms) and isnan(load.p95_ms) and isnan(load.dns_ms)
    assert meter.answers == [2, 0, 90, 0, 0, 10], "counts go on"


def test_of_many_fetches_the_newest_make_the_latency_and_odd_answers_count_as_failed() -> None:
    meter = FetchMeter()
    for n in range(2 * KEPT):
        meter.note_answer((0, 99)[n % 2], 1.0 if n < KEPT else 0.01)
    load = meter.step(60.0)
    assert (load.p50_ms, load.p95_ms) == (10.0, 10.0)
    assert load.answers_min["failed"] == 2 * KEPT and load.answers_min["1xx"] == 0.0
    for latency_s in (0.1, 0.2):
        meter.note_answer(200, latency_s)
    load = meter.step(60.0)
    assert (load.p50_ms, load.p95_ms) == (200.0, 200.0), "the upper one of two"


async def test_fetches_are_counted_as_they_come_out() -> None:
    body = b"x" * 100_000
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + body
    async with open_fetcher(CONFIG, "1", system_clock) as fetcher:
        meter = fetcher.meter
        async with raw(saying(answer)) as url:
            named = url.replace("127.0.0.1", "localhost")
            for _ in range(2):
                assert (await fetcher.fetch(named, {}, 1 << 20)).body == body
        assert meter.bytes_in == 2 * len(answer) and 100 < meter.bytes_out < 2000 and meter.lookups == 1
        async with raw(saying(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")) as url:
            await fetcher.fetch(url, {}, 1 << 20)
        with pytest.raises(FetchFailed):
            await fetcher.fetch(url, {}, 1 << 20)  # nobody is there any more
        assert meter.answers == [1, 0, 2, 0, 1, 0]
    await asyncio.sleep(0)
    assert meter.connections == 0
