"""TXT records of a real name server on loopback: what is found, what is bounded, and what is not known."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from msgspec.structs import replace

from crawl import CrawlConfig, TxtRecords
from crawl.fetch import txt_records
from crawl.fetch.txt_records import KEPT_S, MAX_BYTES, MAX_RECORDS
from dht import Now
from tests.crawl.fetch.name_server import NameServer, open_name_server

NAME, TAG = "_x.a.test", "tag:"


class Asker:
    """Asks a name server, with a clock that is set by hand."""

    def __init__(self, server: NameServer) -> None:
        self.server, self.now = server, 0.0
        config = replace(CrawlConfig(), dns=False, txt_servers=(f"127.0.0.1:{server.port}",))
        self.records = TxtRecords(config, lambda: Now(self.now, self.now))

    async def find(self, name: str = NAME) -> tuple[str, ...] | None:
        return await self.records.find(name, TAG)


@pytest.fixture
async def asker() -> AsyncIterator[Asker]:
    async with open_name_server() as server:
        yield Asker(server)


async def test_only_records_of_that_one_name_that_begin_so_are_found_in_the_order_of_their_text(asker: Asker) -> None:
    asker.server.texts[NAME] = ['"tag: /b/"', '"v=spf1 -all"', '"tag: " "/a/ " "/c/"']
    assert await asker.find() == ("tag: /a/ /c/", "tag: /b/")
    assert await asker.find() == ("tag: /a/ /c/", "tag: /b/")  # kept
    assert asker.server.asked == [("udp", NAME)]


async def test_what_is_not_there_is_told_from_what_cannot_be_found_out_and_both_are_asked_for_again(asker: Asker):
    assert await asker.find() == ()
    asker.server.texts[NAME] = []  # the name exists, without such a record
    asker.now += KEPT_S + 1
    assert await asker.find() == ()
    asker.server.is_broken = True
    asker.now += KEPT_S + 1
    assert await asker.find() is None
    asker.server.is_broken = False
    asker.server.texts[NAME] = ['"tag: /"']
    asker.now += KEPT_S + 1
    assert await asker.find() == ("tag: /",)


async def test_a_long_answer_comes_by_tcp(asker: Asker) -> None:
    asker.server.by_tcp_only = True
    asker.server.texts[NAME] = ['"tag: /a/"']
    assert await asker.find() == ("tag: /a/",)
    assert [way for way, _ in asker.server.asked] == ["udp", "tcp"]


async def test_number_and_size_of_what_is_kept_are_bounded(asker: Asker) -> None:
    asker.server.by_tcp_only = True
    asker.server.texts[NAME] = [f'"tag: /{n:04}/"' for n in range(300)]
    assert await asker.find() == tuple(f"tag: /{n:04}/" for n in range(MAX_RECORDS))
    asker.now += KEPT_S + 1
    asker.server.texts[NAME] = [" ".join([f'"tag: /{n}/"', *[f'"{"x" * 255}"'] * 7]) for n in range(9)]
    found = await asker.find()
    assert found is not None and 0 < sum(map(len, found)) <= MAX_BYTES


async def test_a_silent_name_server_costs_seconds_and_holds_up_no_others_for_longer(
    asker: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(txt_records, "WITHIN_S", 0.2)
    asker.server.is_silent = True
    async with asyncio.timeout(5.0):
        async with asyncio.TaskGroup() as tasks:
            asking = [tasks.create_task(asker.find(f"_x.{n}.test")) for n in range(3 * txt_records.AT_ONCE)]
    assert all(one.result() is None for one in asking)


async def test_a_name_that_none_can_have_has_no_records(asker: Asker) -> None:
    for name in (f"_x.{'a' * 64}.test", ".".join(["_x", *["a" * 60] * 4, "test"]), "_x..test", "_x.ü.test"):
        assert not await asker.find(name)
    assert all(name.isascii() for _, name in asker.server.asked)


async def test_nobody_is_asked_where_dns_is_off() -> None:
    assert await TxtRecords(replace(CrawlConfig(), dns=False), lambda: Now(0.0, 0.0)).find(NAME, TAG) == ()
