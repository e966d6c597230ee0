"""Network files behind URLs: the right one, from where it is safe, within bounds."""

from collections.abc import AsyncIterator, Callable

import pytest
from aiohttp import web

from bootstrap import fetch_network, load_network, new_network, url_flaw
from bootstrap.networks import MAX_FILE_BYTES
from dht import BadStrategy, Identity, Strategy

FIRST = Strategy(network="", version=1, effective_at=0, next_at=1, expires_at=2)
TEXT = new_network(
    "campus", [Identity(b"\1" * 32)], FIRST, bootstrap=["192.0.2.1:8091"], seeds=["dse.example.edu:8091"]
)
ID = load_network(TEXT).id

Serve = Callable[[dict[str, web.Response | Callable[[], web.Response]]], str]


@pytest.fixture
async def serve() -> AsyncIterator[Callable[..., object]]:
    """Serve texts by path on loopback; gives the base URL."""
    runners: list[web.AppRunner] = []

    async def start(pages: dict[str, tuple[int, str, str]]) -> str:
        async def answer(request: web.Request) -> web.Response:
            status, text, location = pages[request.path]
            return web.Response(status=status, text=text, headers={"Location": location} if location else {})

        app = web.Application()
        app.router.add_get("/{path:.*}", answer)
        runner = web.AppRunner(app)
        runners.append(runner)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        return f"http://127.0.0.1:{runner.addresses[0][1]}"

    yield start
    for runner in runners:
        await runner.cleanup()


async def test_the_network_behind_a_url_is_the_one_in_the_file(serve: Callable[..., object]) -> None:
    base = await serve({"/dse.toml": (200, TEXT, ""), "/moved": (302, "", "/dse.toml")})
    for url in (f"{base}/dse.toml", f"{base}/moved", f"{base}/moved#{ID}"):
        text, network = await fetch_network(url)
        assert (text, network) == (TEXT, load_network(TEXT))
        assert network.seeds == ("dse.example.edu:8091",)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/wrong#" + "ab" * 20, "not " + "ab" * 20),
        ("/edited", "fetch the network file again"),
        ("/long", "longer than"),
        ("/round", "more than 3 times"),
        ("/away", "http, which anybody"),
        ("/file", "not an http or https"),
        ("/gone", "status 404"),
        ("/text", "network file"),
    ],
)
async def test_anything_else_is_refused_with_a_reason(serve: Callable[..., object], path: str, reason: str) -> None:
    pages = {
        "/wrong": (200, TEXT, ""),
        "/edited": (200, TEXT.replace('"campus"', '"campuz"'), ""),
        "/long": (200, "#" * (MAX_FILE_BYTES + 1), ""),
        "/round": (302, "", "/round"),
        "/away": (302, "", "http://192.0.2.1/dse.toml"),
        "/file": (302, "", "file:///etc/passwd"),
        "/gone": (404, "", ""),
        "/text": (200, "hello", ""),
    }
    base = await serve(pages)
    with pytest.raises(BadStrategy, match=reason):
        await fetch_network(base + path)


async def test_nobody_there_is_one_clear_error() -> None:
    with pytest.raises(BadStrategy, match="cannot be fetched"):
        await fetch_network("http://127.0.0.1:9/dse.toml")


@pytest.mark.parametrize(
    ("url", "flaw"),
    [
        ("https://campus.example/dse.toml", ""),
        ("http://localhost:8000/dse.toml", ""),
        ("http://[::1]/dse.toml", ""),
        (f"http://campus.example/dse.toml#{ID}", ""),
        ("http://campus.example/dse.toml", "is http"),
        ("http://127.0.0.1.example.com/", "is http"),
        ("https://campus.example/dse.toml#here", "not end in a network's id"),
        ("ftp://campus.example/", "not an http or https"),
        ("https://", "not an http or https"),
        ("https://a:99999/", "ort"),
    ],
)
def test_where_a_network_may_come_from(url: str, flaw: str) -> None:
    assert flaw in url_flaw(url) and bool(flaw) == bool(url_flaw(url))
