"""The request that brought a page goes with it, from the fetch over the store into archives of other programs."""

import asyncio
import io

import pytest
from msgspec.structs import replace
from warcio.archiveiterator import ArchiveIterator

from crawl import CrawlConfig, Fetched, SentRequest, open_fetcher, request_fields
from crawl.content.page import ParseResult
from crawl.content.robots_directives import RobotsDirectives
from crawl.pipeline.process_stage import page_of
from dht import document_id, placement_key, system_clock
from node.captures.capture import Capture, capture_of
from node.captures.imported_page import kept_request, response_of
from node.crawling.ingest import document_of
from node.extras.archive.json_lines import read_json_lines, write_json_lines
from node.extras.archive.warc_reader import read_warc
from node.extras.archive.warc_writer import write_warc
from store import Document, Draft, Kind, RequestNote, decode_document, encode_document
from store.record.document import document_flaw
from tests.node.extras.archive.samples import HTML, MADE_AT, capture
from tests.store.support import records

CONFIG = CrawlConfig(allow_private=True, info_url="https://a.example/bot")
VALIDATORS = {"If-None-Match": '"x"', "If-Modified-Since": "Tue, 24 Nov 2026 10:00:00 GMT"}
OURS = SentRequest(1, "dse-node/1", '"tag"')


async def fetched(validators: dict[str, str]) -> tuple[Fetched, bytes]:
    """Return what a site answered, and the head of the request as it came there."""
    heads: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\n<p>hi")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/a?b=%20c"
    try:
        async with open_fetcher(CONFIG, "1", system_clock) as fetcher:
            return await fetcher.fetch(url, validators, 1 << 20), heads[0]
    finally:
        server.close()


def stored(response: Fetched) -> Capture:
    """Return a page as an export has it, once it was written as a record's body and read back."""
    page = page_of(response, ParseResult("", "", "", (), "", ()), MADE_AT - 9.0, RobotsDirectives())
    document = decode_document(encode_document(document_of(page)))
    assert document_flaw(document, MADE_AT, has_content=True) == ""
    draft = Draft(Kind.DOCUMENT, document_id(page.url), placement_key(page.url), 1, int(MADE_AT * 1000), 99_999,
                  encode_document(document), page.content)  # fmt: skip
    [record] = records(draft)
    return capture_of(record, document)


@pytest.mark.parametrize("validators", [{}, VALIDATORS])
async def test_what_a_site_was_sent_stands_byte_for_byte_beside_its_answer(validators: dict[str, str]) -> None:
    response, head = await fetched(validators)
    out = io.BytesIO()
    write_warc([stored(response)], out, MADE_AT)
    asked, answered = [
        (each.rec_headers, each.rec_type, each.http_headers, each.raw_stream.read())
        for each in ArchiveIterator(io.BytesIO(out.getvalue()), no_record_parse=True)
    ][1:]
    assert (asked[1], answered[1]) == ("request", "response")
    assert asked[3] == head
    assert asked[0]["WARC-Concurrent-To"] == answered[0]["WARC-Record-ID"]
    assert asked[0]["WARC-Target-URI"] == answered[0]["WARC-Target-URI"] == response.url
    assert asked[0]["Content-Type"] == "application/http; msgtype=request"
    [parsed] = [each for each in ArchiveIterator(io.BytesIO(out.getvalue())) if each.rec_type == "request"]
    assert parsed.http_headers.get_header("User-Agent") == "dse-node/1 (+https://a.example/bot)"
    warc = pytest.importorskip("fastwarc.warc", reason="fastwarc is not installed")
    [seen] = warc.ArchiveIterator(io.BytesIO(out.getvalue()), record_types=warc.WarcRecordType.request)
    assert seen.http_headers["User-Agent"] == "dse-node/1 (+https://a.example/bot)"
    assert seen.headers["WARC-Concurrent-To"] == answered[0]["WARC-Record-ID"]


async def test_an_import_keeps_the_request_of_an_export() -> None:
    response, _ = await fetched({"If-None-Match": '"x"'})
    exported = stored(response)
    for write, read in ((lambda c, f: write_warc(c, f, MADE_AT), read_warc), (write_json_lines, read_json_lines)):
        out = io.BytesIO()
        write([exported], out)
        [brought] = read(io.BytesIO(out.getvalue()))
        assert isinstance(brought, Capture) and kept_request(brought) == exported.request
        assert response_of(brought).sent == response.sent
        assert stored(response_of(brought)).request == exported.request


def test_of_other_requests_an_import_keeps_nothing() -> None:
    asked = capture("http://b.example/asked", b"<p>", HTML, request=(("Host", "b.example"), ("User-Agent", "x")))
    assert kept_request(asked) == () and response_of(asked).sent is None
    told = request_fields("http://b.example/other", OURS)
    assert kept_request(capture("http://c.example/", b"<p>x", HTML, request=told)) == (), "which was sent elsewhere"
    assert kept_request(capture("http://[x/", b"<p>x", HTML, request=told)) == ()


def test_a_page_that_was_not_fetched_has_no_request() -> None:
    document = Document("http://a.test/", 1.0, 200, request=RequestNote(1, "us/1"))
    assert decode_document(encode_document(document)).request == RequestNote(1, "us/1")
    assert decode_document(encode_document(replace(document, request=None))).request is None
    out = io.BytesIO()
    write_warc([capture("http://a.test/", b"<p>x", HTML)], out, MADE_AT)
    assert [each.rec_type for each in ArchiveIterator(io.BytesIO(out.getvalue()))] == ["warcinfo", "response"]


def test_a_request_takes_few_bytes() -> None:
    page = Document("http://a.test/", 1.0, 200)
    told = replace(page, request=RequestNote(1, CrawlConfig().user_agent("0.1.0")))
    assert len(encode_document(told)) - len(encode_document(page)) <= 20


@pytest.mark.parametrize(
    "note",
    [
        RequestNote(0, "us/1"), RequestNote(1 << 16, "us/1"), RequestNote(1, ""), RequestNote(1, "us\r\nX: y"),
        RequestNote(1, "x" * 513), RequestNote(1, "us/1", "x" * 1025), RequestNote(1, "us/1", "", "x\0"),
    ],
)  # fmt: skip
def test_a_page_whose_request_no_crawler_sends_is_refused(note: RequestNote) -> None:
    document = Document("http://a.test/", 1.0, 200, request=note)
    assert "request" in document_flaw(document, 1.0, has_content=True)
    later = replace(document, request=RequestNote(7, "us/1"))
    assert not document_flaw(later, 1.0, has_content=True), "of a later version"
