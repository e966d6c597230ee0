"""Heads that strict parsers refuse and browsers read: each costs its page at most, never its host."""

import asyncio
import gzip

import pytest

from crawl import Fetcher, FetchFailed, VisitState
from crawl.fetch.response import BodyShort
from tests.crawl.web.odd_answers import FRAMING, Asked, Plain
from tests.crawl.web.raw_sites import PAGE, RawSites, case, html, ok
from tests.crawl.world import Crawl, seed, state

TYPE, LENGTH = b"Content-Type: text/html", b"Content-Length: %d" % len(PAGE)
CHUNKS = b"%x\r\n%b\r\n0\r\n\r\n" % (len(PAGE), PAGE)
POLICY = b"Content-Security-Policy: " + b"script-src 'sha256-abcdefghijklmnopqrstuvwxyz0123456789' " * 160
READ = {  # name: what the site sends; the page is read in each
    "12: a policy of 9 kB": ok(TYPE, POLICY, LENGTH),
    "60 kB of a policy": ok(POLICY * 6, TYPE, LENGTH),
    "400 fields": ok(*(b"X-%d: y" % n for n in range(400)), TYPE, LENGTH),
    "a line without a colon": ok(b"PHP Warning in line 3", TYPE, LENGTH),
    "a space in a name": ok(b"Power by: Auto Capri", TYPE, LENGTH),  # iipc/jwarc 50
    "a space before the colon": ok(b"Content-Type : text/html", LENGTH),
    "no name": ok(b": x", TYPE, LENGTH),
    "a name that is not ASCII": ok("Größe: 7".encode("latin-1"), TYPE, LENGTH),
    "a value that is not ASCII": ok("X: Größe".encode("latin-1"), TYPE, LENGTH),
    "a NUL in a length": ok(TYPE, b"Content-Length:    %d\0" % len(PAGE)),  # heritrix3 449
    "a field that goes on": ok(b"X: one", b"  two", b"\tthree", b"Content-Type:", b" text/html", b"no colon", LENGTH),
    "a first line that goes on": ok(b" lost", b"no colon", TYPE, LENGTH),
    "bare line feeds": ok(b"no colon", TYPE, LENGTH, body=b"").replace(b"\r\n", b"\n") + PAGE,
    "doubled carriage returns": ok(TYPE, LENGTH, body=b"").replace(b"\r\n", b"\r\r\n") + PAGE,
    "a bare carriage return": ok(b"X: a\rb", TYPE, LENGTH),
    "chunks and a length": ok(TYPE, b"Content-Length: 3", b"Transfer-Encoding: chunked", body=CHUNKS),
    "a length and chunks": ok(b"Transfer-Encoding: chunked", b"Content-Length: 3", TYPE, body=CHUNKS),
    "identity and a length": ok(TYPE, b"Transfer-Encoding: identity", LENGTH),
    "one length twice": ok(TYPE, LENGTH, LENGTH),
    "one length twice in a field": ok(TYPE, b"Content-Length: %d, %d" % (len(PAGE), len(PAGE))),
    "a length with zeros, twice": ok(TYPE, LENGTH, b"Content-Length: 00%d" % len(PAGE)),
    "an empty length": ok(TYPE, b"Content-Length:"),
    "a length that is no number": ok(TYPE, b"Content-Length: -1"),
    "HTTP/2 in words": ok(TYPE, LENGTH).replace(b"HTTP/1.1", b"HTTP/2"),
    "no version": ok(TYPE, LENGTH).replace(b"HTTP/1.1", b"HTTP"),
    "small letters": ok(TYPE, LENGTH).replace(b"HTTP", b"http"),
    "two spaces": ok(TYPE, LENGTH).replace(b" 200", b"  200"),
    "a radio's answer": ok(TYPE, LENGTH).replace(b"HTTP/1.1", b"ICY"),
    "hints before": b"HTTP/1.1 103 Early\r\nno colon\r\nLink: </a>\r\n\r\n" + ok(b"no colon", TYPE, LENGTH),
    "status 203": ok(TYPE, LENGTH, status=b"203 Non-Authoritative Information"),
    "status 202": ok(TYPE, LENGTH, status=b"202 Accepted"),
    "a part that is all": ok(TYPE, b"Content-Range: bytes 0-53/54", LENGTH, status=b"206 Partial Content"),
    "no coding": ok(TYPE, b"Content-Encoding: utf-8", LENGTH),
    "gzip that ends early": ok(TYPE, b"Content-Encoding: gzip", body=gzip.compress(PAGE)[:-8]),
    "gzip with a wrong sum": ok(TYPE, b"Content-Encoding: gzip", body=gzip.compress(PAGE)[:-8] + b"12345678"),
    "chunks with bare line feeds": ok(TYPE, b"Transfer-Encoding: chunked", body=CHUNKS.replace(b"\r\n", b"\n")),
    "trailers that are none": ok(TYPE, b"Transfer-Encoding: chunked", body=CHUNKS[:-2] + b"no colon\r\n\r\n"),
}
LOST = {  # name: what the site sends, and how the page's reason ends
    "different lengths": (ok(TYPE, LENGTH, b"Content-Length: 9"), "the server gives 2 different lengths of one page"),
    "different lengths in a field": (ok(TYPE, b"Content-Length: 9, 8"), "2 different lengths of one page"),
    "over 64 kB": (ok(POLICY * 8, TYPE, LENGTH), "the server's header is over 64 kB"),
    "over 64 kB in all": (ok(*[POLICY] * 8, b"no colon", TYPE, LENGTH), "the server's header is over 64 kB"),
    "501 lines": (ok(*[b"X: y"] * 501, TYPE, LENGTH), "the server's header has more than 500 lines"),
    "no HTTP": (b"220 mail.test ESMTP\r\n\r\n", "the answer is no HTTP"),
    "chunks that are none": (ok(TYPE, b"Transfer-Encoding: chunked"), "the body's chunks cannot be told apart"),
    "no content": (ok(TYPE, status=b"204 No Content", body=b""), "status 204"),
    "a part": (ok(TYPE, b"Content-Range: bytes 0-53/99", LENGTH, status=b"206 Partial Content"), "status 206"),
}


def at(n: int, path: str = "/") -> str:
    return f"http://s{n}.test{path}"


async def test_a_page_with_an_odd_head_is_read(sites: RawSites, crawl: Crawl) -> None:
    sites.answers = {at(n): answer for n, answer in enumerate(READ.values())}
    await crawl.run(*(seed(sites.url(url)) for url in sites.answers))
    states = {name: state(crawl, sites.url(at(n))) for n, name in enumerate(READ)}
    assert states == dict.fromkeys(READ, (VisitState.FETCHED, ""))
    assert {page.title for page in crawl.owner.pages.values()} == {"page"}


async def test_what_cannot_be_read_costs_its_page_alone(sites: RawSites, crawl: Crawl) -> None:
    """Not even robots.txt bars its host for long, and no breaker opens."""
    good = at(0, "/good")
    sites.answers = {at(0, f"/{n}"): answer for n, (answer, _) in enumerate(LOST.values())} | {good: html(PAGE)}
    seeds = [*(seed(sites.url(url)) for url in sites.answers if url != good), seed(sites.url(good))]
    await crawl.run(*seeds)
    for n, (_, reason) in enumerate(LOST.values()):
        assert reason in state(crawl, sites.url(at(0, f"/{n}")))[1]
    assert state(crawl, sites.url(good)) == (VisitState.FETCHED, "")
    assert crawl.crawler.status().broken == 0


async def test_robots_with_an_odd_head_are_read_and_what_is_lost_is_asked_for_again(
    sites: RawSites, crawl: Crawl
) -> None:
    rules = b"User-agent: *\nDisallow: /private"
    sites.answers = {
        at(0, "/robots.txt"): ok(b"no colon", POLICY, body=rules, status=b"203 Odd"),
        at(1, "/robots.txt"): ok(b"Content-Length: 1", b"Content-Length: 2", body=rules),
        at(2, "/robots.txt"): ok(b"Content-Length: 500", body=rules + b"\nDisallow: /x"),  # of /xy, perhaps
    }
    urls = [at(n, path) for n in (0, 2) for path in ("/private", "/open")]
    sites.answers |= {url: html(PAGE) for url in urls}
    await crawl.run(*(seed(sites.url(url)) for url in urls))
    for n in (0, 2):
        assert state(crawl, sites.url(at(n, "/private")))[1] == "robots"
        assert state(crawl, sites.url(at(n, "/open"))) == (VisitState.FETCHED, "")
    visit = seed(sites.url(at(1)))
    with pytest.raises(TimeoutError):
        await crawl.run(visit, within_s=3.0)
    assert sites.asked.count(at(1, "/robots.txt")) > 3, "its pages wait for it, but not for a day"
    reason = "robots.txt unreachable: protocol: the server gives 2 different lengths of one page"
    assert state(crawl, visit.url) == (VisitState.FAILED, reason)


async def test_a_body_that_always_ends_early_is_read_at_the_second_try(
    sites: RawSites, crawl: Crawl, fetcher: Fetcher
) -> None:
    sites.answers = {
        at(0): ok(TYPE, b"Content-Length: 999"),
        at(1): ok(TYPE, b"Transfer-Encoding: chunked", body=CHUNKS[:-5]),
    }
    await crawl.run(*(seed(sites.url(url)) for url in sites.answers), within_s=20.0)
    for url in sites.answers:
        assert state(crawl, sites.url(url)) == (VisitState.FETCHED, "")
        assert sites.asked.count(url) == 2
    with pytest.raises(BodyShort) as failed:
        await fetcher.fetch(sites.url(at(0)), {}, 1 << 20)
    assert failed.value.fetched.body == PAGE
    sites.silent_s, sites.answers[at(3)] = 0.7, sites.answers[at(0)]
    with pytest.raises(BodyShort):
        await fetcher.fetch(sites.url(at(3)), {}, 1 << 20)
    sites.silent_s, sites.answers[at(2)] = 0.0, ok(TYPE, b"Content-Length: 999", body=b"")
    with pytest.raises(FetchFailed, match="it ends before it is complete"):
        await fetcher.fetch(sites.url(at(2)), {}, 1 << 20)


PDF = case("07-content-type-misspelt")["http://x38.test/nontype.pdf"].partition(b"\r\n\r\n")[2]
TYPES = {  # name: fields of the head, the body, and the media type that the page has
    "no space": ((b"Content-Type:text/html;charset=utf-8",), PAGE, "text/html"),
    "no slash": ((b"Content-Type: html",), PAGE, "text/html"),
    "empty": ((b"Content-Type:",), PAGE, "text/html"),
    "a comment": ((b"Content-Type: text/html(page)x/y z",), PAGE, "text/html"),
    "any": ((b"Content-Type: text/html", b"Content-Type: */*"), PAGE, "text/html"),
    "the last counts": ((b"Content-Type: image/png", b"Content-Type: text/html"), PAGE, "text/html"),
    "PDF by its bytes": ((b"Content-Type: application pdf",), PDF, "application/pdf"),
    "words": ((b"Content-Type: text/plain charset=utf-8",), b"some words", "text/plain"),
}


async def test_a_type_that_cannot_be_parsed_is_sniffed(sites: RawSites, crawl: Crawl) -> None:
    given = case("07-content-type-misspelt")
    sites.answers = given | {at(n): ok(*fields, body=body) for n, (fields, body, _) in enumerate(TYPES.values())}
    await crawl.run(*(seed(sites.url(url)) for url in sites.answers))
    types = {url: crawl.owner.pages[sites.url(url)].media_type for url in sites.answers}
    wanted = {url: "application/pdf" if url.endswith("pdf") else "text/html" for url in given}
    assert types == wanted | {at(n): kind for n, (_, _, kind) in enumerate(TYPES.values())}
    assert "notype words" in crawl.owner.pages[sites.url("http://x38.test/nontype.pdf")].text
    assert crawl.owner.pages[sites.url("http://ct.test/two")].text == "walrusseven two 中文"


CHUNKED_FORMS = [name for name in FRAMING if "chunks" in name or "trailer" in name or "sizes" in name]


@pytest.mark.parametrize("name", CHUNKED_FORMS)
async def test_odd_chunks_lose_no_byte(name: str, sites: RawSites, fetcher: Fetcher) -> None:
    whole = b"".join(b"\n\r\nline %d" % n for n in range(20_000))  # several reads
    for body in (PAGE, whole):
        sites.answers[at(0)] = FRAMING[name](Plain(body), Asked("", "/"))
        assert (await fetcher.fetch(sites.url(at(0)), {}, 1 << 20)).body == body


async def test_a_server_that_knows_no_secure_renegotiation_is_accepted(fetcher: Fetcher) -> None:
    """OpenSSL 3 refuses its hello, and browsers do not (warcprox 245)."""
    hello = b"\x02\0\0\x26\3\3" + bytes(32) + b"\0\xc0\x2f\0"  # of TLS 1.2, without extensions

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(4096)
        writer.write(b"\x16\3\3" + len(hello).to_bytes(2) + hello)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"https://s0.test:{server.sockets[0].getsockname()[1]}/"
    async with server, asyncio.timeout(10):
        with pytest.raises(FetchFailed) as failed:
            await fetcher.fetch(url, {}, 99)
    assert "RENEGOTIATION" not in failed.value.reason.upper()
