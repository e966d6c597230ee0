"""Parser processes: what they read, and what happens to those that hang or die. Real processes, real hostile pages."""

import asyncio
import gzip
import os
import resource
import signal
import sys
from collections.abc import Awaitable, Sequence
from hashlib import sha256
from pathlib import Path

import pytest
from msgspec.structs import replace

from crawl import CrawlConfig, PageUnreadable, ParseTask, open_parsers
from crawl.content.extract import extract
from crawl.content.page import ParseResult
from crawl.errors import BodyUnfit
from dht import LocalFaults, Supervisor, system_clock

CONFIG = CrawlConfig(parser_processes=1, parser_stall_s=1.0)
STALLS_LEXBOR = b"<div>" * 200_000  # more than 55 s; libxml2 takes milliseconds


def task(body: bytes, url: str = "http://a.test/", charset: str = "utf-8") -> ParseTask:
    return ParseTask(url, body, "text/html", charset, 100, 10_000)


async def test_pages_are_read_side_by_side() -> None:
    async with open_parsers(CONFIG) as parsers, asyncio.TaskGroup() as tasks:
        jobs = [tasks.create_task(parsers.parse(task(f"<title>{n}</title>".encode()))) for n in range(100)]
    assert [job.result().title for job in jobs] == [str(n) for n in range(100)]


async def test_a_page_that_stalls_costs_only_itself() -> None:
    """Only it goes to the second engine: the others of its batch say what the first one reads."""
    good = task(b"<p>one<svg><title>drawn</title></svg><table><b>two</table>")
    reading = extract(good).text
    assert reading != extract(replace(good, engine="lxml")).text
    hostile = task(b'words <a href="/on">on</a>' + STALLS_LEXBOR)
    async with asyncio.timeout(20), open_parsers(CONFIG) as parsers, asyncio.TaskGroup() as tasks:
        jobs = [tasks.create_task(parsers.parse(t)) for t in (good, hostile, good)]
    texts = [job.result().text for job in jobs]
    assert texts[0] == texts[2] == reading
    assert "words" in texts[1]


async def test_bodies_are_opened_where_they_are_parsed() -> None:
    """Within a bound; what is broken or too large costs no second try, and nobody else."""
    page = b"<title>Packed</title>" + b"<p>words" * 1000
    packed = replace(task(gzip.compress(page)), coding="gzip", max_bytes=10_000)
    broken = replace(packed, body=packed.body[:10] + b"\xff" * 50)
    large = replace(packed, max_bytes=1000)
    async with asyncio.timeout(20), open_parsers(CONFIG) as parsers, asyncio.TaskGroup() as tasks:
        jobs = [tasks.create_task(parsers.parse(t)) for t in (packed, task(page))]
        failures = [tasks.create_task(error_of(parsers.parse(t))) for t in (broken, large)]
    read, plain = (job.result() for job in jobs)
    assert (read.title, read.content, read.content_digest) == ("Packed", page, sha256(page).digest())
    assert (plain.title, plain.content, plain.content_digest) == ("Packed", b"", read.content_digest)
    assert isinstance(failures[0].result(), BodyUnfit)
    assert str(failures[1].result()).endswith("size: larger than 1000 bytes")


async def test_a_page_that_neither_engine_reads_is_given_up() -> None:
    config = replace(CONFIG, parser_stall_s=0.3)
    bomb = task(b"<p>x" * 1_000_000 + STALLS_LEXBOR)
    async with asyncio.timeout(60), open_parsers(config) as parsers, asyncio.TaskGroup() as tasks:
        given_up = tasks.create_task(failure(parsers.parse(bomb)))
        good = tasks.create_task(parsers.parse(task(b"fine")))
    assert given_up.result().startswith("parser: stalled")
    assert good.result().text == "fine"


async def test_a_worker_that_is_killed_costs_nobody_a_page() -> None:
    others = children()  # that tests before this one left
    async with asyncio.timeout(30), open_parsers(CONFIG) as parsers, asyncio.TaskGroup() as tasks:
        assert (await parsers.parse(task(b"first"))).text == "first"
        (worker,) = await started(others)
        os.kill(worker, signal.SIGSTOP)  # so that all of the batch is there when it dies
        jobs = [tasks.create_task(parsers.parse(task(b"page %d" % n))) for n in range(20)]
        await asyncio.sleep(0)
        os.kill(worker, signal.SIGKILL)
        texts = [(await job).text for job in jobs]
        assert worker not in children()
    assert texts == [f"page {n}" for n in range(20)]


async def test_without_pages_there_is_no_process_and_the_next_page_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawl.parsing.pool.IDLE_S", 0.0)
    others = children()
    async with open_parsers(CONFIG) as parsers:
        for number in range(2):
            assert children() == others
            assert (await parsers.parse(task(f"<title>{number}</title>".encode()))).title == str(number)
            await ended(others)


async def test_a_page_that_was_expected_finds_its_process() -> None:
    others = children()
    async with asyncio.timeout(30), open_parsers(CONFIG) as parsers:
        parsers.expect()
        (worker,) = await started(others)
        parsers.expect()
        assert (await parsers.parse(task(b"<title>Expected</title>"))).title == "Expected"
        assert children() == [*others, worker]


async def test_a_worker_that_is_killed_while_it_starts_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawl.parsing.pool.START_AGAIN_S", 0.01)
    killed = children()  # and those of tests before this one
    async with asyncio.timeout(30), open_parsers(CONFIG) as parsers, asyncio.TaskGroup() as tasks:
        job = tasks.create_task(parsers.parse(task(b"patient")))
        for _ in range(2):
            killed += await started(killed)
            os.kill(killed[-1], signal.SIGKILL)
    assert job.result().text == "patient"


async def started(known: Sequence[int]) -> list[int]:
    """The worker that is not known, as soon as there is one."""
    for _ in range(2_000):
        if found := [pid for pid in children() if pid not in known]:
            return found
        await asyncio.sleep(0.005)
    raise AssertionError("no worker was started")


async def ended(others: Sequence[int]) -> None:
    """Wait until no worker is left."""
    for _ in range(2_000):
        if children() == others:
            return
        await asyncio.sleep(0.005)
    raise AssertionError("a worker is left")


def children() -> list[int]:
    """The processes that this one has started and that live."""
    return [int(pid) for pid in Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()]


async def error_of(reading: Awaitable[ParseResult]) -> Exception | None:
    try:
        await reading
    except PageUnreadable as error:
        return error
    return None


async def failure(reading: Awaitable[ParseResult]) -> str:
    error = await error_of(reading)
    return error.reason if isinstance(error, PageUnreadable) else ""


@pytest.mark.parametrize("python", ["/bin/false", "/nowhere/python"])
async def test_a_machine_without_parser_processes_says_so_until_it_has_them(
    python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawl.parsing.pool.START_AGAIN_S", 0.01)
    faults = LocalFaults(system_clock)
    async with asyncio.timeout(20), open_parsers(CONFIG, Supervisor(faults)) as parsers, asyncio.TaskGroup() as tasks:
        with monkeypatch.context() as machine:
            machine.setattr(sys, "executable", python)
            job = tasks.create_task(parsers.parse(task(b"<title>late</title>")))
            await asyncio.sleep(1.0)  # four tries of half a tenth of a second
        (fault,) = faults.present()
        assert "parser process" in fault.cause and "crawl.parser_processes = 0" in fault.remedy
        assert (await job).title == "late"


async def test_a_machine_without_handles_starts_a_parser_when_it_has_some_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("crawl.parsing.pool.START_AGAIN_S", 0.01)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    async with asyncio.timeout(20), open_parsers(CONFIG) as parsers, asyncio.TaskGroup() as tasks:
        resource.setrlimit(resource.RLIMIT_NOFILE, (5, hard))
        try:
            job = tasks.create_task(parsers.parse(task(b"<title>late</title>")))
            await asyncio.sleep(0.5)  # for many tries
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert not job.done()
        assert (await job).title == "late"


async def test_inline_parsers_read_the_same() -> None:
    async with open_parsers(replace(CONFIG, parser_processes=0)) as parsers:
        assert (await parsers.parse(task(b"<title>Inline</title>text"))).title == "Inline"
