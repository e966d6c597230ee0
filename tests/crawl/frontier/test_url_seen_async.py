"""The seen test from the event loop: the same answers at once, through the thread, and while it is at work."""

import asyncio
from pathlib import Path

from crawl.frontier.url_seen import UrlSeenTest
from crawl.frontier.url_seen_async import AsyncUrlSeenTest


def runs_in(folder: Path) -> list[Path]:
    return list(folder.glob("*.run"))


async def test_answers_are_those_of_the_test_itself_whoever_gives_them(tmp_path: Path):
    desk = AsyncUrlSeenTest(UrlSeenTest(tmp_path, b"k" * 16, gathered=8, in_memory=16))  # soon there are files
    told: dict[str, int] = {}
    for start in range(0, 200, 5):
        urls = [(f"http://a.test/{n}", n % 3) for n in range(start, start + 5)]
        assert await desk.are_new(urls) == [True] * 5
        await desk.add(urls)
        told |= dict(urls)
        everything = list(told.items())
        assert not any(await desk.are_new(everything))
        assert all(await desk.are_new([(url, rank + 1) for url, rank in everything]))
    assert runs_in(tmp_path), "files were asked"
    desk.close()


async def test_what_is_asked_while_the_thread_is_at_work_waits_for_it():
    desk = AsyncUrlSeenTest(UrlSeenTest(None, b"k" * 16, gathered=4))
    urls = [(f"http://a.test/{n}", 1) for n in range(6)]
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(desk.add(urls))  # a merge: in the thread
        after = tasks.create_task(desk.are_new(urls))
    assert after.result() == [False] * 6
    desk.close()
