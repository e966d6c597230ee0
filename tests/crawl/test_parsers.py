"""Parser processes: what they read, and what happens to those that hang or die. Real processes, real hostile pages."""

import asyncio
import sys
from collections.abc import Awaitable

import pytest
from msgspec.structs import replace

from crawl import CrawlConfig, PageUnreadable, Parsed, ParserUnavailable, Task, open_parsers

CONFIG = CrawlConfig(parser_processes=1, parser_stall_s=1.0)
STALLS_LEXBOR = b"<div>" * 200_000  # more than 55 s; libxml2 takes milliseconds


def task(body: bytes, url: str = "http://a.test/", charset: str = "utf-8") -> Task:
    return Task(url, body, "text/html", charset, 100, 10_000)


async def test_pages_are_read_side_by_side() -> None:
    async with open_parsers(CONFIG) as parsers, asyncio.TaskGroup() as tasks:
        jobs = [tasks.create_task(parsers.parse(task(f"<title>{n}</title>".encode()))) for n in range(100)]
    assert [job.result().title for job in jobs] == [str(n) for n in range(100)]


async def test_a_page_that_stalls_costs_only_itself() -> None:
    hostile = task(b'words <a href="/on">on</a>' + STALLS_LEXBOR)
    async with asyncio.timeout(20), open_parsers(CONFIG) as parsers, asyncio.TaskGroup() as tasks:
        jobs = [tasks.create_task(parsers.parse(t)) for t in (task(b"before"), hostile, task(b"after"))]
    texts = [job.result().text for job in jobs]
    assert texts[0] == "before"
    assert texts[2] == "after"
    assert "words" in texts[1]


async def test_a_page_that_neither_engine_reads_is_given_up() -> None:
    config = replace(CONFIG, parser_stall_s=0.3)
    bomb = task(b"<p>x" * 1_000_000 + STALLS_LEXBOR)
    async with asyncio.timeout(20), open_parsers(config) as parsers, asyncio.TaskGroup() as tasks:
        given_up = tasks.create_task(failure(parsers.parse(bomb)))
        good = tasks.create_task(parsers.parse(task(b"fine")))
    assert given_up.result().startswith("parser: stalled")
    assert good.result().text == "fine"


async def failure(reading: Awaitable[Parsed]) -> str:
    try:
        await reading
    except PageUnreadable as error:
        return error.reason
    return ""


@pytest.mark.parametrize("python", ["/bin/false", "/nowhere/python"])
async def test_a_machine_without_parser_processes_says_so(python: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", python)
    with pytest.raises(BaseExceptionGroup) as failed:
        async with open_parsers(CONFIG) as parsers:
            await parsers.parse(task(b"x"))
    assert failed.group_contains(ParserUnavailable)


async def test_inline_parsers_read_the_same() -> None:
    async with open_parsers(replace(CONFIG, parser_processes=0)) as parsers:
        assert (await parsers.parse(task(b"<title>Inline</title>text"))).title == "Inline"
