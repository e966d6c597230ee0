"""The pipes of a parser process: frames whole and in order, however they are cut; nonsense ends it."""

import asyncio
from random import Random

import msgspec
import pytest

from crawl import CrawlConfig, Task
from crawl.parserpipe import ParserPipe, started
from crawl.parserworker import LENGTH_BYTES, Answer

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


async def test_what_a_process_said_before_its_end_is_heard() -> None:
    heard, ended = list[bytes](), asyncio.Event()
    async with asyncio.timeout(20), started(CONFIG, lambda frame: heard.append(bytes(frame)), ended.set) as pipe:
        frame = framed(_encoded(Task("http://a.test/", b"<title>said</title>", "text/html", "", 1, 10)))
        pipe.send(frame * 3 + b"\0\0\0\1?")  # the last is no task, by which the process ends
        await ended.wait()
    assert [_title(each) for each in heard] == ["said"] * 3


def _encoded(task: Task) -> bytes:
    return msgspec.msgpack.encode(task)


def _title(frame: bytes) -> str:
    answer = msgspec.msgpack.decode(frame, type=Answer)
    return answer.parsed.title if answer.parsed is not None else ""
