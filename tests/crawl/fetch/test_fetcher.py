"""One fetch against sites that misbehave: each must cost little and end soon, with a reason."""

import asyncio
import errno
import gzip
import socket
import sys
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web
from msgspec.structs import replace

from crawl import AddressRefused, BadHostsFile, CrawlConfig, FamilyMissing, Fetched, Fetcher, FetchFailed, open_fetcher
from crawl.canonical_url import find_url
from crawl.errors import BodyUnreadable
from crawl.fetch import fetcher as fetcher_module
from dht import FaultSite, LocalFaults, WorkingFamilies, system_clock
from tests.crawl.world import Web

MIB = 1 << 20
Speak = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def raw(speak: Speak) -> AsyncIterator[str]:
    """A server that says what it likes, whether HTTP or not; gives its URL."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            await speak(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    finally:
        server.close()


def saying(*pieces: bytes, pause_s: float = 0.0, forever: bool = False) -> Speak:
    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        while forever:
            writer.write(pieces[-1])
            await writer.drain()
            await asyncio.sleep(pause_s)

    return speak


async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()


OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
HOSTILE = {
    "hangs": (hang, "time"),
    "drips a body": (saying(OK + b"\r\n", b"x", pause_s=0.05, forever=True), "time"),
    "drips a head": (saying(OK, b"X-A: b\r\n", pause_s=0.05, forever=True), ""),
    "never ends its head": (saying(OK + b"X: ", b"x" * 4096, forever=True), "protocol"),
    "thousands of fields": (saying(OK + b"".join(b"X-%d: y\r\n" % n for n in range(5000)) + b"\r\n"), "protocol"),
    "a field of 100 kB": (saying(OK + b"X: " + b"y" * 100_000 + b"\r\n\r\n"), "protocol: the server's header is over"),
    "promises more than it sends": (saying(OK + b"Content-Length: 500\r\n\r\nshort"), "body: it ends before"),
    "broken chunks": (saying(OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nxx"), ""),
    "no HTTP": (saying(b"SSH-2.0-OpenSSH_9.6\r\n\r\n"), "protocol: the answer is no HTTP"),
    "closes at once": (saying(), "connection"),
    "endless 100s": (saying(b"HTTP/1.1 100 Continue\r\n\r\n", pause_s=0.05, forever=True), ""),
    "not gzip": (saying(OK + b"Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\nbody"), "coding: not gzip"),
    "a coding not offered": (saying(OK + b"Content-Encoding: br\r\nContent-Length: 4\r\n\r\nbody"), "coding: "),
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_a_site_that_misbehaves_ends_with_a_reason(name: str, fetcher: Fetcher) -> None:
    speak, kind = HOSTILE[name]
    async with raw(speak) as url, asyncio.timeout(4):
        with pytest.raises(FetchFailed) as failed:
            await fetcher.fetch(url, {}, MIB)
    assert failed.value.reason.startswith(kind), failed.value.reason
    assert failed.value.url == url


async def test_a_body_of_two_gigabytes_costs_its_bound(fetcher: Fetcher) -> None:
    head = OK + b"Content-Length: 2147483648\r\n\r\n"
    async with raw(saying(head, b"x" * 65_536, forever=True)) as url:
        tracemalloc.start()
        fetched = await fetcher.fetch(url, {}, MIB)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert fetched.cut
    assert len(fetched.body) == MIB
    assert peak < 8 * MIB


CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
ANSWER = OK + b"Content-Length: 2\r\n\r\nhi"
BESIDE_BODIES = {  # what begins a response, and what then comes for ever, none of it a byte of the page
    "extensions": (CHUNKED, b"1;" + b"x" * 8000 + b"\r\na\r\n"),
    "one extension": (CHUNKED + b"1;", b"x" * 8000),
    "small chunks": (CHUNKED, b"1\r\na\r\n" * 2000),
    "trailers": (CHUNKED + b"0\r\n", b"X: y\r\n" * 2000),
    "a long trailer": (CHUNKED + b"0\r\nX: ", b"y" * 8000),
    "interim heads": (b"", b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" * 200),
    "a head": (OK + b"X: ", b"y" * 8000),
    "fields": (OK, b"X: y\r\n" * 2000),
    "answers to no request": (ANSWER, ANSWER * 200),
}


@pytest.mark.parametrize("name", BESIDE_BODIES)
async def test_what_comes_beside_a_page_is_bounded(name: str, fetcher: Fetcher) -> None:
    """Counted where it is sent, so it includes what the buffers of both systems hold."""
    sent, was_closed = 0, asyncio.Event()

    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        first, more = BESIDE_BODIES[name]
        writer.write(first)
        try:
            while True:
                writer.write(more)
                await writer.drain()
                sent += len(more)
        finally:
            was_closed.set()

    async with raw(speak) as url, asyncio.timeout(4):
        try:
            fetched = await fetcher.fetch(url, {}, 64 * MIB)
            assert fetched.body in (b"hi", b""), "trailers follow a page that is empty"
        except FetchFailed as failed:
            assert failed.reason.startswith(("protocol: ", "body: more than ")), failed.reason
            assert isinstance(failed, BodyUnreadable) or not failed.reason.startswith("body"), "it is not asked soon"
        await was_closed.wait()
    assert sent < 16 * MIB


async def test_a_bomb_costs_its_bound(fetcher: Fetcher) -> None:
    bomb = gzip.compress(bytes(100 * MIB), 1)
    head = OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(bomb)
    async with raw(saying(head, bomb)) as url:
        fetched = (await fetcher.fetch(url, {}, 4 * MIB)).opened(4 * MIB)
    assert fetched.cut
    assert len(fetched.body) == 4 * MIB


async def test_what_an_honest_site_sends_arrives(site: Web, fetcher: Fetcher) -> None:
    seen: list[web.Request] = []

    async def page(request: web.Request) -> web.Response:
        seen.append(request)
        response = web.Response(body=gzip.compress(b"hello"), content_type="text/html", charset="gbk")
        response.headers["Content-Encoding"] = "gzip"
        response.headers["Set-Cookie"] = "a=b"
        return response

    site.add("a.test", {"/%41%2F?q=%20": page, "/A%2F?q=%20": page})
    url = site.url("a.test", "/A%2F?q=%20")
    fetched: Fetched = await fetcher.fetch(url, {"If-None-Match": '"x"'}, MIB)
    assert (fetched.status, fetched.opened(MIB).body, fetched.cut) == (200, b"hello", False)
    assert (fetched.media_type, fetched.header_charset, fetched.address) == ("text/html", "gbk", "127.0.0.1")
    await fetcher.fetch(url, {}, MIB)
    assert seen[0].headers["User-Agent"].startswith("dse-node/0")
    assert seen[0].headers["If-None-Match"] == '"x"'
    assert "Cookie" not in seen[1].headers
    assert seen[0].raw_path == "/A%2F?q=%20"


async def test_bytes_in_headers_that_are_no_text_do_no_harm(fetcher: Fetcher) -> None:
    async with raw(saying(OK + b"X-Name: caf\xe9\r\nContent-Length: 0\r\n\r\n")) as url:
        fetched = await fetcher.fetch(url, {}, MIB)
    assert fetched.header("x-name").encode() == "caf\ufffd".encode()


async def test_a_redirect_may_hold_bytes_that_are_no_utf8(fetcher: Fetcher) -> None:
    """As browsers read it: raw bytes of a Latin-1 path become their escapes."""
    head = b"HTTP/1.1 301 Moved\r\nContent-Length: 0\r\nLocation: /caf\xe9/gr\xc3\xbcn\r\n\r\n"
    async with raw(saying(head)) as url:
        fetched = await fetcher.fetch(url, {}, MIB)
    assert find_url(fetched.header("location"), "http://a.test/") == "http://a.test/caf%E9/gr%C3%BCn"


async def test_what_a_status_says_counts_though_its_body_is_garbled(fetcher: Fetcher) -> None:
    head = b"HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nContent-Encoding: br\r\nContent-Length: 2\r\n\r\nhi"
    async with raw(saying(head)) as url:
        fetched = await fetcher.fetch(url, {}, MIB)
    assert (fetched.status, fetched.retry_after_s(0.0), fetched.body) == (503, 7.0, b"")


async def test_no_way_leads_to_private_addresses(config: CrawlConfig) -> None:
    async with open_fetcher(replace(config, allow_private=False), "0", system_clock) as fetcher:
        for url in ("http://a.test/", "http://inner.test/", "http://127.0.0.1/", "http://[::ffff:127.0.0.1]/"):
            with pytest.raises(AddressRefused):
                await fetcher.fetch(url, {}, MIB)


async def test_a_hosts_file_with_a_mistake_names_the_line(config: CrawlConfig, tmp_path: Path) -> None:
    hosts = tmp_path / "bad"
    hosts.write_text("# names\n300.1.1.1 x.test\n")
    with pytest.raises(BadHostsFile, match=r"line 2: '300\.1\.1\.1 x\.test' does not join"):
        async with open_fetcher(replace(config, hosts_file=str(hosts)), "0", system_clock):
            pass
    with pytest.raises(BadHostsFile, match="none: No such file or directory; name a text file that can be read"):
        async with open_fetcher(replace(config, hosts_file=str(tmp_path / "none")), "0", system_clock):
            pass


class Deaf:
    """An address whose server is too busy to accept: connections to it hang, as they do where packets are dropped."""

    def __init__(self, port: int) -> None:
        self.listener = socket.socket(socket.AF_INET6)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(("::1", port))
        self.listener.listen(0)
        self.fillers = []
        for _ in range(4):  # more than the queue holds: the kernel drops what comes after
            filler = socket.socket(socket.AF_INET6)
            filler.setblocking(False)
            filler.connect_ex(("::1", port))
            self.fillers.append(filler)

    def close(self) -> None:
        for each in (*self.fillers, self.listener):
            each.close()


@pytest.mark.skipif(sys.platform != "linux", reason="a full accept queue drops connections on Linux")
async def test_a_host_whose_ipv6_is_dead_is_fetched_by_ipv4_without_waiting_for_it(
    site: Web, config: CrawlConfig, tmp_path: Path
) -> None:
    site.add("both.test", {"/": "by IPv4"})
    hosts = tmp_path / "both"
    hosts.write_text("both.test ::1 127.0.0.1\nonly.test ::1\n")
    deaf = Deaf(site.port)
    config = replace(config, hosts_file=str(hosts), connect_timeout_s=20.0, read_timeout_s=20.0, total_timeout_s=20.0)
    try:
        async with open_fetcher(config, "0", system_clock) as fetcher:
            assert await fetcher.locate(site.url("both.test")) == "::1"
            fetched = await fetcher.fetch(site.url("both.test"), {}, 1000)
            assert (fetched.body, fetched.address) == (b"by IPv4", "127.0.0.1")
            assert fetched.latency_s < 10.0, "a connection attempt every 250 ms (RFC 8305), no whole timeout"
        async with open_fetcher(replace(config, connect_timeout_s=0.3), "0", system_clock) as fetcher:
            with pytest.raises(FetchFailed):
                await fetcher.fetch(site.url("only.test"), {}, 1000)
    finally:
        deaf.close()


@pytest.mark.parametrize("error", [errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EADDRNOTAVAIL, errno.ENETDOWN])
async def test_what_this_machine_lacks_is_not_the_sites_fault(
    site: Web, config: CrawlConfig, monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    async def no_way(sock: socket.socket, address: object) -> None:
        raise OSError(error, "as the system says it")

    monkeypatch.setattr(asyncio.get_running_loop(), "sock_connect", no_way)
    families = WorkingFamilies((4, 6))
    async with open_fetcher(config, "0", system_clock, families) as fetcher:
        with pytest.raises(FamilyMissing) as missing:
            await fetcher.fetch(site.url("a.test"), {}, 1000)
        assert missing.value.family == 4
        families.answered("9.0.0.1", system_clock().steady)
        with pytest.raises(FetchFailed, match="as the system says it"):  # IPv4 works: it is the host that is away
            await fetcher.fetch(site.url("a.test"), {}, 1000)


@pytest.mark.skipif(sys.platform != "linux", reason="a full accept queue drops connections on Linux")
async def test_sites_that_are_silent_in_one_family_show_that_it_leads_nowhere(
    site: Web, config: CrawlConfig, tmp_path: Path
) -> None:
    hosts = tmp_path / "silent"
    hosts.write_text("only.test ::1\n")
    families, now, deaf = WorkingFamilies((4, 6)), system_clock().steady, Deaf(site.port)
    families.answered("127.0.0.1", now)
    for host in ("2001:db8::2", "2001:db8::3"):
        families.silent(host, now)
    config = replace(config, hosts_file=str(hosts), connect_timeout_s=0.3)
    try:
        async with open_fetcher(config, "0", system_clock, families) as fetcher:
            with pytest.raises(FetchFailed):
                await fetcher.fetch(site.url("only.test"), {}, 1000)
            with pytest.raises(FamilyMissing):
                await fetcher.fetch(site.url("only.test"), {}, 1000)
    finally:
        deaf.close()


async def test_whether_there_is_a_way_to_a_host_is_said_without_asking_it(config: CrawlConfig, tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("four.test 127.0.0.1\nsix.test ::1\n")
    config = replace(config, hosts_file=str(hosts))
    async with open_fetcher(config, "0", system_clock, WorkingFamilies((4,))) as fetcher:
        await fetcher.find_way("http://four.test:81/")
        for url, error in (
            ("http://four.test:1/", AddressRefused),
            ("http://six.test:81/", FamilyMissing),
            ("http://none.test/", FetchFailed),
        ):
            with pytest.raises(error):
                await fetcher.find_way(url)


async def test_the_address_that_was_checked_is_the_one_that_is_used(
    site: Web, config: CrawlConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name server that gives another address to each who asks: first a harmless one, then the cloud's metadata."""
    answers = iter(["127.0.0.1", *["169.254.169.254"] * 99])
    asked: list[str] = []

    def look_up(name: str, *_: object, **__: object) -> list[tuple[object, ...]]:
        asked.append(name)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(answers), 0))]

    site.add("rebind.test", {"/": "harmless"})
    monkeypatch.setattr("crawl.fetch.resolver.socket.getaddrinfo", look_up)
    async with open_fetcher(replace(config, dns=True, dns_ttl_s=0.0, keepalive_s=0.0), "0", system_clock) as fetcher:
        fetched = await fetcher.fetch(site.url("rebind.test"), {}, 1000)
        assert (fetched.body, fetched.address, asked) == (b"harmless", "127.0.0.1", ["rebind.test."])
        with pytest.raises(AddressRefused):
            await fetcher.fetch(site.url("rebind.test"), {}, 1000)


async def test_the_owners_bandwidth_is_kept_without_failing_what_it_slows_down(site: Web, config: CrawlConfig) -> None:
    site.add("a.test", {f"/{n}": "x" * 30_000 for n in range(4)})
    config = replace(config, max_bytes_s=100_000.0, total_timeout_s=0.3)
    async with open_fetcher(config, "0", system_clock) as fetcher:
        started = system_clock().steady
        async with asyncio.TaskGroup() as tasks:
            jobs = [tasks.create_task(fetcher.fetch(site.url("a.test", f"/{n}"), {}, 100_000)) for n in range(4)]
        took_s = system_clock().steady - started
        assert [len(job.result().body) for job in jobs] == [30_000] * 4
        assert took_s >= 0.15, "120 kB, of which a second's worth may come at once"
        assert max(job.result().latency_s for job in jobs) < took_s + 0.1
        await fetcher.fetch(site.url("a.test", "/0"), {}, 100_000)
        assert fetcher.late_s() == 0.0


async def test_a_machine_without_handles_waits_and_blames_no_site(
    config: CrawlConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    left, faults = [2], LocalFaults(system_clock)
    real = socket.socket

    class NoHandles(real):  # type: ignore[misc,valid-type]
        """A socket for which there is no handle, twice."""

        def __init__(self, *given: object, **named: object) -> None:
            if left[0] and "fileno" not in named and len(given) < 4:
                left[0] -= 1
                raise OSError(errno.EMFILE, "Too many open files")
            super().__init__(*given, **named)

    monkeypatch.setattr(fetcher_module, "HANDLE_AGAIN_S", 0.0)
    served = raw(saying(OK + b"Content-Length: 2\r\n\r\nok"))
    async with served as url, open_fetcher(config, "0", system_clock, faults=faults) as fetcher:
        monkeypatch.setattr(socket, "socket", NoHandles)
        fetched = await fetcher.fetch(url, {}, MIB)
    assert fetched.body == b"ok" and left == [0]
    (fault,) = faults.present()
    assert fault.site == FaultSite.HANDLES and "ulimit -n" in fault.remedy
