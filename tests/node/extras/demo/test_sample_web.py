"""The bundled sample web keeps its promises, and is served as it says, on real loopback sockets."""

import asyncio
import html
import io
import json
import re
import signal
import socket
import subprocess
import sys
import tarfile
import tomllib
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urldefrag, urljoin, urlsplit

import aiohttp
import pytest
import zstandard
from aiohttp.abc import AbstractResolver, ResolveResult
from protego import Protego

from node.extras.demo import sample_web
from node.extras.demo.sample_settings import BadSite
from node.extras.demo.sample_web import ServedWeb, ServeOptions, hosts_file, serve, start_urls, unpack_sample

DEMO = Path(sample_web.__file__).parent
RECIPE = Path(__file__).parents[4] / "benchmarks" / "sample.toml"
LINK = re.compile(r"""<a\b[^>]*?\shref\s*=\s*["']([^"']*)["']""", re.I)
BASE = re.compile(r"""<base\s[^>]*?href=["']([^"']+)["']""", re.I)


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled web, unpacked."""
    root = tmp_path_factory.mktemp("sample")
    unpack_sample(root)
    return root


class TableResolver(AbstractResolver):
    """Resolves the hosts of a served web, and nothing else."""

    def __init__(self, served: ServedWeb) -> None:
        self._served = served

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the addresses that the server named."""
        families = {a: socket.AF_INET6 if ":" in a else socket.AF_INET for a in self._served.hosts[host]}
        return [
            ResolveResult(hostname=host, host=a, port=port, family=f, proto=0, flags=0) for a, f in families.items()
        ]

    async def close(self) -> None:
        """Nothing to close."""


@asynccontextmanager
async def client(served: ServedWeb) -> AsyncIterator[aiohttp.ClientSession]:
    """A client that finds the hosts of a served web."""
    connector = aiohttp.TCPConnector(resolver=TableResolver(served), family=socket.AF_UNSPEC)
    async with aiohttp.ClientSession(connector=connector) as session:
        yield session


def pages(root: Path) -> list[Path]:
    return sorted(root.rglob("*.html"))


def text_of(page: Path) -> str:
    return page.read_text("utf-8", "replace")


def log_lines(log: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in log.read_text("utf-8").splitlines()]


def settings(root: Path, host: str) -> dict[str, object]:
    file = root / host / "_site.toml"
    return tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}


def visible(raw: str) -> str:
    """The words of a page, in lower case, each separated by one space."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", raw)).lower().split())


# The archive


def test_archive_is_small_plain_and_named_in_notice(sample: Path) -> None:
    """At most 1 MB; nothing but files inside host folders; NOTICE has every host."""
    assert sample_web.SAMPLE.stat().st_size <= 1_000_000
    with tarfile.open(fileobj=io.BytesIO(zstandard.decompress(sample_web.SAMPLE.read_bytes()))) as tar:
        assert all(m.isfile() and re.match(r"[a-z0-9.-]+\.test/", m.name) for m in tar)
    notice = (DEMO / "NOTICE").read_text("utf-8")
    assert [p.name for p in sample.iterdir() if f"\n{p.name}\n" not in notice] == []


def test_archive_is_large_and_diverse_enough(sample: Path) -> None:
    """At least 300 pages on 12 hosts in 4 languages, much of it Chinese, no host above a quarter."""
    per_host = Counter(p.relative_to(sample).parts[0] for p in pages(sample))
    recipe = tomllib.loads(RECIPE.read_text("utf-8"))["host"]
    languages: Counter[str] = Counter()
    for row in recipe:
        languages[row["language"]] += per_host[row["name"]]
    assert per_host.total() >= 300 and len(per_host) >= 12
    assert max(per_host.values()) <= per_host.total() / 4
    assert {"en", "zh", "de", "fr", "ja"} <= set(languages) and languages["zh"] >= 100
    chinese = [p for p in pages(sample) if p.relative_to(sample).parts[0].startswith("zh-cn.")]
    assert sum(len(re.findall("[\u4e00-\u9fff]", text_of(p))) >= 100 for p in chinese) >= 90


def test_hosts_behave_as_promised(sample: Path) -> None:
    """One GBK host, one mirror, v4-only and v6-only hosts, no traps, no canonical links to the real web."""
    every = {p.name: settings(sample, p.name) for p in sample.iterdir()}
    assert [h for h, s in every.items() if s.get("charset") == "gbk"] == ["zh-cn.faq.debian.test"]
    assert [s["mirror_of"] for s in every.values() if "mirror_of" in s] == ["flask.pallets.test"]
    assert [s["families"] for _, s in sorted(every.items()) if "families" in s] == [[4], [6]]
    assert not any("traps" in s for s in every.values())
    assert not any(re.search("<script|rel=.canonical|http-equiv=.refresh", text_of(p)) for p in pages(sample))


def test_unpack_stays_in_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names that climb, absolute names and links in an archive are passed over."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as tar:
        for name in ("../evil.html", "/tmp/evil.html", "a.test/../../evil.html", "a.test/good.html"):
            tar.addfile(tarfile.TarInfo(name))
        link = tarfile.TarInfo("a.test/link.html")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    archive = tmp_path / "x.tar.zst"
    archive.write_bytes(zstandard.compress(plain.getvalue()))
    monkeypatch.setattr(sample_web, "SAMPLE", archive)
    unpack_sample(tmp_path / "in" / "to")
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == [archive, tmp_path / "in/to/a.test/good.html"]


# The server


async def test_every_page_is_reachable(sample: Path, tmp_path: Path) -> None:
    """From the portal, by links, redirects and sitemaps, over both families; only the orphans need the sitemap."""
    async with serve(sample, log=tmp_path / "log") as served, client(served) as session:
        start = f"http://portal.test:{served.port}/"
        linked, statuses = await crawl(session, served, [start])
        sitemap = await (await session.get(f"http://www.sqlite.test:{served.port}/sitemap.xml")).text()
        mapped, _ = await crawl(session, served, re.findall("<loc>(.*?)</loc>", sitemap))
    fronts = {f"{h}{settings(sample, h).get('front', '/index.html')}" for h in served.hosts}
    files = {p.relative_to(sample).as_posix() for p in pages(sample)} - fronts
    assert files - linked == {"www.sqlite.test/different.html", "www.sqlite.test/whynotgit.html"}
    assert files - linked - mapped == set()
    assert len(linked) >= 300 and statuses[301] >= 5 and statuses[302] >= 3
    logged = log_lines(tmp_path / "log")
    assert len({(line["host"], line["path"]) for line in logged}) >= len(linked)
    assert {str(line["ip"]).count(":") > 0 for line in logged} == ({True, False} if has_ipv6(served) else {False})


async def crawl(session: aiohttp.ClientSession, served: ServedWeb, starts: list[str]) -> tuple[set[str], Counter[int]]:
    """Breadth-first: the host/path of each page with status 200, and how often each status came."""
    queue, seen, found, statuses = list(starts), set(starts), set(), Counter[int]()
    for url in queue:
        async with session.get(url, allow_redirects=False) as response:
            body = await response.read()
        statuses[response.status] += 1
        links = [response.headers["Location"]] if response.status in (301, 302) else []
        if response.status == 200:
            found.add(f"{response.url.host}{response.url.path}")
            text = body.decode(response.charset or "utf-8", "replace")
            base = BASE.search(text)
            here = urljoin(url, base[1]) if base else url
            links = [urljoin(here, html.unescape(link)) for link in LINK.findall(text)]
        for link in (urldefrag(urljoin(url, link)).url for link in links):
            if link not in seen and urlsplit(link).scheme == "http" and urlsplit(link).hostname in served.hosts:
                seen.add(link)
                queue.append(link)
    return found, statuses


def has_ipv6(served: ServedWeb) -> bool:
    return any(":" in a for addresses in served.hosts.values() for a in addresses)


async def test_redirects(sample: Path) -> None:
    """Within a host in two steps, and from host to host; both end at a page on the real port."""
    async with serve(sample) as served, client(served) as session:
        for start, end, steps in (
            ("www.postgresql.test:{}/docs/15/dml.html", "www.postgresql.test:{}/dml.html", [302, 301]),
            ("python.test:{}/3/howto/sockets.html", "docs.python.test:{}/howto/sockets.html", [301]),
        ):
            async with session.get("http://" + start.format(served.port)) as response:
                assert response.status == 200 and [step.status for step in response.history] == steps
                assert str(response.url) == "http://" + end.format(served.port)


async def test_robots_sitemap_and_charset(sample: Path) -> None:
    """robots.txt forbids pages that exist and are linked; its sitemap is there; GBK bodies are GBK."""
    async with serve(sample) as served, client(served) as session:
        base = f"http://docs.python.test:{served.port}"
        robots = Protego.parse(await (await session.get(f"{base}/robots.txt")).text())
        assert not robots.can_fetch(f"{base}/c-api/index.html", "bot") and robots.can_fetch(f"{base}/", "bot")
        assert (await session.get(f"{base}/c-api/index.html")).status == 200
        assert 'href="c-api/index.html"' in await (await session.get(f"{base}/")).text()
        sqlite = await (await session.get(f"http://www.sqlite.test:{served.port}/robots.txt")).text()
        assert f"Sitemap: http://www.sqlite.test:{served.port}/sitemap.xml" in sqlite
        async with session.get(f"http://zh-cn.faq.debian.test:{served.port}/pkgtools.zh-cn.html") as response:
            body = await response.read()
        assert response.charset == "gbk" and "软件包管理工具" in body.decode("gbk") and b"charset=gbk" in body


async def test_mirror_is_equal_and_validators_work(sample: Path) -> None:
    """The mirror gives the same bytes; a known ETag or a later date gives 304; the ETag is the same next time."""
    tags: list[tuple[str, int]] = []
    for _ in range(2):
        async with serve(sample, port=tags[0][1] if tags else 0) as served, client(served) as session:
            first, second = (f"http://{h}.test:{served.port}/logging.html" for h in ("flask.pallets", "mirror.flask"))
            one, two = await session.get(first), await session.get(second)
            assert await one.read() == await two.read()
            tags.append((one.headers["ETag"], served.port))
            assert (await session.get(first, headers={"If-None-Match": tags[0][0]})).status == 304
            page = f"http://tldp.test:{served.port}/untyped.html"
            dated = {"If-Modified-Since": (await session.get(page)).headers["Last-Modified"]}
            assert (await session.get(page, headers=dated)).status == 304
    assert tags[0] == tags[1]


async def test_unknown_host_log_and_counters(sample: Path, tmp_path: Path) -> None:
    """An unknown host gets 421; the log has every request while the server still runs; the counters agree."""
    log = tmp_path / "log.jsonl"
    async with serve(sample, log=log) as served, client(served) as session:
        url = f"http://127.0.0.1:{served.port}/a?b=%20"
        assert (await session.get(url, headers={"Host": "nobody.test", "User-Agent": "t"})).status == 421
        assert (await session.get(f"http://portal.test:{served.port}/")).status == 200
        lines = log_lines(log)
        stats = await (await session.get(f"http://127.0.0.1:{served.admin_port}/__stats")).json()
        reset = await (await session.get(f"http://127.0.0.1:{served.admin_port}/__reset")).json()
        truth = f"http://127.0.0.1:{served.admin_port}/__truth?host=tldp.test"
        assert len((await (await session.get(truth)).json())["pages"]) == 32
    assert [(line["host"], line["path"], line["status"]) for line in lines] == [
        ("nobody.test", "/a?b=%20", 421),
        ("portal.test", "/", 200),
    ]
    assert set(lines[0]) == {"t", "host", "path", "ua", "ip", "status", "bytes", "ms"} and lines[0]["ua"] == "t"
    assert stats["requests"] == 2 and stats["hosts"]["portal.test"]["repeats"] == 0 and reset["requests"] == 0


async def test_addresses_follow_families(sample: Path) -> None:
    """v4-only and v6-only as declared; IPv4 for all where IPv6 is not wanted; the hosts file says the same."""
    async with serve(sample, ipv6=False) as served:
        assert all(len(found) == 1 and found[0].startswith("127.0.") for found in served.hosts.values())
    async with serve(sample, options=ServeOptions(spread=4)) as served:
        if has_ipv6(served):
            assert served.hosts["zh-cn.libreoffice.test"] == ("::1",) and len(served.hosts["tldp.test"]) == 2
        assert len(served.hosts["jinja.pallets.test"]) == 1 and ":" not in served.hosts["jinja.pallets.test"][0]
        assert hosts_file(served).count("\n") == sum(map(len, served.hosts.values()))
        assert f"http://portal.test:{served.port}/" in start_urls(served)


async def test_any_folder_of_sites(tmp_path: Path) -> None:
    """Without `_site.toml`: its own robots.txt, its own charset, and a listing where there is no index.html."""
    (tmp_path / "one.example" / "sub").mkdir(parents=True)
    (tmp_path / "two.example").mkdir()
    (tmp_path / "two.example" / "index.html").write_text("<p>front")
    (tmp_path / "one.example" / "sub" / "é & b.html").write_text("<p>hello")
    (tmp_path / "one.example" / "gbk.html").write_bytes("<meta charset=gbk><p>中文".encode("gbk"))
    (tmp_path / "one.example" / "robots.txt").write_text("User-agent: *\nDisallow: /sub/\n")
    async with serve(tmp_path) as served, client(served) as session:
        one, two = start_urls(served)
        assert "front" in await (await session.get(two)).text()
        found, statuses = await crawl(session, served, [one])
        assert found == {"one.example/", "one.example/gbk.html", "one.example/sub/é & b.html"} and len(statuses) == 1
        assert "Disallow: /sub/" in await (await session.get(one + "robots.txt")).text()
        assert (await session.get(two + "robots.txt")).status == 200
        assert (await session.get(one + "gbk.html")).charset is None
        assert (await session.get(one + "sub/%C3%A9%20&%20b.html/")).status == 404
        assert (await session.get(two + "%2e%2e/one.example/gbk.html")).status == 404


async def test_wrong_folder_settings_and_port(tmp_path: Path, sample: Path) -> None:
    """Each mistake is told in one line that names it."""
    with pytest.raises(BadSite, match="no folder with one subfolder per host"):
        await serve(tmp_path / "nothing").__aenter__()
    (tmp_path / "a.test").mkdir()
    (tmp_path / "a.test" / "_site.toml").write_text("tarps = []")
    with pytest.raises(BadSite, match=r"a\.test/_site\.toml: .*tarps"):
        await serve(tmp_path).__aenter__()
    async with serve(sample) as served:
        with pytest.raises(sample_web.PortTaken, match=f"port {served.port}"):
            await serve(sample, served.port).__aenter__()


async def test_as_a_program(tmp_path: Path) -> None:
    """Prints one line when it is ready, and ends cleanly on SIGTERM with the log complete."""
    log, hosts = tmp_path / "log", tmp_path / "hosts"
    command = [sys.executable, "-m", "node.extras.demo.sample_web", "--port=0", "--admin-port=0", f"--log={log}"]
    program = await asyncio.create_subprocess_exec(
        *command, f"--hosts-file={hosts}", stdout=subprocess.PIPE, cwd=DEMO.parents[2]
    )
    assert program.stdout is not None
    ready = (await program.stdout.readline()).decode()
    found = re.fullmatch(r"16 hosts on port (\d+); admin port \d+\n", ready)
    assert found, ready
    async with aiohttp.ClientSession() as session:
        url = f"http://127.0.0.1:{found[1]}/"
        assert (await session.get(url, headers={"Host": f"tldp.test:{found[1]}"})).status == 200
        program.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(program.wait(), 10) == 0
    assert [line["host"] for line in log_lines(log)] == ["tldp.test"] and "portal.test 127." in hosts.read_text()


# The demo's queries


def demo_queries() -> list[tuple[str, str]]:
    return [(row["q"], row["expect"]) for row in json.loads((DEMO / "queries.json").read_text("utf-8"))]


def test_queries_show_the_query_language() -> None:
    """At least ten, with Chinese, a phrase, a site, an exclusion and other languages."""
    asked = " ".join(query for query, _ in demo_queries())
    assert len(demo_queries()) >= 10
    assert all(re.search(p, asked) for p in ("[\u4e00-\u9fff]{2}", '"[^"]+ [^"]+"', r"site:\S+\.test", r"\s-\w+"))


@pytest.mark.parametrize(("query", "expect"), demo_queries())
async def test_query_expects_a_page_that_answers_it(sample: Path, query: str, expect: str) -> None:
    """The page is served, allowed by robots.txt, no copy of another, and has the words, one in its title."""
    async with serve(sample) as served, client(served) as session:
        url = expect.replace(":8800", f":{served.port}")
        base = urljoin(url, "/")
        robots = Protego.parse(await (await session.get(base + "robots.txt")).text())
        async with session.get(url, allow_redirects=False) as response:
            raw = await response.text()
    host = urlsplit(url).hostname or ""
    assert response.status == 200 and robots.can_fetch(url, "bot")
    assert not host.startswith("mirror.") and host != "flask.pallets.test" and urlsplit(url).path != "/"
    text = visible(raw)
    for phrase in re.findall('"([^"]*)"', query):
        assert phrase in text
    words = re.sub(r'site:\S+|"', " ", query).lower().split()
    assert all((word.removeprefix("-") in text) == (word[0] != "-") for word in words)
    title = visible(raw[: re.search("</title", raw, re.I).start()])  # type: ignore[union-attr]
    assert any(word in title for word in words)
    assert all(site == host for site in re.findall(r"site:(\S+)", query))
