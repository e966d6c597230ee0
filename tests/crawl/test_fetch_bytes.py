"""A server's bytes may be garbled anywhere: a fetch ends with a response or with a reason. The response can be read,
sent on as a validator and stored."""

import asyncio
import gzip
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from crawl import CrawlConfig, Fetched, FetchFailed, Visit, VisitState, open_fetcher
from crawl.fetch.fetcher import HttpFetcher
from crawl.pipeline.fetch_outcome import judge, validators
from crawl.schedule.revisit_policy import RevisitStatistics
from crawl.schedule.url_state import encode_visit
from dht import system_clock

MAX_BYTES = 20_000
PACKED = gzip.compress(b"<html><title>t</title><p>some words</html>" * 20, mtime=0)
OK = b"HTTP/1.1 200 OK\r\n"
ANSWERS = (
    OK + b'Content-Type: text/html; charset=utf-8\r\nContent-Length: 8\r\nETag: W/"a"\r\n\r\n<p>words',
    OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(PACKED) + PACKED,
    OK + b"Transfer-Encoding: chunked\r\nTrailer: X\r\n\r\n5;a=b\r\n<p>wo\r\n4\r\nrds!\r\n0\r\nX: y\r\n\r\n",
    b"HTTP/1.1 301 Moved\r\nLocation: /elsewhere?q=1\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 103 Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 503 Busy\r\nRetry-After: 9\r\nContent-Length: 2\r\n\r\nno",
    b"HTTP/1.0 200 OK\r\nLast-Modified: Tue, 14 Nov 2023 23:13:20 GMT\r\nContent-Type: text/plain\r\n\r\nto the end",
)
PIECES = st.binary(max_size=6) | st.sampled_from(
    (
        *(b"-1", b"chunked", b"gzip, br", b"\r\n", b"\n", b"\r", b"\0", b"\xff\xfe", b": ", b"\r\n ", b"0\r\n\r\n"),
        b"f" * 20,
    )
)
EDITS = st.lists(st.tuples(st.integers(0, 300), st.integers(0, 12), PIECES), min_size=1, max_size=4)


class Garbler:
    """A server that sends what it is told to, and closes."""

    def __init__(self) -> None:
        self.answer = b""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(self.answer)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


def garbled(answer: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    for at, length, piece in edits:
        at %= len(answer) + 1
        answer = answer[:at] + piece + answer[at + length :]
    return answer


async def outcome(fetcher: HttpFetcher, url: str) -> Fetched | str:
    try:
        return await fetcher.fetch(url, {}, MAX_BYTES)
    except FetchFailed as error:
        return error.reason


def test_garbled_answers_are_read_or_fail_with_a_reason(tmp_path: Path) -> None:
    config = replace(CrawlConfig(), allow_private=True, dns=False, total_timeout_s=1.0, read_timeout_s=0.5)
    garbler, runner = Garbler(), asyncio.Runner()
    with runner:
        server = runner.run(asyncio.start_server(garbler.serve, "127.0.0.1", 0))
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        opened = open_fetcher(config, "0", system_clock)
        fetcher = runner.run(opened.__aenter__())

        @settings(max_examples=150, deadline=None, derandomize=True)
        @given(st.sampled_from(ANSWERS), EDITS)
        def check(answer: bytes, edits: list[tuple[int, int, bytes]]) -> None:
            garbler.answer = garbled(answer, edits)
            got = runner.run(outcome(fetcher, url))
            if isinstance(got, str):
                assert got.partition(":")[0] in ("time", "protocol", "body", "connection", "coding"), got
                assert len(got) <= 200 and got.isprintable(), got
                return
            assert len(got.body) <= MAX_BYTES
            visit = judge(Visit(url, 1), got, 1e9, config, RevisitStatistics(config)).visit
            assert visit.state != VisitState.WAITING and visit.reason.isprintable()
            encode_visit(visit)
            garbler.answer = ANSWERS[0]
            sent = validators(replace(visit, state=VisitState.FETCHED), 1e9)
            assert isinstance(runner.run(fetcher.fetch(url, sent, MAX_BYTES)), Fetched), sent

        check()
        runner.run(opened.__aexit__(None, None, None))
        server.close()
