"""Host records are read when in doubt, and again after their time."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from crawl import MirrorAlias
from dht import FRESH_S, DocumentId, Key, Now
from node.sites.host_book import FORMER_S, HostBook
from node.sites.host_records import HostRecords
from store import HostAlias, HostRecord, Kind, Record, encode_host, host_name, host_url
from tests.store.support import Draft, records

SITE, SMALL = "big.example", "small.example"


@dataclass
class Network:
    """Host records, and how often each was asked for."""

    time: float = 1e6
    said: dict[str, HostRecord] = field(default_factory=dict)
    asked: list[DocumentId] = field(default_factory=list)
    is_silent: bool = False
    moved_sites: list[str] = field(default_factory=list)
    aliases: list[tuple[str, int]] = field(default_factory=list)
    objections: str = ""  # to what others say

    @property
    def host_writers(self) -> "Network":
        return self

    def objection(self, record: Record, *, by_owner: bool) -> str:
        return self.objections

    def clock(self) -> Now:
        return Now(self.time, self.time)

    def hear_aliases(self, site: str, aliases: Sequence[MirrorAlias]) -> None:
        self.aliases.append((site, len(aliases)))

    def moved(self, site: str) -> None:
        self.moved_sites.append(site)

    async def read_sure(
        self, wanted: Sequence[tuple[Kind, DocumentId, Key]]
    ) -> tuple[dict[tuple[Kind, DocumentId], Record], frozenset[tuple[Kind, DocumentId]]]:
        names = [(kind, id) for kind, id, _ in wanted]
        self.asked += [id for _, id in names]
        if self.is_silent:
            return {}, frozenset(names)
        known = {host_name(site)[0]: record_of(host) for site, host in self.said.items()}
        return {name: known[name[1]] for name in names if name[1] in known}, frozenset()


def record_of(host: HostRecord) -> Record:
    site = host.url.split("/")[2]
    return records(Draft(Kind.HOST, *host_name(site), 1, 1, 30_000, encode_host(host)))[0]


def opened(network: Network) -> HostRecords:
    return HostRecords(HostBook(network.clock), network, network.hear_aliases)  # type: ignore[arg-type]


async def test_a_record_is_read_once_and_again_after_its_time() -> None:
    network = Network(said={SITE: HostRecord(host_url(SITE), 3, 1, 1e6)})
    hosts = opened(network)
    assert not hosts.book.spreads and hosts.book.depths(SITE) == (0,)
    assert await hosts.learn([SITE, SMALL]) == {SITE, SMALL}
    assert hosts.book.spreads and (hosts.book.depths(SITE), hosts.book.depths(SMALL)) == ((3, 1), (0,))
    assert network.moved_sites == [SITE, SMALL], "something of either may lie astray here"
    assert hosts.book.take_moved() == {SITE}
    network.time += FRESH_S - 1
    await hosts.learn([SITE, SMALL])
    assert len(network.asked) == 2
    network.time += 2
    await hosts.learn([SITE])
    assert len(network.asked) == 3
    network.time += FORMER_S
    assert hosts.book.depths(SITE) == (3,), "nothing lies at the former place any more"


async def test_a_depth_that_its_author_may_not_write_is_not_obeyed() -> None:
    network = Network(said={SITE: HostRecord(host_url(SITE), 8, 0, 1e6)}, objections="not the holder")
    hosts = opened(network)
    assert await hosts.learn([SITE]) == {SITE}
    assert not hosts.book.spreads and not hosts.book.take_moved()
    network.objections = ""
    network.time += FRESH_S + 1
    await hosts.learn([SITE])
    assert hosts.book.depths(SITE)[0] == 8


async def test_silence_says_nothing() -> None:
    network = Network(is_silent=True)
    hosts = opened(network)
    assert await hosts.learn([SITE]) == frozenset()
    assert not network.moved_sites
    network.is_silent = False
    assert await hosts.learn([SITE]) == {SITE}


async def test_who_got_no_answer_asks_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("node.sites.host_records.ASK_EVERY_S", 0.0)
    network = Network(said={SITE: HostRecord(host_url(SITE), 2)}, is_silent=True)
    known = opened(network)
    known.book.doubt(SITE)
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(known.run())
        for is_silent in (True, False):
            network.is_silent = is_silent
            for _ in range(100):  # turns of the loop, each of which is more than a second to it
                await asyncio.sleep(0)
        running.cancel()
    assert len(network.asked) > 2 and known.book.spreads


async def test_a_record_that_comes_in_is_taken_over_once() -> None:
    network = Network()
    hosts = opened(network)
    for _ in range(2):
        hosts.hear(record_of(HostRecord(host_url(SITE), 3, 1, network.time)))
    assert network.moved_sites == [SITE] and hosts.book.depths(SITE) == (3, 1)
    assert not network.asked


async def test_aliases_are_passed_on_whoever_brought_the_record() -> None:
    mirror = HostRecord(host_url(SITE), aliases=(HostAlias(False, f"https://{SITE}/", 1e6, 1),))
    network = Network(said={SITE: mirror})
    hosts = opened(network)
    hosts.hear(record_of(HostRecord(host_url(SMALL))))
    await hosts.learn([SITE])
    hosts.hear(record_of(mirror))
    assert network.aliases == [(SITE, 1)]
