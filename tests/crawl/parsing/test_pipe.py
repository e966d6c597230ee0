"""The pipes of a parser process: frames whole and in order, however they are cut; nonsense ends it."""

import asyncio
from collections.abc import Callable
from random import Random

import msgspec
import pytest
import uvloop

from crawl import CrawlConfig, ParseTask
from crawl.content.page import LENGTH_BYTES, ParserReply
from crawl.parsing.pipe import ParserPipe, start_parser

CONFIG = CrawlConfig(parser_stall_s=1.0)


def framed(data: bytes) -> bytes:
    return len(data).to_bytes(LENGTH_BYTES, "big") + data


@pytest.mark.parametrize("seed", range(20))
def test_frames_come_out_however_they_are_cut(seed: int) -> None:
    rng = Random(seed)
    sent = [rng.randbytes(rng.choice((0, 1, 3, 40, 5000))) for _ in range(40)]
    stream, heard = framed(b"") + b"".join(map(framed, sent)), list[bytes]()
    pipe = ParserPipe(lambda frame: heard.append(bytes(frame)), lambda: None)
    while stream:
        cut = rng.choice((1, 2, 7, 100, 9000))
        pipe.pipe_data_received(1, stream[:cut])
        stream = stream[cut:]
    assert heard == sent and not pipe.has_ended


@pytest.mark.parametrize("nonsense", [b"\xff\xff\xff\xff", framed(b"no answer") + framed(b"x")])
def test_nonsense_ends_it_and_nothing_is_heard_after_that(nonsense: bytes) -> None:
    heard, ended = list[bytes](), list[bool]()

    def take(frame: memoryview) -> None:
        if bytes(frame) == b"no answer":
            raise ValueError
        heard.append(bytes(frame))

    pipe = ParserPipe(take, lambda: ended.append(True))
    pipe.pipe_data_received(1, framed(b"") + framed(b"one") + nonsense)
    pipe.pipe_data_received(1, framed(b"two"))
    assert heard == [b"one"] and ended and pipe.has_ended


async def say(task: ParseTask) -> list[ParserReply]:
    """Return a process's answers to three tasks. A fourth frame is no task and ends the process."""
    heard, ended = list[ParserReply](), asyncio.Event()

    def take(frame: memoryview) -> None:
        heard.append(msgspec.msgpack.decode(frame, type=ParserReply))

    async with asyncio.timeout(20), start_parser(CONFIG, take, ended.set) as pipe:
        pipe.send(framed(msgspec.msgpack.encode(task)) * 3 + framed(b"?"))
        await ended.wait()
    return heard


@pytest.mark.parametrize("factory", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_what_a_process_said_before_its_end_is_heard(factory: Callable[[], asyncio.AbstractEventLoop]) -> None:
    with asyncio.Runner(loop_factory=factory) as runner:
        heard = runner.run(say(ParseTask("http://a.test/", b"<title>said</title>", "text/html", "", 1, 10)))
    assert [answer.parsed and answer.parsed.title for answer in heard] == ["said"] * 3
