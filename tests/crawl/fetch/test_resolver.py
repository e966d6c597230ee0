"""Names to addresses: hosts file before the system, the filter behind both."""

import asyncio
import socket

import pytest
from msgspec.structs import replace

from crawl import AddressRefused, BadHostsFile, CrawlConfig, FamilyMissing
from crawl.fetch.resolver import BUSY_TTL_S, FAILURE_TTL_S, Resolver, parse_hosts
from dht import Now, WorkingFamilies

CONFIG = replace(CrawlConfig(), allow_private=True, dns_ttl_s=300.0)
BOTH = WorkingFamilies((4, 6))


class Names:
    """The system's resolver, as a table; and a clock that is set by hand."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.table: dict[str, list[str]] = {}
        self.asked: list[str] = []
        self.now = 0.0
        self.fault = socket.EAI_NONAME
        monkeypatch.setattr(socket, "getaddrinfo", self.look_up)

    def look_up(self, name: str, *_: object, **__: object) -> list[tuple[object, ...]]:
        name = name.removesuffix(".")
        self.asked.append(name)
        if name not in self.table:
            raise socket.gaierror(self.fault, "no")
        return [(2, 1, 6, "", (address, 0)) for address in self.table[name]]

    def clock(self) -> Now:
        return Now(self.now, self.now)


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Names:
    return Names(monkeypatch)


async def addresses(resolver: Resolver, name: str) -> list[str]:
    return [result["host"] for result in await resolver.resolve(name, 80)]


async def test_a_name_is_asked_for_once_while_its_answer_holds(names: Names) -> None:
    resolver = Resolver(CONFIG, {"own.test": ("192.0.2.9",)}, BOTH, names.clock)
    names.table["a.test"] = ["2001:4860::1", "8.8.8.8"]
    assert await addresses(resolver, "own.test") == ["192.0.2.9"]
    assert await addresses(resolver, "A.test") == ["2001:4860::1", "8.8.8.8"]
    assert await addresses(resolver, "a.test.") == ["2001:4860::1", "8.8.8.8"]
    assert names.asked == ["a.test"]
    names.now = 301.0
    await addresses(resolver, "a.test")
    assert names.asked == ["a.test", "a.test"]
    await resolver.close()


async def test_an_unknown_name_is_soon_asked_for_again(names: Names) -> None:
    resolver = Resolver(CONFIG, {}, BOTH, names.clock)
    for _ in range(2):
        with pytest.raises(OSError, match=r"no address is known for new\.test"):
            await addresses(resolver, "new.test")
    assert names.asked == ["new.test"]
    names.table["new.test"] = ["8.8.4.4"]
    names.now = FAILURE_TTL_S + 1
    assert await addresses(resolver, "new.test") == ["8.8.4.4"]
    await resolver.close()


async def test_only_addresses_that_may_be_contacted_come_out(names: Names) -> None:
    resolver = Resolver(replace(CONFIG, allow_private=False), {}, WorkingFamilies((4,)), names.clock)
    names.table = {"mixed.test": ["10.0.0.1", "8.8.8.8", "2001:4860::1"], "inner.test": ["::ffff:10.0.0.1"]}
    names.table["six.test"] = ["2001:4860::1", "fd00::1"]
    assert await addresses(resolver, "mixed.test") == ["8.8.8.8"]
    with pytest.raises(AddressRefused, match="private"):
        await addresses(resolver, "inner.test")
    with pytest.raises(FamilyMissing) as missing:
        await addresses(resolver, "six.test")
    assert (missing.value.host, missing.value.family) == ("six.test", 6)
    await resolver.close()


async def test_one_look_up_answers_all_who_ask_meanwhile_and_one_who_gives_up_ends_it_for_nobody(names: Names) -> None:
    resolver = Resolver(CONFIG, {}, BOTH, names.clock)
    names.table["a.test"] = ["8.8.8.8"]
    async with asyncio.TaskGroup() as tasks:
        first = tasks.create_task(addresses(resolver, "a.test"))
        await asyncio.sleep(0)
        first.cancel()
        answers = [tasks.create_task(addresses(resolver, "a.test")) for _ in range(3)]
    assert [task.result() for task in answers] == [["8.8.8.8"]] * 3
    assert names.asked == ["a.test"]
    await resolver.close()


async def test_where_the_name_server_is_silent_it_is_asked_again_sooner(names: Names) -> None:
    resolver = Resolver(CONFIG, {}, BOTH, names.clock)
    names.fault = socket.EAI_AGAIN
    with pytest.raises(OSError, match="no address is known"):
        await addresses(resolver, "a.test")
    names.table["a.test"], names.now = ["8.8.8.8"], BUSY_TTL_S + 0.1
    assert await addresses(resolver, "a.test") == ["8.8.8.8"]
    await resolver.close()


async def test_the_first_address_is_that_which_a_fetch_tries_first(names: Names) -> None:
    resolver = Resolver(replace(CONFIG, allow_private=False), {}, BOTH, names.clock)
    names.table["a.test"] = ["10.0.0.1", "2001:4860::1", "8.8.8.8"]
    assert (await resolver.usable("a.test"))[0] == "2001:4860::1"
    assert await resolver.usable("8.8.4.4") == ["8.8.4.4"]
    with pytest.raises(AddressRefused):
        await resolver.usable("127.0.0.1")
    await resolver.close()


def test_an_address_and_its_names_or_a_name_and_its_addresses() -> None:
    text = "127.0.0.1 a.test B.test. # here\n\nc.test 127.0.1.2 ::1\n::1 a.test\n"
    assert parse_hosts(text, "hosts") == {
        "a.test": ("127.0.0.1", "::1"),
        "b.test": ("127.0.0.1",),
        "c.test": ("127.0.1.2", "::1"),
    }


@pytest.mark.parametrize("line", ["127.0.0.1", "a.test", "a.test b.test", "a.test 127.0.0.300"])
def test_a_line_that_joins_nothing_is_named(line: str) -> None:
    with pytest.raises(BadHostsFile, match="hosts, line 2"):
        parse_hosts("127.0.0.1 ok.test\n" + line, "hosts")
