"""A site tells the crawler's requests from others by examples/verify_crawler.py, which shares no code with it."""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from msgspec.structs import replace

from crawl import CrawlConfig, InlineParsers, RequestSigner, open_fetcher
from crawl.fetch.fetcher import HttpFetcher
from dht import CrawlerKey, Identity, crawler_key_of, json_web_key, system_clock
from tests.crawl.world import Crawl, linked, seed

EXAMPLE = Path(__file__).parents[3] / "examples" / "verify_crawler.py"
MEMBER, STRANGER = Identity(b"m" * 32), Identity(b"s" * 32)
DIRECTORY = "https://dse.example.edu"
AGENT = "dse-node/1 (+https://dse.example.edu/bot)"
Told = tuple[str, str, dict[str, str]]  # method, target and fields of a request, as they came


@pytest.fixture(scope="module")
def example() -> Any:
    spec = spec_from_file_location("verify_crawler", EXAMPLE)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def keys() -> list[dict[str, str]]:
    """Return the key directory of the network's only member."""
    public = crawler_key_of(MEMBER.public_key)
    assert public is not None
    return [json_web_key(public)]


@asynccontextmanager
async def listening_site(pages: dict[str, web.Response | str]) -> AsyncIterator[tuple[int, list[Told]]]:
    """A site, and what it was told."""
    told: list[Told] = []

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        told.append(
            (request.method, request.raw_path, {name.lower(): value for name, value in request.headers.items()})
        )
        page = pages.get(request.raw_path)
        if isinstance(page, str):
            return web.Response(text=page, content_type="text/html")
        return page or web.Response(status=404)

    runner = web.ServerRunner(web.Server(answer), shutdown_timeout=0.1)
    await runner.setup()
    listener = web.TCPSite(runner, "127.0.0.1", 0)
    await listener.start()
    try:
        yield runner.addresses[0][1], told
    finally:
        await runner.cleanup()


@asynccontextmanager
async def signing(config: CrawlConfig, identity: Identity = MEMBER) -> AsyncIterator[HttpFetcher]:
    config = replace(config, info_url=f"{DIRECTORY}/bot")
    signer = RequestSigner(CrawlerKey(identity), config.key_origin(), system_clock, os.urandom)
    async with open_fetcher(config, "1", system_clock, signer=signer) as fetcher:
        yield fetcher


async def test_every_request_of_a_crawl_is_signed_for_its_own_url(
    config: CrawlConfig, example: Any, keys: list[dict[str, str]]
) -> None:
    moved = web.Response(status=301, headers={"Location": "/new?a=1&b=%20c"})
    pages: dict[str, web.Response | str] = {"/": linked("/old"), "/old": moved, "/new?a=1&b=%20c": linked("/?")}
    async with listening_site(pages) as (port, told), signing(config) as fetcher:
        await Crawl(config, fetcher, InlineParsers()).run(seed(f"http://a.test:{port}/"))
    assert {"/robots.txt", "/", "/old", "/new?a=1&b=%20c"} <= {target for _, target, _ in told}
    now = system_clock().wall
    assert {example.verify(*each, keys, now) for each in told} == {keys[0]["kid"]}
    assert {fields["signature-agent"] for *_, fields in told} == {f'sig1="{DIRECTORY}"'}
    assert len({fields["signature"] for *_, fields in told}) == len(told)


Change = Callable[[Told], Told]
CHANGES: dict[str, Change] = {
    "another page": lambda told: (told[0], "/b?q=1", told[2]),
    "another query": lambda told: (told[0], "/a?q=2", told[2]),
    "another method": lambda told: ("POST", *told[1:]),
    "another host": lambda told: (*told[:2], {**told[2], "host": "b.test"}),
    "another name": lambda told: (*told[:2], {**told[2], "user-agent": "Mozilla/5.0"}),
    "another directory": lambda told: (*told[:2], {**told[2], "signature-agent": 'sig1="https://evil.example"'}),
    "a longer life": lambda told: (
        *told[:2],
        {**told[2], "signature-input": told[2]["signature-input"].replace(";expires=", ";expires=9")},
    ),
    "fewer parts": lambda told: (
        *told[:2],
        {**told[2], "signature-input": told[2]["signature-input"].replace(' "@target-uri"', "")},
    ),
    "no signature": lambda told: (*told[:2], {k: v for k, v in told[2].items() if not k.startswith("signature")}),
    "half a signature": lambda told: (*told[:2], {**told[2], "signature": told[2]["signature"][:40] + ":"}),
}


async def a_request(config: CrawlConfig, identity: Identity = MEMBER) -> Told:
    async with listening_site({"/a?q=1": "hi"}) as (port, told), signing(config, identity) as fetcher:
        await fetcher.fetch(f"http://a.test:{port}/a?q=1", {"If-None-Match": '"tag"'}, 1000)
    return told[0]


async def test_what_was_changed_or_signed_by_others_is_found_out(
    config: CrawlConfig, example: Any, keys: list[dict[str, str]]
) -> None:
    told, now = await a_request(config), system_clock().wall
    assert told[2]["user-agent"] == AGENT and example.verify(*told, keys, now) == keys[0]["kid"]
    for name, change in CHANGES.items():
        with pytest.raises(example.Forged):
            example.verify(*change(told), keys, now)
            pytest.fail(f"{name} was not found out")
    for of_another_time in (now - 120, now + 301):
        with pytest.raises(example.Forged, match="another time"):
            example.verify(*told, keys, of_another_time)
    with pytest.raises(example.Forged, match="no member"):
        example.verify(*await a_request(config, STRANGER), keys, now)
    borrowed = [{**keys[0], "kid": json_web_key(CrawlerKey(STRANGER).public_key)["kid"]}]
    with pytest.raises(example.Forged, match="another key"):
        example.verify(*await a_request(config, STRANGER), borrowed, now)


async def test_the_note_of_a_request_leaves_its_signature_out(config: CrawlConfig) -> None:
    async with listening_site({"/": "hi"}) as (port, _), signing(config) as fetcher:
        answered = await fetcher.fetch(f"http://a.test:{port}/", {}, 1000)
    assert answered.sent is not None and answered.sent.agent == AGENT


@pytest.mark.parametrize(
    ("info_url", "setting", "origin"),
    [
        ("https://dse.example.edu/bot", "", "https://dse.example.edu"),
        ("https://example.edu:8443/bot", "", "https://example.edu:8443"),
        ("http://dse.example.edu/bot", "", ""),
        ("https://example.edu/about/bot", "", ""),
        ("https://example.edu/about", "https://keys.example.edu", "https://keys.example.edu"),
        ("", "", ""),
    ],
)
def test_where_keys_are_found(info_url: str, setting: str, origin: str) -> None:
    assert CrawlConfig(info_url=info_url, key_directory=setting).key_origin() == origin


@pytest.mark.parametrize("bad", ["http://a.example", "https://a.example/", "https://a b", 'https://a"', "https://A.b"])
def test_a_directory_that_is_no_https_origin_is_refused(bad: str) -> None:
    with pytest.raises(ValueError, match="key_directory"):
        CrawlConfig(key_directory=bad)
